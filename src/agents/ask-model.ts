/** One model call of an agent. */
import { catchError, concat, defer, Observable, type OperatorFunction, of, throwError } from 'rxjs';
import { toEngineError } from '../errors.js';
import type { CallAttributes } from '../graph/node-events.js';
import type { ChatDelta, ChatMessage, ChatModel, ChatRequest, ToolDefinition } from '../models/chat-model.js';
import type { AgentEvent, CallEnded, CallHappened, PendingCall } from './agent-events.js';

/** A model and how it is asked. */
export interface Asking {
  readonly model: ChatModel;
  /** The model's name in calls that people see. */
  readonly modelName: string;
  /** What is said of every model call beside. @default nothing */
  readonly callAttributes?: CallAttributes;
  /** The call that the agent itself is, when it is an inner one. */
  readonly parent?: string;
  /** Makes a request that fits the model; `call` is the id of the call that it is for. */
  request(messages: readonly ChatMessage[], tools: readonly ToolDefinition[], call: string): ChatRequest;
}

/** What a model call gave; filled while its events pass. */
export interface Draft {
  text: string;
  readonly calls: PendingCall[];
  usage: CallEnded['usage'];
  finishReason: string;
}

/** Tool calls that are made of one answer; further ones are dropped. */
const MAX_CALLS = 64;

/** A draft of an answer that has not begun. */
export function newDraft(): Draft {
  return { text: '', calls: [], usage: undefined, finishReason: 'unknown' };
}

/**
 * Asks the model once.
 *
 * ```text
 * model     --t--c--u--f|        (text, tool call, usage, finish)
 * result    b-(mt)--u---(e|)     (began, its answer begins, text, usage, ended; the draft holds the call)
 * ```
 *
 * Errors: those of the model, behind the end of the call.
 */
export function askModel(
  asking: Asking,
  id: string,
  messages: readonly ChatMessage[],
  tools: readonly ToolDefinition[],
  draft: Draft,
): Observable<AgentEvent> {
  const { parent, modelName: name, callAttributes: attributes } = asking;
  const ended = (more: Partial<CallEnded>): CallEnded => {
    return { type: 'call-ended', id, kind: 'model', ...(draft.usage && { usage: draft.usage }), ...more };
  };
  return concat(
    of<AgentEvent>({
      type: 'call-began',
      id,
      kind: 'model',
      name,
      ...(parent && { parent }),
      ...(attributes && { attributes }),
    }),
    defer(() => asking.model.chat(asking.request(messages, tools, id))).pipe(
      takenInto(draft, { type: 'call-moment', id, name: 'stream_started' }),
      catchError((thrown: unknown) => {
        const { code, message } = toEngineError(thrown, 'MODEL_UNAVAILABLE');
        return concat(
          of(ended({ error: { code, message } })),
          throwError(() => thrown),
        );
      }),
    ),
    defer(() => of(ended({ attributes: { 'gen_ai.response.finish_reasons': [draft.finishReason] } }))),
  );
}

/** What is said about the pieces of an answer, which the draft takes; `begins` in front of the first one. */
function takenInto(draft: Draft, begins: CallHappened): OperatorFunction<ChatDelta, AgentEvent> {
  return (source) =>
    new Observable((subscriber) => {
      let hasBegun = false;
      return source.subscribe({
        next(piece) {
          if (!hasBegun && piece.type !== 'usage' && piece.type !== 'finish') {
            hasBegun = true;
            subscriber.next(begins);
          }
          const event = take(piece, draft);
          if (event !== undefined) subscriber.next(event);
        },
        error: (error: unknown) => subscriber.error(error),
        complete: () => subscriber.complete(),
      });
    });
}

/** Adds a piece to the draft; gives what is said about it. */
function take(piece: ChatDelta, draft: Draft): AgentEvent | undefined {
  switch (piece.type) {
    case 'text':
      draft.text += piece.text;
      return piece;
    case 'thinking':
      return piece;
    case 'tool-call': {
      const { id, name, arguments: args } = piece;
      if (draft.calls.length < MAX_CALLS) draft.calls.push({ id, name, arguments: args });
      return undefined;
    }
    case 'usage': {
      const { promptTokens, completionTokens, totalTokens } = piece;
      draft.usage = { promptTokens, completionTokens, totalTokens };
      return { type: 'usage', ...draft.usage };
    }
    case 'finish':
      draft.finishReason = piece.reason;
      return undefined;
  }
}
