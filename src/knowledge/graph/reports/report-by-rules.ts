/** What a community is about, without a model: its most central entities, its strongest relations, and where they stand. */
import type { Community } from '../communities.js';
import type { CommunityReport, ReportFinding } from '../graph-answers.js';
import type { GraphRelation } from '../graph-records.js';
import { stepOf } from '../search/local-search.js';
import type { ReportedGraph } from './reported-graph.js';

/** Entities and relations of a report. */
const MAX_ENTITIES = 5;
const MAX_FINDINGS = 8;
/** Chunks of a finding. */
const MAX_CHUNKS = 5;

/** Reports on a community of a session. @param fingerprint what the community is made of */
export function reportByRules(
  session: ReportedGraph,
  { id, level, members }: Community,
  fingerprint: string,
): CommunityReport {
  const { entities } = session.graph;
  const central = centralMembers(session, members);
  const names = central.slice(0, MAX_ENTITIES).flatMap(({ member }) => entities.get(member)?.name ?? []);
  const stated = statedRelations(session, members, central).slice(0, MAX_FINDINGS);
  const findings = stated.map((relation): ReportFinding => {
    const { from, relation: verb, to } = stepOf(relation, session.graph);
    const summary = relation.descriptions[0] ?? `${from} ${verb.replaceAll('_', ' ')} ${to}`;
    return { summary, chunks: relation.chunks.slice(0, MAX_CHUNKS) };
  });
  const told =
    names.length < members.length ? `${names.join(', ')} and ${members.length - names.length} more` : names.join(', ');
  const weight = central.reduce((sum, one) => sum + one.degree, 0);
  return {
    ...{ community: id, level, size: members.length, title: names.slice(0, 3).join(', ') },
    summary: [`${told}.`, ...findings.slice(0, 3).map(({ summary }) => summary)].join(' '),
    rating: Math.min(10, Math.round(2 * Math.log2(1 + weight)) / 2),
    findings,
    fingerprint,
    by: 'rules',
  };
}

/** Members of a community with how much they have to do with others, the most central first. */
export function centralMembers({ entityNetwork: network }: ReportedGraph, members: readonly string[]) {
  const degree = (member: string): number => network.reduceEdges(member, (sum, _edge, { weight }) => sum + weight, 0);
  return [...members]
    .map((member) => ({ member, degree: degree(member) }))
    .sort((a, b) => b.degree - a.degree || (a.member < b.member ? -1 : 1));
}

/** Relations between the most central members, the strongest first. */
export function statedRelations(
  session: ReportedGraph,
  members: readonly string[],
  central: readonly { readonly member: string }[],
): GraphRelation[] {
  const inside = new Set(members);
  return central
    .slice(0, MAX_CENTRAL)
    .flatMap(({ member }) =>
      session.relationsOf(member).filter((one) => one.source === member && inside.has(one.target)),
    )
    .sort(
      (a, b) =>
        Number(b.isExplicit) - Number(a.isExplicit) ||
        b.weight - a.weight ||
        (a.source + a.target < b.source + b.target ? -1 : 1),
    );
}

/** Most central members whose relations are looked at. */
const MAX_CENTRAL = 50;
