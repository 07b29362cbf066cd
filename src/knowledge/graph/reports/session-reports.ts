/** The reports of a session: those that a model wrote, where they still say something of what is there, else those of the rules. */
import { createHash } from 'node:crypto';
import type { Community } from '../communities.js';
import type { CommunityReport, ReportFinding, ReportMaterial } from '../graph-answers.js';
import type { StaleUses } from '../stale-uses.js';
import { centralMembers, reportByRules, statedRelations } from './report-by-rules.js';
import type { ReportedGraph } from './reported-graph.js';
import type { WrittenReport } from './written-report.js';

/** What a model reads of a community at most. */
const MAX_ENTITIES = 20;
const MAX_RELATIONS = 20;
const MAX_PASSAGES = 12;
const MAX_DESCRIPTION = 300;

/** Reports on the communities of a session as it stands. */
export class SessionReports {
  readonly #session: ReportedGraph;
  readonly #written: readonly WrittenReport[];
  readonly #uses: StaleUses;
  readonly #chunksOf = new Map<string, ReadonlySet<string>>();
  readonly #fingerprints = new Map<string, string>();
  #matched: ReadonlyMap<string, WrittenReport> | undefined;

  constructor(session: ReportedGraph, written: readonly WrittenReport[], uses: StaleUses) {
    this.#session = session;
    this.#written = written;
    this.#uses = uses;
  }

  /** The report on a community. Findings whose passages are all gone are left out; a report that has none left gives way to that of the rules. */
  on(community: Community): CommunityReport {
    const fingerprint = this.#fingerprintOf(community);
    const ruled = reportByRules(this.#session, community, fingerprint);
    const written = this.#matches().get(community.id);
    if (written?.report === undefined) return ruled;
    const findings = written.report.findings.flatMap(({ summary, chunks }): ReportFinding[] => {
      const there = chunks.filter((id) => this.#session.hasChunk(id));
      return there.length === 0 ? [] : [{ summary, chunks: there }];
    });
    if (findings.length === 0) return ruled;
    return {
      ...{ ...ruled, ...written.report, findings, by: 'model' },
      isStale: written.fingerprint !== fingerprint,
    };
  }

  /** Notes that a search was given the stale report on a community. */
  serve({ community, isStale = false }: Pick<CommunityReport, 'community' | 'isStale'>): void {
    const written = isStale ? this.#matches().get(community) : undefined;
    if (written !== undefined) this.#uses.note(written);
  }

  /** Reports of a model that `on` gives as stale. */
  get staleCount(): number {
    // Communities take long, and are not needed where no model wrote anything.
    if (this.#written.every(({ report }) => report === undefined)) return 0;
    return this.#session.communities.communities.filter((one) => this.on(one).isStale === true).length;
  }

  /** What a model is to read to write the reports that are missing or stale: the stale ones that searches use most, then the largest communities first. */
  material(limit: number): {
    readonly material: readonly ReportMaterial[];
    readonly of: number;
    readonly lost: string[];
  } {
    const matches = this.#matches();
    const { communities } = this.#session.communities;
    const usesOf = ({ id }: Community): number => this.#uses.of(matches.get(id));
    const wanted = communities
      .filter((one) => matches.get(one.id)?.fingerprint !== this.#fingerprintOf(one) && this.#chunks(one).size > 0)
      .sort(
        (a, b) =>
          usesOf(b) - usesOf(a) || b.members.length - a.members.length || a.level - b.level || (a.id < b.id ? -1 : 1),
      );
    const kept = new Set([...matches.values()].map(({ key }) => key));
    return {
      material: wanted.slice(0, limit).map((one) => this.#materialOf(one)),
      of: wanted.length,
      lost: this.#written.flatMap(({ key }) => (kept.has(key) ? [] : [key])),
    };
  }

  #materialOf(community: Community): ReportMaterial {
    const { entities } = this.#session.graph;
    const { id, level, members } = community;
    const central = centralMembers(this.#session, members);
    const shown = central.slice(0, MAX_ENTITIES).flatMap(({ member }) => entities.get(member) ?? []);
    const relations = statedRelations(this.#session, members, central).slice(0, MAX_RELATIONS);
    const nameOf = (one: string): string => entities.get(one)?.name ?? one;
    const chunks = new Set(relations.flatMap((one) => one.chunks.slice(0, 2)));
    for (const entity of shown)
      for (const chunk of [...entity.titleOf, ...entity.chunks.keys()].slice(0, 2)) chunks.add(chunk);
    return {
      ...{ community: id, level, fingerprint: this.#fingerprintOf(community) },
      entities: shown.map(({ name, type, descriptions }) => ({ name, type, description: shortOf(descriptions) })),
      relations: relations.map(({ source, target, relation, descriptions }) => ({
        ...{ source: nameOf(source), target: nameOf(target), relation, description: shortOf(descriptions) },
      })),
      chunks: [...chunks].slice(0, MAX_PASSAGES),
    };
  }

  /** Passages of the members of a community. */
  #chunks({ id, members }: Community): ReadonlySet<string> {
    const known = this.#chunksOf.get(id);
    if (known !== undefined) return known;
    const { entities } = this.#session.graph;
    const chunks = new Set(members.flatMap((member) => [...(entities.get(member)?.chunks.keys() ?? [])]));
    this.#chunksOf.set(id, chunks);
    return chunks;
  }

  #fingerprintOf(community: Community): string {
    const { id, members } = community;
    const known = this.#fingerprints.get(id);
    if (known !== undefined) return known;
    const inside = new Set(members);
    const hash = createHash('sha256').update(JSON.stringify(members));
    for (const chunk of [...this.#chunks(community)].sort())
      hash.update(`\0${chunk} ${this.#session.textHashOf(chunk)}`);
    for (const member of members) {
      for (const { source, target, relation, descriptions } of this.#session.relationsOf(member))
        if (source === member && inside.has(target))
          hash.update(JSON.stringify([source, target, relation, descriptions]));
    }
    const fingerprint = hash.digest('hex').slice(0, 24);
    this.#fingerprints.set(id, fingerprint);
    return fingerprint;
  }

  /** The written report of each community: that of its name, else the one of its level that was made of its passages most. */
  #matches(): ReadonlyMap<string, WrittenReport> {
    if (this.#matched !== undefined) return this.#matched;
    const { communities } = this.#session.communities;
    const byId = new Map(communities.map((one) => [one.id, one]));
    const matched = new Map<string, WrittenReport>();
    const others: WrittenReport[] = [];
    for (const written of this.#written) {
      const community = byId.get(written.community);
      if (community !== undefined && this.#shared(community, written) > 0) matched.set(community.id, written);
      else others.push(written);
    }
    for (const written of others) {
      let best: { readonly id: string; readonly shared: number } | undefined;
      for (const community of communities) {
        if (community.level !== written.level || matched.has(community.id)) continue;
        const shared = this.#shared(community, written);
        if (2 * shared >= written.sources.length && shared > (best?.shared ?? 0)) best = { id: community.id, shared };
      }
      if (best !== undefined) matched.set(best.id, written);
    }
    this.#matched = matched;
    return matched;
  }

  #shared(community: Community, { sources }: WrittenReport): number {
    const chunks = this.#chunks(community);
    return sources.reduce((count, id) => count + (chunks.has(id) ? 1 : 0), 0);
  }
}

function shortOf(descriptions: readonly string[]): string {
  return (descriptions[0] ?? '').slice(0, MAX_DESCRIPTION);
}
