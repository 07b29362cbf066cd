/** The ways to find documents of a collection that can be measured. */
import { linksOf } from '../graph/contribute.js';
import type { ChunkContribution } from '../graph/facts.js';
import { GraphSession, RULES_VERSION } from '../graph/graph-session.js';
import { createRules } from '../graph/rules/extract-by-rules.js';
import type { SearchIndex } from '../search/search-index.js';
import type { SearchSettings } from '../search/search-settings.js';
import { loadChinese } from '../words/chinese.js';
import { hasHan } from '../words/split-words.js';
import type { JudgedDocument } from './read-collection.js';

/** Names of the ways: the search as it is, links followed further, around the entities of the graph, and a walk over it. */
export const PIPELINES = ['default', 'link', 'local', 'rank'] as const;

/** One of {@link PIPELINES}. */
export type PipelineName = (typeof PIPELINES)[number];

/** One question to a pipeline. */
export interface PipelineQuestion {
  readonly question: string;
  readonly limit: number;
  readonly accepts: (document: { readonly id: string }) => boolean;
}

/** Ids of documents, best first, with similarities that never rise. */
export type Pipeline = (
  question: PipelineQuestion,
  signal?: AbortSignal,
) => Promise<readonly { readonly id: string; readonly similarity: number }[]>;

/** What a pipeline works on. */
export interface PipelineParts {
  readonly index: SearchIndex;
  readonly settings: SearchSettings;
  readonly documents: readonly JudgedDocument[];
}

/** Links where several documents answer a question: what is linked counts as much as what is found by words. */
const LINKS_FIRST = { weight: 1, named: 0.5, hops: 2 } as const;

/** Documents by words that walks and links begin with. */
const SEARCHED = 100;

/** Makes a pipeline; those of the graph read all documents by rules first. No model is used. */
export async function openPipeline(name: PipelineName, parts: PipelineParts): Promise<Pipeline> {
  const { index, settings } = parts;
  const search: Pipeline = ({ question, limit, accepts }, signal) =>
    index.search({ question, limit, settings, accepts }, signal);
  if (name === 'default') return search;
  if (name === 'link') {
    const followed = { ...settings, linkGraph: true, links: LINKS_FIRST };
    return ({ question, limit, accepts }, signal) =>
      index.search({ question, limit, settings: followed, accepts }, signal);
  }
  const session = await graphOf(parts.documents);
  const followed = { ...settings, linkGraph: true, links: LINKS_FIRST };
  return async ({ question, limit, accepts }, signal) => {
    const hits = await index.search({ question, limit, settings: followed, accepts }, signal);
    const byWords = hits.slice(0, SEARCHED).map(({ id, similarity }) => ({ chunkId: id, score: similarity }));
    const found = name === 'rank' ? session.rank(question, byWords, limit) : session.local(question, limit);
    const first = found.map(({ chunkId, score }) => ({ id: chunkId, similarity: score })).filter(accepts);
    const known = new Set(first.map(({ id }) => id));
    const least = first.at(-1)?.similarity ?? 1;
    const rest = hits
      .filter(({ id }) => !known.has(id))
      .map(({ id, similarity }) => ({ id, similarity: similarity * least }));
    return [...first, ...rest].slice(0, limit);
  };
}

/** The graph of the documents, each as one chunk. */
export async function graphOf(documents: readonly JudgedDocument[]): Promise<GraphSession> {
  const isChinese = documents.some(({ title, text }) => hasHan(title) || hasHan(text));
  const simplify = isChinese
    ? (await loadChinese(() => Promise.reject(new Error('letters are enough')))).simplify
    : undefined;
  const rules = createRules();
  const session = new GraphSession(simplify);
  const put = documents.flatMap(({ id, title, text }) => {
    const place = { chunkId: id, documentId: id, version: RULES_VERSION };
    const links: ChunkContribution = { ...place, layer: 'links', ...linksOf({ text, title, isFirst: true }, rules) };
    return [
      { ...place, ...links },
      { ...place, layer: 'rules' as const, ...rules(text) },
    ];
  });
  session.change({ put });
  return session;
}
