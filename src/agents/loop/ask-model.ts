/** The model of an agent, asked until there is an answer that can be used: with limits, tries, and other models that stand in. */
import { concat, concatMap, defer, EMPTY, from, type Observable, of, tap, timer } from 'rxjs';
import { isThenable } from '../../compose/engine/later.js';
import { show } from '../../compose/make-step.js';
import { askChatModel } from '../../compose/models/chat-model-step.js';
import type { StepActivation } from '../../compose/step.js';
import { EngineError, toEngineError } from '../../errors.js';
import { isJsonObject } from '../../json.js';
import type { ChatModel } from '../../models/chat-model.js';
import { concatMessages, messageOf } from '../../models/concat-messages.js';
import type { AssistantChunk, AssistantMessage } from '../../models/messages.js';
import { goOnWith } from '../../operators/go-on-with.js';
import { type AnswerLimits, answerLimits } from './answer-limits.js';
import { wrongGiven } from './given.js';
import type { RoundRequest } from './middleware.js';

/** How a call of a model ended. */
export type ModelOutcome =
  | { readonly type: 'answered'; readonly message: AssistantMessage }
  | { readonly type: 'failed'; readonly error: EngineError };

/** What is done before another try. */
export interface NextTry {
  /** Milliseconds before it. @default those of the policy */
  readonly delayMs?: number;
  /** What is asked then, in place of these fields. @default the same */
  readonly request?: Partial<RoundRequest>;
}

/** When a model is asked again. */
export interface ModelRetry {
  /** Tries in all with one model. */
  readonly attempts: number;
  /** Milliseconds before another try; by the number of the one that failed, from 1. @default 0 */
  readonly delayMs?: number | ((attempt: number) => number);
  /** Whether another try may help, also behind an answer that came. @default errors that are `retryable` */
  readonly when?: (outcome: ModelOutcome, attempt: number) => boolean | NextTry | PromiseLike<boolean | NextTry>;
}

/** How the model of an agent is asked. */
export interface AskPolicy {
  readonly agent: string;
  /** Stand in for the model of the request, in this order. */
  readonly failover: readonly (string | ChatModel)[];
  readonly retry: ModelRetry | undefined;
  readonly limits: AnswerLimits;
  /** Puts the middlewares around one try. */
  wrap(
    request: RoundRequest,
    ask: (request: RoundRequest) => Observable<AssistantMessage>,
  ): Observable<AssistantMessage>;
}

/**
 * Asks, and asks again.
 *
 * ```text
 * try 1     --a--#
 * try 2            --b--c|            (after the delay)
 * result    --a--R---b--c|            (R: what came before it does not count)
 * ```
 *
 * Tries with one model come first, then the next model has as many. `model` is the position that is asked first; `worked` is told which one
 * answered. {@link joinAnswer} makes the message of the pieces.
 *
 * Errors: that of the model, where nothing stands in for it and it is not tried again; else MODEL_RETRIES_EXHAUSTED with the last error.
 */
export function askModel(
  policy: AskPolicy,
  request: RoundRequest,
  at: StepActivation,
  { model: first, worked }: { readonly model: number; worked(model: number): void },
): Observable<AssistantMessage> {
  const models = [request.model, ...policy.failover];
  let calls = 0;
  const call = (given: RoundRequest): Observable<AssistantMessage> => {
    calls += 1;
    return callModel(given, at, `chat-${calls}`).pipe(answerLimits(policy.agent, policy.limits));
  };
  const attempt = (asked: RoundRequest, tried: number, count: number): Observable<AssistantMessage> => {
    const position = (first + tried) % models.length;
    const next = (error: EngineError | undefined, verdict: boolean | NextTry): Observable<AssistantMessage> => {
      if (verdict === false && error === undefined) {
        worked(position);
        return EMPTY;
      }
      const why = error && { code: error.code, message: error.message };
      const wanted = verdict === false ? undefined : verdict === true ? {} : verdict;
      if (wanted !== undefined && count < (policy.retry?.attempts ?? 1)) {
        const again = defer(() => attempt({ ...asked, ...wanted.request }, tried, count + 1));
        const delayMs = delayOf(policy, wanted, count);
        at.emit('model-retry', { attempt: count + 1, delayMs, ...why });
        return concat(of(RESTART), delayMs > 0 ? timer(delayMs).pipe(concatMap(() => again)) : again);
      }
      if (tried + 1 < models.length) {
        const model = models[(first + tried + 1) % models.length] as string | ChatModel;
        at.emit('model-failover', { model: nameOf(model), ...why });
        return concat(
          of(RESTART),
          defer(() => attempt(asked, tried + 1, 1)),
        );
      }
      throw lastError(policy, models.length, error);
    };
    const judged = policy.retry?.when === undefined ? undefined : ([] as AssistantMessage[]);
    const chosen = tried === 0 && position === 0 ? asked : { ...asked, model: models[position] as string | ChatModel };
    const answer$ = policy.wrap(chosen, call);
    return (judged === undefined ? answer$ : answer$.pipe(tap((chunk) => judged.push(chunk)))).pipe(
      goOnWith((end) => {
        const error = end && toEngineError(end.error, 'MODEL_UNAVAILABLE');
        // No other model may answer what a guard refused.
        if (error?.code === 'GUARD_TRIPPED') throw error;
        if (judged === undefined) return next(error, error?.retryable === true);
        const outcome: ModelOutcome =
          error === undefined ? { type: 'answered', message: joinAnswer(judged) } : { type: 'failed', error };
        const judge = (verdict: unknown): Observable<AssistantMessage> => next(error, verdictOf(policy, verdict));
        const verdict = policy.retry?.when?.(outcome, count);
        return isThenable(verdict) ? from(verdict).pipe(concatMap(judge)) : judge(verdict);
      }),
    );
  };
  return attempt(request, 0, 1);
}

