/** Asking a model in a research: within the budget, tried again, and never the same twice. */
import { createHash } from 'node:crypto';
import { concatMap, defer, finalize, map, Observable, of, tap, throwError, timeout } from 'rxjs';
import type { z } from 'zod';
import { EngineError } from '../../errors.js';
import { type Json, type JsonObject, parseJson } from '../../json.js';
import type { ChatDelta, ChatRequest } from '../../models/chat-model.js';
import { collectAnswer } from '../../models/collect-answer.js';
import { estimateTokens } from '../../models/estimate-tokens.js';
import { doubling, retryWith } from '../../operators/retry-with.js';
import { readArguments } from '../../tools/read-arguments.js';
import type { Budget, Purpose } from './budget.js';
import type { Journal } from './journal.js';
import {
  answerFields,
  answerSchema,
  RESEARCH_CALLS,
  type ResearchAnswer,
  type ResearchCallName,
  STREAMED_CALLS,
  type StreamedCallName,
} from './research-calls.js';

/** What a call is for. */
export interface AskedFor {
  readonly name: ResearchCallName | StreamedCallName;
  /** Id of the sub-question or the task that it is about. @default the research as a whole */
  readonly about?: string | undefined;
}

/** A model that a research asks, by the name that its requests carry; it is told what each call is for. */
export interface AskedModel {
  readonly model: { chat(request: ChatRequest, asked: AskedFor): Observable<ChatDelta> };
  readonly name: string;
}

/** What questions are asked with. */
export interface Asking {
  /** Undefined: there is none, and rules do its work. */
  readonly model: AskedModel | undefined;
  /** Id of the sub-question or the task that all of it is about. @default the research as a whole */
  readonly about?: string | undefined;
  readonly budget: Budget;
  readonly journal: Journal;
  /** Milliseconds before the second attempt; doubles with each further one. @default 250 */
  readonly retryMs?: number | undefined;
}

/** What a sub-question is asked with; its id is that within the task that `asking` is about. */
export function askingAbout(asking: Asking, question: string): Asking {
  const { about: task } = asking;
  return { ...asking, about: task === undefined ? question : `${task}/${question}` };
}

/** Attempts in all while the model cannot be reached, is overloaded, or is cut off. */
const MAX_ATTEMPTS = 5;
/** Answers that hold no object of the form that was asked for, before the rule stands. */
const MAX_BROKEN = 2;
const RETRY_MS = 250;
const MAX_RETRY_MS = 4_000;
/** Milliseconds for one attempt. */
const ATTEMPT_MS = 120_000;

/**
 * Asks one question of {@link RESEARCH_CALLS}. JSON that nearly is some is repaired once, and counts when all of its fields are there; else it is asked once
 * more. Cold: unsubscribing closes the connection.
 *
 * ```text
 * attempts  --#  --b  --a|      (overloaded; broken JSON; an answer)
 * result    ------------a|
 * ```
 *
 * Errors: BUDGET_EXHAUSTED before anything is sent; OUTPUT_INVALID for a second answer that is of no use; those of the model;
 * MODEL_UNKNOWN without a model.
 */
export function askCall<N extends ResearchCallName>(
  asking: Asking,
  name: N,
  input: JsonObject,
): Observable<ResearchAnswer<N>> {
  const { model, budget, journal, about, retryMs = RETRY_MS } = asking;
  return defer(() => {
    const key = keyOf(name, input);
    const kept = journal.find(key);
    if (kept !== undefined) return of(readKept(name, kept));
    if (model === undefined) return throwError(noModel);
    const { task, maxTokens } = RESEARCH_CALLS[name];
    const request: ChatRequest = {
      ...requestOf(model, `${task}\nAnswer with one JSON object and nothing else.`, input, maxTokens),
      jsonSchema: { name, schema: answerSchema(name) },
    };
    let broken = 0;
    return attempt(model, request, { name, about }, budget, 'work').pipe(
      collectAnswer(),
      map(({ text }) => readAnswer(name, text)),
      retryWith({
        attempts: MAX_ATTEMPTS,
        delayMs: doubling(retryMs, MAX_RETRY_MS),
        isRetryable: (error) => {
          if (!EngineError.is(error)) return false;
          if (error.code !== 'OUTPUT_INVALID') return error.retryable;
          broken += 1;
          return broken < MAX_BROKEN;
        },
      }),
      tap((answer) => journal.keep(key, answer as Json)),
    );
  });
}

/** A streamed answer: pieces of text, and a mark where all pieces so far are void. */
export type StreamedPiece = { readonly type: 'text'; readonly text: string } | { readonly type: 'retract' };

/**
 * Asks one question of {@link STREAMED_CALLS}. An answer that breaks off is begun anew.
 *
 * ```text
 * attempt 1  --t--#
 * attempt 2          --t--t|
 * result     --t--r----t--t|
 * ```
 *
 * Errors: as {@link askCall}; OUTPUT_INVALID for an empty answer.
 */
