/** Golden questions to a chat, whose answers are scored, and judged by a model where that is wanted. */
import type { Observable } from 'rxjs';
import type { Json, JsonObject } from '../../src/json.js';
import type { MeasuredAnswers } from '../../src/transport/chat/evaluate.js';
import type { Client } from '../api/client.js';
import type { Mode } from '../stages/chat-server.js';
import { meansOf } from './evaluation-result.js';
import { type Measured, measureInParts } from './in-parts.js';

/** Questions of one request: each is answered by models, and may take its time. */
const AT_ONCE = 1;

/** An answer with what it is worth. */
export type MeasuredAnswer = MeasuredAnswers['questions'][number] & { readonly judged_by?: string };

export interface AnswerMeasurement {
  readonly questions: readonly JsonObject[];
  /** The assistant; undefined: one that searches all datasets. */
  readonly chat: string | undefined;
  /** Ids of the only datasets that are searched; empty: those of the assistant. */
  readonly datasets: readonly string[];
  /** What answers rest on; undefined: what each question wants. */
  readonly mode: Mode | undefined;
  /** The model that answers; undefined: that of the assistant. */
  readonly model: string | undefined;
  /** The model that judges, empty for the default; undefined: none. */
  readonly judge: string | undefined;
}

/** Emits behind each answer; leaving it stops the measurement. Fails with the server's ApiError. */
export function measureAnswers(
  client: Client,
  { questions, chat, datasets, mode, model, judge }: AnswerMeasurement,
): Observable<Measured<MeasuredAnswer>> {
  const settings = {
    ...(chat !== undefined && { chat_id: chat }),
    ...(datasets.length > 0 && { dataset_ids: datasets }),
    ...(model !== undefined && { llm_id: model }),
    ...(mode !== undefined && { options: { mode } }),
    ...(judge !== undefined && { judge }),
  };
  return measureInParts(questions, AT_ONCE, async (part, signal) => {
    const body = { ...settings, questions: part };
    const answer = await client.call<MeasuredAnswers>('/chat/evaluate', { method: 'POST', body, signal });
    const { judged_by: by } = answer;
    return answer.questions.map((one) => ({ ...one, ...(by !== undefined && { judged_by: by }) }));
  });
}

/** The same as `runnel eval --json` writes it: rates over the answers that have a value. */
export function asAnswersFile(file: string, answers: readonly MeasuredAnswer[]): string {
  const questions = answers.map(({ judged_by: _, ...answer }) => answer);
  const by = answers.find(({ judged_by }) => judged_by !== undefined)?.judged_by;
  const rates = meansOf(questions as unknown as readonly Json[]);
  return JSON.stringify({ file, rates, ...(by !== undefined && { judged_by: by }), questions });
}