/** One call of a model; `call` tells it apart from others of the activation. */
export function callModel(request: RoundRequest, at: StepActivation, call: string): Observable<AssistantMessage> {
  const { model, instructions, messages, tools, settings } = request;
  const input = { ...settings, messages: withInstructions(instructions, messages), ...(tools.length > 0 && { tools }) };
  return askChatModel(model, input, at, call);
}

/** A piece behind which an answer begins anew. */
export const RESTART: AssistantMessage = Object.freeze({
  role: 'assistant',
  content: '',
  extra: Object.freeze({ restart: true }),
});

/** Whether what came before a piece of an answer does not count any more. */
export function isRestart({ extra }: AssistantChunk): boolean {
  return extra?.restart === true;
}

/** A piece that says that the answer was dropped before its end. */
export const UNFINISHED: AssistantMessage = Object.freeze({
  role: 'assistant',
  content: '',
  extra: Object.freeze({ unfinished: true }),
});

/** Whether an answer was dropped before its end. */
export function isUnfinished({ extra }: AssistantChunk): boolean {
  return extra?.unfinished === true;
}

/** The message of the pieces behind the last new beginning; one that was dropped has no calls. */
export function joinAnswer(chunks: readonly AssistantMessage[]): AssistantMessage {
  const last = chunks.slice(chunks.findLastIndex(isRestart) + 1);
  if (last.length === 0) return { role: 'assistant', content: '' };
  const { toolCalls, ...message } = messageOf(concatMessages<AssistantChunk>(last));
  return isUnfinished(message) || toolCalls === undefined ? message : { ...message, toolCalls };
}

function withInstructions(instructions: string, messages: RoundRequest['messages']): RoundRequest['messages'] {
  return instructions === '' ? messages : [{ role: 'system', content: instructions }, ...messages];
}

/** @throws EngineError NODE_PROTOCOL */
function verdictOf({ agent }: AskPolicy, given: unknown): boolean | NextTry {
  const isKnown =
    isJsonObject(given) &&
    Object.keys(given).every((name) => name === 'delayMs' || name === 'request') &&
    (given.request === undefined || isJsonObject(given.request));
  if (typeof given === 'boolean' || isKnown) return given as boolean | NextTry;
  throw wrongGiven(`"retry.when" of agent "${agent}"`, 'true, false, or { delayMs, request }', show(given));
}

/** @throws EngineError NODE_PROTOCOL */
function delayOf({ agent, retry }: AskPolicy, next: NextTry, attempt: number): number {
  const { delayMs = 0 } = retry ?? {};
  const given: unknown = next.delayMs ?? (typeof delayMs === 'function' ? delayMs(attempt) : delayMs);
  if (typeof given === 'number' && given >= 0) return given;
  throw wrongGiven(`"retry" of agent "${agent}"`, 'milliseconds of at least 0', show(given));
}

function lastError({ agent, retry }: AskPolicy, models: number, error: EngineError | undefined): EngineError {
  const attempts = retry?.attempts ?? 1;
  if (error !== undefined && models === 1 && attempts === 1) return error;
  const why = error === undefined ? 'its last answer was refused' : error.message;
  const tries = `${attempts} ${attempts === 1 ? 'try' : 'tries'} with ${models === 1 ? 'its model' : `each of ${models} models`}`;
  return new EngineError('MODEL_RETRIES_EXHAUSTED', `Agent "${agent}" has no answer after ${tries}: ${why}`, {
    cause: error,
    retryable: error?.retryable ?? false,
  });
}

function nameOf(model: string | ChatModel): string {
  return typeof model === 'string' ? model : 'model';
}
