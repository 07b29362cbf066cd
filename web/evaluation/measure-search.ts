/** Golden questions to the search of datasets, some at a time, so that it can be followed and stopped. */
import { concatMap, from, map, type Observable, scan } from 'rxjs';
import { isJsonObject, type Json, type JsonObject, parseOwnJson } from '../../src/json.js';
import { fromAbortable } from '../../src/operators/from-abortable.js';
import type { MeasuredQuestions } from '../../src/transport/datasets/evaluate.js';
import type { Client } from '../api/client.js';

/** Questions of one request. */
const AT_ONCE = 10;
/** Questions of one evaluation. */
const MAX_QUESTIONS = 2_000;

export interface SearchMeasurement {
  readonly questions: readonly JsonObject[];
  readonly datasets: readonly string[];
  /** Passages that count for each question. */
  readonly passages: number;
}

/** How far a measurement has come. */
export interface Measured {
  readonly done: number;
  readonly of: number;
  readonly questions: MeasuredQuestions['questions'];
}

/** The questions of a golden file; undefined when a line is no question, or there is none. The server checks their form. */
export function readGoldenLines(text: string): readonly JsonObject[] | undefined {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  const questions = lines.slice(0, MAX_QUESTIONS).map((line): Json | undefined => parseOwnJson(line));
  const isWhole = questions.length > 0 && questions.every((one) => isJsonObject(one) && typeof one.id === 'string');
  return isWhole ? (questions as readonly JsonObject[]) : undefined;
}

/** Emits behind each part that was measured; leaving it stops the measurement. Fails with the server's ApiError. */
export function measureSearch(
  client: Client,
  { questions, datasets, passages }: SearchMeasurement,
): Observable<Measured> {
  const parts = Array.from({ length: Math.ceil(questions.length / AT_ONCE) }, (_, at) =>
    questions.slice(at * AT_ONCE, (at + 1) * AT_ONCE),
  );
  return from(parts).pipe(
    concatMap((part) =>
      fromAbortable((signal) =>
        client.call<MeasuredQuestions>('/datasets/evaluate', {
          method: 'POST',
          body: { dataset_ids: datasets, questions: part, page_size: passages },
          signal,
        }),
      ),
    ),
    scan((before: MeasuredQuestions['questions'], answer) => [...before, ...answer.questions], []),
    map((measured) => ({ done: measured.length, of: questions.length, questions: measured })),
  );
}

/** The same as `runnel eval --json` writes it: means over the questions that have a value. */
export function asResultFile(folder: string, questions: MeasuredQuestions['questions']): string {
  const names = [...new Set(questions.flatMap(({ measures }) => Object.keys(measures)))];
  const meanOf = (name: string): number => {
    const values = questions.flatMap(({ measures }) => measures[name] ?? []);
    return values.reduce((sum, value) => sum + value, 0) / values.length;
  };
  return JSON.stringify({ folder, means: Object.fromEntries(names.map((name) => [name, meanOf(name)])), questions });
}
