import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import { EngineError } from '../errors.js';
import { Feed, type FeedSink } from './feed.js';
import { requireCallable, requireOptions, requireWhole } from './invalid-option.js';

/** What {@link concatChunks} may hold. */
export interface ConcatChunksOptions {
  /** Chunks that are held until the end; at least 1. @default 1,000,000 */
  readonly maxChunks?: number;
}

/**
 * Makes one value of all chunks, at the end.
 *
 * ```text
 * source   -a--b-c-|
 * result   --------(x|)     x = rule([a, b, c])
 * ```
 *
 * A single chunk is the value itself. Without a rule texts are joined, and other chunks need one: `concatValues` has the rules of all types.
 *
 * Errors: those of the source and of the rule; `STREAM_EMPTY` when the source ends without a chunk, `CHUNKS_INVALID` when there are several
 * that are no texts and there is no rule, `LIMIT_REACHED` when there are more than `maxChunks`.
 *
 * @throws EngineError `OPTION_INVALID` at construction.
 */
export function concatChunks<T>(
  rule?: (chunks: readonly T[]) => T,
  options: ConcatChunksOptions = {},
): MonoTypeOperatorFunction<T> {
  requireOptions('concatChunks', options, ['maxChunks']);
  requireCallable('concatChunks', 'rule', rule);
  const { maxChunks = 1_000_000 } = options;
  requireWhole('concatChunks', 'maxChunks', maxChunks, 1);
  return (source) =>
    new Observable((subscriber) => {
      const chunks: T[] = [];
      const sink: FeedSink<T> = {
        fed(chunk) {
          if (chunks.length >= maxChunks) throw tooMany(maxChunks);
          chunks.push(chunk);
        },
        feedFailed(error) {
          subscriber.error(error);
        },
        feedEnded() {
          let value: T;
          try {
            value = wholeOf(chunks, rule);
          } catch (error) {
            subscriber.error(error);
            return;
          }
          subscriber.next(value);
          subscriber.complete();
        },
      };
      const feed = new Feed<T>(sink);
      subscriber.add(feed);
      source.subscribe(feed);
    });
}

function wholeOf<T>(chunks: readonly T[], rule: ((chunks: readonly T[]) => T) | undefined): T {
  if (chunks.length === 0) {
    throw new EngineError(
      'STREAM_EMPTY',
      'concatChunks: the source ended without a chunk, so there is no value; use defaultIfEmpty before it when that may happen.',
    );
  }
  if (chunks.length === 1) return chunks[0] as T;
  if (rule !== undefined) return rule(chunks);
  const other = chunks.findIndex((chunk) => typeof chunk !== 'string');
  if (other === -1) return chunks.join('') as T;
  throw new EngineError(
    'CHUNKS_INVALID',
    `concatChunks: chunk ${other} of ${chunks.length} is no text but ${typeof chunks[other]}, and there is no rule; give one, such as concatValues.`,
  );
}

function tooMany(maxChunks: number): EngineError {
  return new EngineError(
    'LIMIT_REACHED',
    `concatChunks: the source has more than ${maxChunks} chunks, which is the most that may be held; join some before, or allow more (maxChunks).`,
  );
}