export function askStreamed(asking: Asking, name: StreamedCallName, input: JsonObject): Observable<StreamedPiece> {
  const { model, budget, journal, about, retryMs = RETRY_MS } = asking;
  return defer((): Observable<StreamedPiece> => {
    const key = keyOf(name, input);
    const kept = journal.find(key);
    if (typeof kept === 'string') return of({ type: 'text', text: kept });
    if (model === undefined) return throwError(noModel);
    const { task, maxTokens } = STREAMED_CALLS[name];
    const request = requestOf(model, task, input, maxTokens);
    let text = '';
    const pieces$ = defer(() => {
      const isAnew = text !== '';
      text = '';
      const answer$ = attempt(model, request, { name, about }, budget, 'report').pipe(
        textOf((piece) => {
          text += piece;
        }),
      );
      return isAnew ? retracted(answer$) : answer$;
    });
    return pieces$.pipe(
      tap({
        complete: () => {
          if (text.trim() === '') throw outputInvalid(name, 'nothing');
          journal.keep(key, text);
        },
      }),
      retryWith({
        attempts: MAX_ATTEMPTS,
        delayMs: doubling(retryMs, MAX_RETRY_MS),
        afterEmission: true,
        isRetryable: (error, at) =>
          EngineError.is(error) && (error.retryable || (error.code === 'OUTPUT_INVALID' && at < MAX_BROKEN)),
      }),
    );
  });
}

function retracted(answer$: Observable<StreamedPiece>): Observable<StreamedPiece> {
  return new Observable((subscriber) => {
    subscriber.next({ type: 'retract' });
    return answer$.subscribe(subscriber);
  });
}

function textOf(add: (piece: string) => void) {
  return (deltas$: Observable<ChatDelta>): Observable<StreamedPiece> =>
    new Observable((subscriber) =>
      deltas$.subscribe({
        next(piece) {
          if (piece.type !== 'text' || piece.text === '') return;
          add(piece.text);
          subscriber.next({ type: 'text', text: piece.text });
        },
        error: (error: unknown) => subscriber.error(error),
        complete: () => subscriber.complete(),
      }),
    );
}

function requestOf(model: AskedModel, task: string, input: JsonObject, maxTokens: number): ChatRequest {
  return {
    model: model.name,
    messages: [
      { role: 'system', content: task },
      { role: 'user', content: JSON.stringify(input) },
    ],
    sampling: { temperature: 0, maxTokens },
    // Attempts count for the budget, so they are made here.
    retries: { maxRetries: 0 },
  };
}

/** One call, counted from before it is sent until it ends, however it ends. */
function attempt(
  { model }: AskedModel,
  request: ChatRequest,
  asked: AskedFor,
  budget: Budget,
  purpose: Purpose,
): Observable<ChatDelta> {
  return defer(() => {
    const prompt = request.messages.reduce((sum, { content }) => sum + estimateTokens(String(content)), 0);
    const { maxTokens = 0 } = request.sampling ?? {};
    return budget.reserve({ prompt, answer: maxTokens }, purpose).pipe(
      concatMap((admitted) => {
        let usage: { prompt: number; answer: number } | undefined;
        let answer = '';
        const settle = (): void => admitted.settle(usage ?? { prompt, answer: estimateTokens(answer) });
        return model.chat(request, asked).pipe(
          timeout({ each: ATTEMPT_MS, with: () => throwError(slowModel) }),
          tap({
            next: (piece) => {
              if (piece.type === 'usage') usage = { prompt: piece.promptTokens, answer: piece.completionTokens };
              else if (piece.type === 'text') answer += piece.text;
            },
            // Before the answer is kept, so that a crash finds no answer whose call is still open.
            complete: settle,
          }),
          finalize(settle),
        );
      }),
    );
  });
}

/** The object in an answer, between its first and last brackets: models put words and fences around it. @throws EngineError OUTPUT_INVALID */
export function readAnswer<N extends ResearchCallName>(name: N, text: string): ResearchAnswer<N> {
  const start = text.indexOf('{');
  const end = text.lastIndexOf('}');
  const whole = start === -1 ? undefined : parseJson(text.slice(start, end + 1));
  const object = whole ?? (start === -1 ? undefined : repaired(name, text.slice(start)));
  const parsed = schemaOf(name).safeParse(object);
  if (!parsed.success) throw outputInvalid(name, text);
  return parsed.data;
}

/** An object that was made whole may have lost its end, and with it the end of a text: it counts when its last fields are there. */
function repaired(name: ResearchCallName, text: string): JsonObject | undefined {
  try {
    const object = readArguments(name, text);
    return answerFields(name).every((field) => Object.hasOwn(object, field) || isOptional(name, field))
      ? object
      : undefined;
  } catch {
    return undefined;
  }
}

function isOptional(name: ResearchCallName, field: string): boolean {
  return name === 'plan_review' && field === 'tasks';
}

/** Typed by its name: the table holds schemas of many types. */
function schemaOf<N extends ResearchCallName>(name: N): z.ZodType<ResearchAnswer<N>> {
  return RESEARCH_CALLS[name].answer as unknown as z.ZodType<ResearchAnswer<N>>;
}

function readKept<N extends ResearchCallName>(name: N, kept: Json): ResearchAnswer<N> {
  return schemaOf(name).parse(kept);
}

/** What is asked, as a key: the same question about the same texts is asked once in a run. */
export function keyOf(name: string, input: JsonObject): string {
  const digest = createHash('sha256').update(JSON.stringify(input)).digest('base64url');
  return `${name}:${digest.slice(0, 22)}`;
}

const noModel = (): EngineError =>
  new EngineError('MODEL_UNKNOWN', 'No model is configured, so the research goes by its rules.');

const slowModel = (): EngineError =>
  new EngineError('MODEL_UNAVAILABLE', `The model was silent for ${ATTEMPT_MS / 1_000} seconds.`, { retryable: true });

function outputInvalid(name: string, received: string): EngineError {
  const shown = JSON.stringify(received.slice(0, 100));
  return new EngineError('OUTPUT_INVALID', `The model was asked for "${name}" and answered ${shown}.`);
}
