import {
  catchError,
  defer,
  EMPTY,
  type MonoTypeOperatorFunction,
  map,
  mergeMap,
  Observable,
  type OperatorFunction,
  of,
} from 'rxjs';
import { toEngineError } from '../../errors.js';
import { type Delta, type Notice, notice, warning } from '../../graph/node-events.js';
import type { SpeechAudio } from '../../models/speech-model.js';
import { sentences } from './sentences.js';

/** Sentences that are made into sound at once. */
const CONCURRENCY = 2;

/** Something with its place in an order. */
interface Numbered<T> {
  readonly index: number;
  readonly value: T;
}

/**
 * Reads an answer aloud while it comes: one `audio` notice with the sound as hexadecimal text for each sentence, in order.
 *
 * ```text
 * pieces    --a----b------|       (two sentences)
 * speak(a)  --------x|
 * speak(b)       --y|
 * result    ----------(xy)|
 * ```
 *
 * Two sentences are made at once. The first failure is told as a warning and ends the reading, never the answer.
 */
export function readAloud(speak: (sentence: string) => Observable<SpeechAudio>): OperatorFunction<Delta, Notice> {
  return (source) =>
    defer(() => {
      let isBroken = false;
      const sound = (sentence: string): Observable<Notice | undefined> => {
        if (isBroken) return of(undefined);
        return defer(() => speak(sentence)).pipe(
          map(({ bytes }) => notice('audio', { audio_binary: Buffer.from(bytes).toString('hex') })),
          catchError((error: unknown) => {
            if (isBroken) return of(undefined);
            isBroken = true;
            return of(warning(`The answer is not read aloud: ${toEngineError(error, 'MODEL_RESPONSE').message}`));
          }),
        );
      };
      return source.pipe(
        sentences(),
        mergeMap((sentence, index) => sound(sentence).pipe(map((value) => ({ index, value }))), CONCURRENCY),
        inOrder(),
        mergeMap(({ value }) => (value === undefined ? EMPTY : of(value))),
      );
    });
}

/** Lets values through in the order of their numbers, from 0 and without gaps; those that come early wait. */
function inOrder<T>(): MonoTypeOperatorFunction<Numbered<T>> {
  return (source) =>
    new Observable((subscriber) => {
      const early = new Map<number, Numbered<T>>();
      let next = 0;
      return source.subscribe({
        next: (numbered) => {
          early.set(numbered.index, numbered);
          for (let due = early.get(next); due !== undefined; due = early.get(next)) {
            early.delete(next);
            next += 1;
            subscriber.next(due);
          }
        },
        error: (error) => subscriber.error(error),
        complete: () => subscriber.complete(),
      });
    });
}
