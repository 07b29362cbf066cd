/** Stage 6: what the datasets of a chat hold, as two channels of one search. */
import { defer, forkJoin, map, type Observable, of, ReplaySubject, share, switchMap } from 'rxjs';
import type { JsonObject } from '../../json.js';
import { passageIdOf } from '../../knowledge/base/give-parents.js';
import type { KnowledgeHit, KnowledgeHits } from '../../knowledge/base/retrieval.js';
import type { GraphHit } from '../../knowledge/graph/graph-search.js';
import type { KnowledgeSearch } from '../../knowledge/knowledge-search.js';
import type { FoundPassage } from '../../knowledge/search/after/post-processor.js';
import { defaultProcessors, processHits } from '../../knowledge/search/after/process-hits.js';
import { mostFitting, wordsOf, wordsOnPages } from '../../knowledge/words/words-on-pages.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import { pagesOf } from '../../records/knowledge.js';
import type { EvidenceChannel, FoundEvidence } from '../stages/gather-evidence.js';
import type { ChatSettings } from './chat-settings.js';

/** What a chat searches, and how. */
export interface KnowledgeSource {
  readonly knowledge: KnowledgeSearch;
  readonly settings: ChatSettings;
}

/** A question to the datasets, and what its hits weigh beside those of others. */
export interface WeightedQuestion {
  readonly text: string;
  readonly weight: number;
}

/** Hits of one question that are looked at. */
const PAGE_SIZE = 30;
/** What hits of the question as it was asked weigh when it was rewritten into another one. */
const ASKED_WEIGHT = 0.8;

/** Milliseconds for the first search of a process, which loads dictionaries and indexes: on a slow machine more than others have. */
export const COLD_LIMIT_MS = 15_000;

/** Asks the datasets one question. */
export function searchOnce({ knowledge, settings }: KnowledgeSource, question: string): Observable<KnowledgeHits> {
  const { datasetIds, topK, similarityThreshold, vectorShare, rerankId, crossLanguages, filter } = settings;
  const how = { topK, similarityThreshold, vectorShare, rerankModel: rerankId, crossLanguages, filter };
  return fromAbortable((signal) => knowledge.search({ question, datasetIds, ...how, pageSize: PAGE_SIZE }, signal));
}

/** The questions of a turn: its rewrites, and the question as it was asked. Datasets know by themselves what terms are called otherwise. */
export function questionsOf(message: string, rewrites: readonly string[]): readonly WeightedQuestion[] {
  const known = new Set(rewrites.map(sameText));
  return [
    ...rewrites.map((text) => ({ text, weight: 1 })),
    ...(known.has(sameText(message)) ? [] : [{ text: message, weight: ASKED_WEIGHT }]),
  ];
}

/** What one search of several questions is made of. */
export interface KnowledgeChannelsOptions extends KnowledgeSource {
  readonly questions: readonly WeightedQuestion[];
  /** The question as it was asked, and the search for it that has begun. */
  readonly asked: string;
  readonly early$: Observable<KnowledgeHits | undefined>;
  /** Told of each step behind the search: `name, in, out, ms`. */
  readonly report: (step: JsonObject) => void;
}

/**
 * The channels `knowledge` and `links` over one search: what is found by its words, and what is only found because a good hit links to it.
 *
 * ```text
 * early     --a|
 * rewrite   ---b|
 * knowledge ---(ab)|
 * links     ---(c)|
 * ```
 */
export function knowledgeChannels(options: KnowledgeChannelsOptions): readonly EvidenceChannel[] {
  const { questions, asked, early$ } = options;
  const searches = questions.map(({ text, weight }) => {
    const hits$ =
      sameText(text) === sameText(asked)
        ? early$.pipe(switchMap((early) => (early === undefined ? searchOnce(options, text) : of(early))))
        : searchOnce(options, text);
    return hits$.pipe(map(({ hits }) => ({ hits, weight })));
  });
  const words = wordsOf([asked, ...questions.map(({ text }) => text)].join('\n'));
  const best$ = defer(() => (searches.length === 0 ? of([]) : forkJoin(searches))).pipe(
    map(inOneOrder),
    switchMap((hits) => processed(hits, options)),
    share({ connector: () => new ReplaySubject(1), resetOnComplete: false, resetOnError: false }),
  );
  const channel = (name: string, accepts: (hit: KnowledgeHit) => boolean): EvidenceChannel => ({
    name,
    ...(options.knowledge.isCold === true && { limitMs: COLD_LIMIT_MS }),
    find$: best$.pipe(map((found) => found.filter(({ hit }) => accepts(hit)).map((one) => evidenceOf(one, words)))),
  });
  return [channel('knowledge', (hit) => !isLinked(hit)), channel('links', isLinked)];
}

