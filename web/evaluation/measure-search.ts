/** Golden questions to the search of datasets. */
import type { Observable } from 'rxjs';
import type { JsonObject } from '../../src/json.js';
import type { MeasuredQuestions } from '../../src/transport/datasets/evaluate.js';
import type { Client } from '../api/client.js';
import { type Measured, measureInParts } from './in-parts.js';

/** Questions of one request. */
const AT_ONCE = 10;

/** What a search measured for a question. */
export type MeasuredSearch = MeasuredQuestions['questions'][number];

export interface SearchMeasurement {
  readonly questions: readonly JsonObject[];
  readonly datasets: readonly string[];
  /** Passages that count for each question. */
  readonly passages: number;
}

/** Emits behind each part that was measured; leaving it stops the measurement. Fails with the server's ApiError. */
export function measureSearch(
  client: Client,
  { questions, datasets, passages }: SearchMeasurement,
): Observable<Measured<MeasuredSearch>> {
  return measureInParts(questions, AT_ONCE, async (part, signal) => {
    const body = { dataset_ids: datasets, questions: part, page_size: passages };
    const answer = await client.call<MeasuredQuestions>('/datasets/evaluate', { method: 'POST', body, signal });
    return answer.questions;
  });
}

/** The same as `runnel eval --json` writes it: means over the questions that have a value. */
export function asResultFile(folder: string, questions: readonly MeasuredSearch[]): string {
  const names = [...new Set(questions.flatMap(({ measures }) => Object.keys(measures)))];
  const meanOf = (name: string): number => {
    const values = questions.flatMap(({ measures }) => measures[name] ?? []);
    return values.reduce((sum, value) => sum + value, 0) / values.length;
  };
  return JSON.stringify({ folder, means: Object.fromEntries(names.map((name) => [name, meanOf(name)])), questions });
}
