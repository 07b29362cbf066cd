/** The first hits of a search in the order of a model, as long as it answers in time. */
import { catchError, map, type Observable, of, throwError, timeout } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { ChunkRecord } from '../../records/knowledge.js';

/** Hits that a model reads. */
const MAX_HITS = 50;
/** How long it may take, in milliseconds. */
const LIMIT_MS = 1_000;

/** What of a hit is read and changed. */
export interface RerankableHit {
  readonly chunk: Pick<ChunkRecord, 'text' | 'context'>;
  /** 0 to 1. */
  readonly similarity: number;
  readonly scores: Readonly<Record<string, number>>;
}

/** Hits in a new order, or in the old one when the model failed. */
export interface RerankedHits<H> {
  readonly hits: readonly H[];
  /** Why the model did not count; undefined when it did. */
  readonly failure: EngineError | undefined;
}

/** The texts of the first 50 hits, which a model reads. */
export function textsToRerank(hits: readonly RerankableHit[]): readonly string[] {
  return hits.slice(0, MAX_HITS).map(({ chunk: { text, context } }) => (context === '' ? text : `${context}\n${text}`));
}

/**
 * Puts the first 50 hits in the order of a model's scores, which become their similarity; those behind them stay behind, with no higher one.
 *
 * Scores of 0 to 1 count as they are, others by the logistic function. A model that fails, gives another number of scores, or is late changes nothing.
 *
 * ```text
 * scores$   --(s|)       ----- 1 s     --#
 * result    --(r|)       1s (h|)       --(h|)     (r: in its order; h: as they were)
 * ```
 *
 * Errors: what is thrown that is no EngineError.
 *
 * @param scores$ one score for each of {@link textsToRerank}
 * @param threshold hits with a lower similarity are left out, 0 to 1
 */
export function rerankHits<H extends RerankableHit>(
  hits: readonly H[],
  scores$: Observable<readonly number[]>,
  threshold: number,
): Observable<RerankedHits<H>> {
  const late = () =>
    throwError(() => new EngineError('RUN_TIMEOUT', `The reranking model did not answer within ${LIMIT_MS} ms.`));
  const count = Math.min(hits.length, MAX_HITS);
  return scores$.pipe(
    timeout({ first: LIMIT_MS, with: late }),
    map((scores) => ({ hits: inOrderOf(scoresOf(scores, count), hits, threshold), failure: undefined })),
    catchError((error: unknown) => {
      if (!EngineError.is(error)) throw error;
      return of({ hits, failure: error });
    }),
  );
}

/** @throws EngineError MODEL_RESPONSE */
function scoresOf(scores: readonly number[], wanted: number): readonly number[] {
  if (scores.length !== wanted || !scores.every(Number.isFinite)) {
    const message = `The reranking model gave ${scores.length} scores for ${wanted} passages, or scores that are no numbers.`;
    throw new EngineError('MODEL_RESPONSE', message);
  }
  const areShares = scores.every((score) => score >= 0 && score <= 1);
  return areShares ? scores : scores.map((score) => 1 / (1 + Math.exp(-score)));
}

function inOrderOf<H extends RerankableHit>(scores: readonly number[], hits: readonly H[], threshold: number): H[] {
  const scored = scores
    .map((rerank, at) => {
      const hit = hits[at] as H;
      return { ...hit, similarity: rerank, scores: { ...hit.scores, rerank } };
    })
    // Equal ones stay in their order.
    .sort((left, right) => right.similarity - left.similarity);
  const least = scored.at(-1)?.similarity ?? 1;
  const behind = hits.slice(scores.length).map((hit) => ({ ...hit, similarity: Math.min(hit.similarity, least) }));
  return [...scored, ...behind].filter(({ similarity }) => similarity >= threshold);
}