/** A hit behind all steps, with its text as they left it. */
interface ProcessedHit {
  readonly hit: KnowledgeHit;
  readonly passage: FoundPassage;
}

/** Of several lists one, the best first, in which each passage stands once. */
function inOneOrder(
  lists: readonly { readonly hits: readonly KnowledgeHit[]; readonly weight: number }[],
): KnowledgeHit[] {
  const best = new Map<string, KnowledgeHit>();
  for (const { hits, weight } of lists) {
    for (const hit of hits) {
      const similarity = hit.similarity * weight;
      const id = passageIdOf(hit);
      const known = best.get(id);
      if (known === undefined || known.similarity < similarity) best.set(id, { ...hit, similarity });
    }
  }
  return [...best.values()].sort((a, b) => b.similarity - a.similarity);
}

/** Without doubles, few of each document, with the text around them, and as many as the answer is made from. */
function processed(
  hits: readonly KnowledgeHit[],
  { knowledge, settings, report }: KnowledgeChannelsOptions,
): Observable<readonly ProcessedHit[]> {
  const byId = new Map(hits.map((hit) => [hit.chunk.id, hit]));
  const load = knowledge.neighbours;
  const processors = defaultProcessors({
    most: settings.topN,
    ...(load && {
      window: { load: async (document, first, last) => (await load(document, first, last)).map(asNeighbour) },
    }),
  });
  return of(hits.map(passageOf)).pipe(
    processHits(processors, ({ ms, ...step }) => report({ ...step, ms: Math.round(ms) })),
    map((passages) =>
      passages.flatMap((passage): ProcessedHit[] => {
        const hit = byId.get(passage.id);
        return hit === undefined ? [] : [{ hit, passage }];
      }),
    ),
  );
}

/** A passage that a graph led to, as evidence. */
export function graphEvidence({ chunk, document, score, why }: GraphHit, question: string): FoundEvidence {
  const hit = { chunk, document, similarity: score, termSimilarity: 0, vectorSimilarity: 0, scores: { graph: score } };
  const evidence = evidenceOf({ hit, passage: passageOf(hit) }, wordsOf(question));
  return { ...evidence, type: 'graph', why: why as unknown as JsonObject };
}

function passageOf({ chunk, similarity, matches }: KnowledgeHit): FoundPassage {
  const { index, ...passage } = asNeighbour(chunk);
  // A passage that was found by a part of it holds what stands around that already.
  return { ...passage, similarity, ...(index !== undefined && matches === undefined && { index }) };
}

function asNeighbour(chunk: KnowledgeHit['chunk']): FoundPassage {
  const { id, documentId, text, index, start, end, pageStarts } = chunk;
  const pages = pagesOf(chunk);
  return {
    ...{ id, documentId, text, similarity: 0, index },
    ...(start !== null && end !== null && { start, end, ...(pageStarts !== undefined && { pageStarts }) }),
    ...(pages.length > 0 && { pages }),
  };
}

/** Whether nothing of the question is in it, and it is there for a link alone. */
function isLinked({ scores }: KnowledgeHit): boolean {
  return (scores.link ?? 0) > 0 && (scores.bm25 ?? 0) === 0 && (scores.vector ?? 0) === 0;
}

/** Of several pages the one that holds most words of the question is named. */
function evidenceOf({ hit, passage }: ProcessedHit, words: ReadonlySet<string>): FoundEvidence {
  const { chunk, document, similarity, scores, matches } = hit;
  const { start, end, pages = [], pageStarts = [], ids = matches?.map(({ id }) => id) ?? [chunk.id] } = passage;
  const starts = start === undefined ? [] : pageStarts.map(([page, at]) => [page, at - start] as const);
  const { url } = document.metadata;
  return {
    id: chunk.id,
    type: isLinked(hit) ? 'graph' : 'kb',
    source: document.name,
    document_id: document.id,
    dataset_id: chunk.datasetId,
    chunk_ids: ids,
    text: passage.text,
    ...(start !== undefined && end !== undefined && { start, end }),
    ...(pages[0] !== undefined && { page: mostFitting(words, wordsOnPages(passage.text, starts)) ?? pages[0], pages }),
    ...(starts.length > 1 && { page_starts: starts }),
    ...(matches !== undefined && { matches: matches.map((part) => ({ start: part.start, end: part.end })) }),
    score: rounded(similarity),
    scores: Object.fromEntries(Object.entries(scores).map(([name, score]) => [name, rounded(score)])),
    ...(typeof url === 'string' && url !== '' && { url }),
  };
}

function rounded(score: number): number {
  return Math.round(score * 10_000) / 10_000;
}

function sameText(text: string): string {
  return text.trim().toLowerCase();
}
