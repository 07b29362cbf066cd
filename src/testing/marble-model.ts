import { concat, concatMap, defer, EMPTY, type Observable, of, throwError } from 'rxjs';
import { EngineError } from '../errors.js';
import { isJsonObject, type JsonObject } from '../json.js';
import type { ChatDelta, ChatModel, ChatRequest } from '../models/chat-model.js';
import { requireObject, requireText } from '../operators/invalid-option.js';
import { type MarbleScheduler, type MarbleValues, playDiagrams, type SubscriptionFrames } from './marble.js';

/** A call of a tool that a model of marbles asks for; `toolCall` makes it. */
export interface MarbleCall {
  readonly type: 'marble-call';
  readonly name: string;
  readonly arguments: JsonObject;
  readonly id: string | undefined;
}

/** A model whose answers are diagrams. */
export interface MarbleModel extends ChatModel {
  /** What it was asked, in order. */
  readonly requests: readonly ChatRequest[];
  /** When each diagram was played, for `expectSubscriptions(model.subscriptions[0])`. */
  readonly subscriptions: readonly SubscriptionFrames[][];
}

/** A letter of a model: a call of a tool. @param id default: `call_1`, `call_2` … of the model */
export function toolCall(name: string, values: JsonObject = {}, id?: string): MarbleCall {
  requireText('toolCall', 'name', name);
  requireObject('toolCall', 'values', values);
  return { type: 'marble-call', name, arguments: values, id };
}

/**
 * A model whose nth request plays the nth diagram; retries are requests, too.
 *
 * ```text
 * diagram  --a--b|        { a: 'Hello ', b: toolCall('search', { query: 'Oslo' }) }
 * answer   --T--C(F|)     (text, call of a tool, the reason why it ended)
 * ```
 *
 * A letter is a text, a `toolCall(…)` or a piece as models give it. `#` fails: MODEL_UNAVAILABLE, retryable, unless `values` has another error. A
 * request for which there is no diagram is MODEL_REQUEST.
 *
 * @throws EngineError OPTION_INVALID
 */
export function marbleModel(
  scheduler: MarbleScheduler,
  diagrams: readonly string[],
  values: MarbleValues<ChatDelta | MarbleCall> = {},
): MarbleModel {
  const error = new EngineError('MODEL_UNAVAILABLE', 'The model of the test is not available.', { retryable: true });
  const answers = playDiagrams('marbleModel', scheduler, diagrams, values, error);
  const requests: ChatRequest[] = [];
  let calls = 0;
  const deltaOf = (value: unknown, index: number): ChatDelta => {
    if (!isCall(value))
      return isJsonObject(value as never) ? (value as ChatDelta) : { type: 'text', text: String(value) };
    calls += 1;
    const { name, id = `call_${calls}` } = value;
    return { type: 'tool-call', index, id, name, arguments: JSON.stringify(value.arguments) };
  };
  const play = (values$: Observable<unknown>): Observable<ChatDelta> => {
    let ownCalls = 0;
    let hasFinished = false;
    const deltas$ = values$.pipe(
      concatMap((value) => {
        const delta = deltaOf(value, ownCalls);
        if (delta.type === 'tool-call') ownCalls += 1;
        if (delta.type === 'finish') hasFinished = true;
        return of(delta);
      }),
    );
    const finish = (): Observable<ChatDelta> =>
      hasFinished ? EMPTY : of({ type: 'finish', reason: ownCalls > 0 ? 'tool_calls' : 'stop' });
    return concat(deltas$, defer(finish));
  };
  return {
    requests,
    subscriptions: answers.map(({ subscriptions }) => subscriptions),
    chat: (request) =>
      defer(() => {
        requests.push(request);
        const answer = answers[requests.length - 1];
        return answer === undefined
          ? throwError(() => unexpected(requests.length, answers.length))
          : play(answer.values$);
      }),
  };
}

function isCall(value: unknown): value is MarbleCall {
  return isJsonObject(value as never) && (value as { type?: unknown }).type === 'marble-call';
}

function unexpected(request: number, diagrams: number): EngineError {
  const message = `The model of the test was asked ${request} times and has ${diagrams} diagrams; give marbleModel one more, or find out who asks.`;
  return new EngineError('MODEL_REQUEST', message);
}
