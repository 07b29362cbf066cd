/** Answers questions to one graph in memory. */
import { estimateTokens } from '../../../models/estimate-tokens.js';
import type { Community } from '../communities.js';
import { exportGraph } from '../given/export-graph.js';
import { writeGraph } from '../given/forms.js';
import type { CommunityReport, GraphAnswers, GraphAsk, RatedReport, SaidOfName, ToldEntity } from '../graph-answers.js';
import type { GraphEntity } from '../graph-records.js';
import type { GraphReason } from '../graph-search.js';
import type { GraphSession } from '../graph-session.js';
import { wordsVector } from '../names/sentence-vector.js';
import type { FoundPassageOfGraph } from '../search/found-passages.js';
import { partOfGraph } from './graph-part.js';

/** Documents that an entity names. */
const MAX_DOCUMENTS = 100;
/** Reports that are read at most, and below which rating points of them are dropped. */
const MAX_REPORTS = 500;
const LEAST_RATING = 20;

/** Answers a question. */
export function answerAsk<A extends GraphAsk>(session: GraphSession, ask: A): GraphAnswers[A['kind']] {
  const answer = (): GraphAnswers[GraphAsk['kind']] => {
    switch (ask.kind) {
      case 'counts': {
        const { entities, relations } = session.graph;
        return {
          entities: entities.size,
          relations: relations.length,
          communities: session.communities.communities.length,
        };
      }
      case 'sizes': {
        const { entities, relations } = session.graph;
        const { chunkCount: chunks, reports } = session;
        return { entities: entities.size, relations: relations.length, chunks, staleReports: reports.staleCount };
      }
      case 'local':
        return {
          entities: session.names.named(ask.question).map(told(session)),
          passages: session.local(ask.question, ask.limit),
        };
      case 'rank': {
        const entities = session.names.named(ask.question).map(told(session));
        return { entities, passages: session.rank(ask.question, ask.found, ask.limit) };
      }
      case 'path':
        return answerPath(session, ask.question, ask.between);
      case 'global':
        return answerGlobal(session, ask);
      case 'reports': {
        const own = communitiesOf(session, ask.level);
        return { reports: own.slice(0, ask.limit).map((one) => session.reports.on(one)), of: own.length };
      }
      case 'rated':
        return ratedReports(session, ask);
      case 'material':
        return session.reports.material(ask.limit);
      case 'show':
        return partOfGraph(session, ask);
      case 'export': {
        const graph = exportGraph(ask.layers === undefined ? session.graph : session.graphOf(ask.layers));
        return { text: writeGraph(ask.form, graph), nodes: graph.nodes.length, edges: graph.edges.length };
      }
      case 'find':
        return { entities: session.names.find(ask.name).map(told(session)) };
      case 'merges': {
        const { merges, maybe } = session.graph;
        return { merges: merges.slice(0, ask.limit), maybe: maybe.slice(0, ask.limit) };
      }
      case 'undescribed':
        return session.descriptions.material(ask.limit);
      case 'said':
        return { said: ask.names.map((name) => saidOf(session, name)) };
    }
  };
  return answer() as GraphAnswers[A['kind']];
}

function told(session: GraphSession): (entity: GraphEntity) => ToldEntity {
  return ({ id, name, type, aliases, descriptions, mentionCount, documents }) => {
    const written = session.descriptions.serve(id);
    return {
      ...{ id, name, type, aliases, description: written?.text ?? descriptions[0] ?? '' },
      ...(written?.isStale === true && { isStale: true }),
      ...{ mentions: mentionCount, documents: documents.slice(0, MAX_DOCUMENTS) },
    };
  };
}

function saidOf({ graph: { entities, idOf } }: GraphSession, name: string): SaidOfName | null {
  const entity = entities.get(idOf.get(name) ?? '');
  if (entity === undefined) return null;
  const { type, descriptions, isGiven } = entity;
  return { name, type, descriptions, isGiven };
}

