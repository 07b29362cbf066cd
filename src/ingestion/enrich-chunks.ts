import { catchError, from, map, mergeMap, type Observable, of, toArray } from 'rxjs';
import { EngineError } from '../errors.js';
import type { JsonObject } from '../json.js';
import { firstValue } from '../operators/from-abortable.js';
import type { ChunkChange, ChunkRecord } from '../records/knowledge.js';
import { askAboutChunk, type FoundOfChunk, isWanted, type WantedOfChunks } from './ask-about-chunk.js';
import { knownTagsOf } from './known-tags.js';
import type { IngestionWork, StepPlace } from './work.js';

/** Chunks that are looked at together, and of which how far a step is, is stored. */
const BATCH = 16;
/** Calls of a model at a time. */
const AT_ONCE = 4;

/** As many as RAGFlow takes. */
export const MAX_KEYWORDS = 32;
export const MAX_QUESTIONS = 10;
export const MAX_TAGS = 10;

/** How a step ended: the chunks that were changed, and what kept the others from it; empty when nothing did. */
export interface Enriched extends JsonObject {
  readonly chunks: number;
  readonly problem: string;
}

/** What becomes of a chunk; undefined when it stays as it is. */
export type ChunkWork = (chunk: ChunkRecord) => Observable<ChunkChange | undefined>;

/**
 * Gives chunks keywords, questions and tags where the settings of the document ask for them (`auto_keywords`, `auto_questions`, `tag_kb_ids`
 * with `topn_tags`); what chunks have already stays. A model that is missing, or that cannot be reached, keeps no document from being found.
 */
export async function enrichChunks(work: IngestionWork, place: StepPlace, signal: AbortSignal): Promise<Enriched> {
  const { tenant, document, enrich, chat } = work.options;
  const {
    auto_keywords: keywords,
    auto_questions: questions,
    tag_kb_ids: tagSets,
    topn_tags: tags,
  } = document.parserConfig;
  const counts = { keywords: countOf(keywords, MAX_KEYWORDS), questions: countOf(questions, MAX_QUESTIONS) };
  if (enrich !== undefined && counts.keywords + counts.questions > 0) {
    const asked = (chunk: ChunkRecord) => from(enrich([chunk], { tenant, ...counts }, signal));
    const added = ({ keywords: words, questions: asks }: Partial<FoundOfChunk>) => ({
      keywords: (words ?? []).slice(0, counts.keywords),
      questions: (asks ?? []).slice(0, counts.questions),
    });
    return changeChunks(work, place, signal, (chunk) =>
      isBare(chunk) ? asked(chunk).pipe(map(([one]) => changeOf(chunk, added(one ?? {})))) : of(undefined),
    );
  }
  const knownTags = await knownTagsOf(work, tagSets);
  const wanted = { ...counts, knownTags, tags: knownTags.length === 0 ? 0 : countOf(tags ?? 3, MAX_TAGS) };
  if (!isWanted(wanted)) return { chunks: 0, problem: '' };
  const model = chat?.(tenant, '');
  if (model === undefined) return { chunks: 0, problem: 'not enriched: no chat model is configured' };
  return changeChunks(work, place, signal, (chunk) => {
    const lacking = lackingOf(chunk, wanted);
    if (!isWanted(lacking)) return of(undefined);
    return askAboutChunk(model, chunk, lacking).pipe(map((found) => changeOf(chunk, found)));
  });
}

/**
 * Changes the chunks of a document one after the other, some at a time, and stores how far it is: a process that goes on begins behind the last
 * batch. The first call of a model that fails ends the step, with the reason.
 */
export async function changeChunks(
  work: IngestionWork,
  place: StepPlace,
  signal: AbortSignal,
  change: ChunkWork,
): Promise<Enriched> {
  const { parts, tenant, document } = work.options;
  const step = `${place.name}/at`;
  const before = work.finished<{ index: number; id: string; chunks: number }>(step);
  let last: { readonly index: number; readonly id: string } | undefined = before;
  let enriched = before?.chunks ?? 0;
  for (;;) {
    signal.throwIfAborted();
    const chunks = await parts.store.chunksAfter(tenant, document.id, last, BATCH);
    const end = chunks.at(-1);
    if (end === undefined) return { chunks: enriched, problem: '' };
    // Those of a former attempt go when the document is indexed.
    const made = await changesOf(chunks, change, signal);
    for (const { chunk, changed } of made.changes) {
      const now = parts.now();
      await parts.store.updateChunk(tenant, document.id, chunk.id, { ...changed, updatedAt: now });
      enriched += 1;
    }
    if (made.problem !== '') return { chunks: enriched, problem: made.problem };
    last = { index: end.index, id: end.id };
    await work.note(step, { ...last, chunks: enriched });
    await work.share(place, (end.index + 1) / (document.chunkCount || end.index + BATCH));
  }
}

interface Changes {
  readonly changes: readonly { readonly chunk: ChunkRecord; readonly changed: ChunkChange }[];
  readonly problem: string;
}

async function changesOf(chunks: readonly ChunkRecord[], change: ChunkWork, signal: AbortSignal): Promise<Changes> {
  let problem = '';
  const made$ = from(chunks).pipe(
    mergeMap((chunk) => {
      if (problem !== '') return of([]);
      return change(chunk).pipe(
        map((changed) => (changed === undefined ? [] : [{ chunk, changed }])),
        catchError((error: unknown) => {
          if (!EngineError.is(error) || !error.code.startsWith('MODEL_')) throw error;
          problem ||= `not all are enriched: ${error.message}`;
          return of([]);
        }),
      );
    }, AT_ONCE),
    toArray(),
  );
  return { changes: (await firstValue(made$, signal)).flat(), problem };
}

/** What of a chunk is still wanted: users have written some of it, or a process before has. */
function lackingOf(chunk: ChunkRecord, wanted: WantedOfChunks): WantedOfChunks {
  const { keywords = 0, questions = 0, tags = 0 } = wanted;
  return {
    ...wanted,
    keywords: chunk.keywords.length > 0 ? 0 : keywords,
    questions: chunk.questions.length > 0 ? 0 : questions,
    tags: chunk.tags.length > 0 ? 0 : tags,
  };
}

function isBare({ keywords, questions }: ChunkRecord): boolean {
  return keywords.length + questions.length === 0;
}

/** The change that adds what was found to a chunk; undefined for nothing. */
export function changeOf(chunk: ChunkRecord, found: Partial<FoundOfChunk>): ChunkChange | undefined {
  const { keywords = [], questions = [], tags = [], summary = '' } = found;
  const change: ChunkChange = {
    ...(keywords.length > 0 && { keywords }),
    ...(questions.length > 0 && { questions }),
    ...(tags.length > 0 && { tags }),
    ...(summary !== '' && { context: [chunk.context, summary].filter((one) => one !== '').join('\n') }),
  };
  return Object.keys(change).length === 0 ? undefined : change;
}

/** A number of things as settings have it: within its bound, and 0 for what is no number. */
export function countOf(given: unknown, most: number): number {
  return typeof given === 'number' && given > 0 ? Math.min(most, Math.floor(given)) : 0;
}
