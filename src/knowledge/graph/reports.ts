/** What a community is about, without a model: its most central entities, its strongest relations, and where they stand. */
import { createHash } from 'node:crypto';
import type { Community } from './communities.js';
import type { CommunityReport, ReportFinding } from './graph-answers.js';
import type { GraphSession } from './graph-session.js';
import { stepOf } from './search/local-search.js';

/** Entities and relations of a report. */
const MAX_ENTITIES = 5;
const MAX_FINDINGS = 8;
/** Chunks of a finding. */
const MAX_CHUNKS = 5;

/** Reports on a community of a session. */
export function reportOn(session: GraphSession, { id, level, members }: Community): CommunityReport {
  const network = session.entityNetwork;
  const { entities } = session.graph;
  const inside = new Set(members);
  const degree = (member: string): number => network.reduceEdges(member, (sum, _edge, { weight }) => sum + weight, 0);
  const central = [...members]
    .map((member) => ({ member, degree: degree(member) }))
    .sort((a, b) => b.degree - a.degree || (a.member < b.member ? -1 : 1));
  const names = central.slice(0, MAX_ENTITIES).flatMap(({ member }) => entities.get(member)?.name ?? []);
  const relations = central
    .slice(0, MAX_CENTRAL)
    .flatMap(({ member }) =>
      session.relationsOf(member).filter((one) => one.source === member && inside.has(one.target)),
    );
  const stated = relations
    .sort(
      (a, b) =>
        Number(b.isExplicit) - Number(a.isExplicit) ||
        b.weight - a.weight ||
        (a.source + a.target < b.source + b.target ? -1 : 1),
    )
    .slice(0, MAX_FINDINGS);
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
    fingerprint: fingerprintOf(
      members,
      stated.flatMap(({ descriptions }) => descriptions),
    ),
  };
}

/** Most central members whose relations are looked at. */
const MAX_CENTRAL = 50;

function fingerprintOf(members: readonly string[], descriptions: readonly string[]): string {
  return createHash('sha256')
    .update(JSON.stringify([members, descriptions]))
    .digest('hex')
    .slice(0, 24);
}