function answerPath(
  session: GraphSession,
  question: string,
  between: readonly [string, string] | undefined,
): GraphAnswers['path'] {
  const entities =
    between === undefined
      ? session.names.named(question)
      : between.flatMap((name) => session.names.resolve(name, question) ?? []);
  const [from, to] = entities;
  const paths = from === undefined || to === undefined ? [] : session.paths(from, to);
  return { entities: entities.slice(0, 2).map(told(session)), paths };
}

/** The communities of a level, the largest first. @default the coarsest level */
function communitiesOf(session: GraphSession, level = 0): Community[] {
  return session.communities.communities.filter((one) => one.level === level);
}

function answerGlobal(
  session: GraphSession,
  { question, level, limit }: Extract<GraphAsk, { kind: 'global' }>,
): GraphAnswers['global'] {
  const own = communitiesOf(session, level);
  const reports = own.slice(0, MAX_REPORTS).map((one) => session.reports.on(one));
  const rated = rate(question, reports).filter(({ relevance }) => relevance >= LEAST_RATING);
  const passages = new Map<string, FoundPassageOfGraph>();
  for (const { title, findings, relevance } of rated) {
    for (const { chunks } of findings) {
      const why: GraphReason = { entities: [], steps: [], community: title };
      for (const chunkId of chunks.slice(0, 1))
        if (!passages.has(chunkId)) passages.set(chunkId, { chunkId, score: relevance / 100, why });
    }
  }
  const used = rated.slice(0, limit);
  for (const report of used) session.reports.serve(report);
  return {
    entities: session.names.named(question).map(told(session)),
    passages: [...passages.values()].slice(0, limit),
    points: used.map(({ title, summary, relevance }) => ({ text: summary, rating: relevance, reports: [title] })),
    ...{ read: reports.length, of: own.length, isStale: used.some(({ isStale = false }) => isStale) },
  };
}

/** The reports of a level, or of the finest one that is within a bound; communities that are not divided are part of finer levels, too. */
function ratedReports(
  session: GraphSession,
  { question, level, maxTokens }: Extract<GraphAsk, { kind: 'rated' }>,
): GraphAnswers['rated'] {
  const { communities } = session.communities;
  const divided = new Set(communities.map(({ parent }) => parent));
  const cut = (at: number): readonly Community[] =>
    communities.filter((one) => one.level === at || (one.level < at && !divided.has(one.id)));
  const entities = session.names.named(question).map(told(session));
  const reportsOn = (own: readonly Community[]) => own.slice(0, MAX_REPORTS).map((one) => session.reports.on(one));
  let at = level ?? communities.reduce((most, one) => Math.max(most, one.level), 0);
  let own = level === undefined ? cut(at) : communitiesOf(session, level);
  let reports = reportsOn(own);
  while (level === undefined && at > 0 && tokensOf(reports) > maxTokens) {
    at -= 1;
    own = cut(at);
    reports = reportsOn(own);
  }
  const rated = rate(question, reports);
  // A model reads from the first on, for as long as its budget lasts.
  for (const report of rated) if (report.relevance >= LEAST_RATING) session.reports.serve(report);
  return { entities, reports: rated, of: own.length };
}

function tokensOf(reports: readonly CommunityReport[]): number {
  return reports.reduce(
    (sum, { title, summary, findings }) =>
      sum +
      estimateTokens(`${title} ${summary}`) +
      findings.reduce((all, finding) => all + estimateTokens(finding.summary), 0),
    0,
  );
}

/** Reports by how much they have to do with a question. */
function rate(question: string, reports: readonly CommunityReport[]): RatedReport[] {
  const asked = wordsVector(question);
  return reports
    .map((report) => ({ ...report, relevance: ratingOf(asked, report) }))
    .sort((a, b) => b.relevance - a.relevance || (a.community < b.community ? -1 : 1));
}

/** 0 to 100: how much a report has to do with the question, and a little for how much hangs on its community. */
function ratingOf(question: Float64Array, { title, summary, rating }: CommunityReport): number {
  const vector = wordsVector(`${title} ${summary}`);
  let product = 0;
  for (let at = 0; at < vector.length; at += 1) product += (vector[at] as number) * (question[at] as number);
  return Math.round(Math.min(100, Math.max(0, 160 * product + 2 * rating)));
}
