/** Answers questions to one graph in memory. */
import { exportGraph } from '../given/export-graph.js';
import { writeGraph } from '../given/forms.js';
import type { CommunityReport, GraphAnswers, GraphAsk, ToldEntity } from '../graph-answers.js';
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
      case 'local':
        return {
          entities: session.names.named(ask.question).map(told),
          passages: session.local(ask.question, ask.limit),
        };
      case 'rank': {
        const entities = session.names.named(ask.question).map(told);
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
      case 'material':
        return session.reports.material(ask.limit);
      case 'show':
        return partOfGraph(session, ask);
      case 'export': {
        const graph = exportGraph(ask.layers === undefined ? session.graph : session.graphOf(ask.layers));
        return { text: writeGraph(ask.form, graph), nodes: graph.nodes.length, edges: graph.edges.length };
      }
      case 'find':
        return { entities: session.names.find(ask.name).map(told) };
      case 'merges': {
        const { merges, maybe } = session.graph;
        return { merges: merges.slice(0, ask.limit), maybe: maybe.slice(0, ask.limit) };
      }
    }
  };
  return answer() as GraphAnswers[A['kind']];
}

function told({ id, name, type, aliases, descriptions, mentionCount, documents }: GraphEntity): ToldEntity {
  const description = descriptions[0] ?? '';
  return { id, name, type, aliases, description, mentions: mentionCount, documents: documents.slice(0, MAX_DOCUMENTS) };
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
  return { entities: entities.slice(0, 2).map(told), paths };
}

/** The communities of a level, the largest first; of the one that has the most reports within the bound where none is named. */
function communitiesOf(session: GraphSession, level: number | undefined) {
  const { communities } = session.communities;
  const wanted = level ?? 0;
  return communities.filter((one) => one.level === wanted);
}

function answerGlobal(
  session: GraphSession,
  { question, level, limit }: Extract<GraphAsk, { kind: 'global' }>,
): GraphAnswers['global'] {
  const own = communitiesOf(session, level);
  const reports = own.slice(0, MAX_REPORTS).map((one) => session.reports.on(one));
  const asked = wordsVector(question);
  const rated = reports
    .map((report) => ({ report, rating: ratingOf(asked, report) }))
    .filter(({ rating }) => rating >= LEAST_RATING)
    .sort((a, b) => b.rating - a.rating || (a.report.community < b.report.community ? -1 : 1));
  const passages = new Map<string, FoundPassageOfGraph>();
  for (const { report, rating } of rated) {
    for (const { chunks } of report.findings) {
      const why: GraphReason = { entities: [], steps: [], community: report.title };
      for (const chunkId of chunks.slice(0, 1))
        if (!passages.has(chunkId)) passages.set(chunkId, { chunkId, score: rating / 100, why });
    }
  }
  const points = rated
    .slice(0, limit)
    .map(({ report, rating }) => ({ text: report.summary, rating, reports: [report.title] }));
  return {
    entities: session.names.named(question).map(told),
    passages: [...passages.values()].slice(0, limit),
    ...{ points, read: reports.length, of: own.length },
  };
}

/** 0 to 100: how much a report has to do with the question, and a little for how much hangs on its community. */
function ratingOf(question: Float64Array, { title, summary, rating }: CommunityReport): number {
  const vector = wordsVector(`${title} ${summary}`);
  let product = 0;
  for (let at = 0; at < vector.length; at += 1) product += (vector[at] as number) * (question[at] as number);
  return Math.round(Math.min(100, Math.max(0, 160 * product + 2 * rating)));
}
