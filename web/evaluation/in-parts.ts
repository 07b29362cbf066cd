/** Golden questions to the server, some at a time, so that a measurement can be followed and stopped. */
import { concatMap, from, map, type Observable, scan } from 'rxjs';
import { isJsonObject, type Json, type JsonObject, parseOwnJson } from '../../src/json.js';
import { fromAbortable } from '../../src/operators/from-abortable.js';

/** Questions of one evaluation. */
const MAX_QUESTIONS = 2_000;

/** How far a measurement has come. */
export interface Measured<T> {
  readonly done: number;
  readonly of: number;
  readonly questions: readonly T[];
}

/** The questions of a golden file; undefined when a line is no question, or there is none. The server checks their form. */
export function readGoldenLines(text: string): readonly JsonObject[] | undefined {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  const questions = lines.slice(0, MAX_QUESTIONS).map((line): Json | undefined => parseOwnJson(line));
  const isWhole = questions.length > 0 && questions.every((one) => isJsonObject(one) && typeof one.id === 'string');
  return isWhole ? (questions as readonly JsonObject[]) : undefined;
}

/**
 * Emits behind each part of `size` questions what all parts until then gave; leaving it stops the measurement. Fails as `ask`.
 *
 * ```text
 * parts     (1 2|)
 * ask       1---a|    2---b|
 * result    ----[a]-------[ab]|
 * ```
 */
export function measureInParts<T>(
  questions: readonly JsonObject[],
  size: number,
  ask: (part: readonly JsonObject[], signal: AbortSignal) => Promise<readonly T[]>,
): Observable<Measured<T>> {
  const parts = Array.from({ length: Math.ceil(questions.length / size) }, (_, at) =>
    questions.slice(at * size, (at + 1) * size),
  );
  return from(parts).pipe(
    concatMap((part) => fromAbortable((signal) => ask(part, signal))),
    scan((before: readonly T[], answers) => [...before, ...answers], []),
    map((measured) => ({ done: measured.length, of: questions.length, questions: measured })),
  );
}
