import { Observable, tap } from 'rxjs';
import { toEngineError } from '../../errors.js';
import type { Activation } from '../../graph/component.js';
import type { NodeEvent, Usage } from '../../graph/node-events.js';
import { type CallAttributes, callEvent, callFinished, callStarted } from '../../graph/node-events.js';
import { traceContextOf } from '../../graph/trace-context.js';
import type { ChatDelta, ChatModel, ChatRequest } from '../../models/chat-model.js';
import { optionalServices } from '../services.js';

/** One call of a chat model by a node. */
export interface ModelCall {
  /** Unique among the calls of the activation. */
  readonly id: string;
  readonly model: ChatModel;
  readonly request: ChatRequest;
  /** Whose model it is, as the configuration names it. @default not said */
  readonly provider?: string | undefined;
  /** Id of the call that this one is part of. @default the node itself makes it */
  readonly parent?: string | undefined;
  /** What the node makes of the answer. */
  readonly read: (answer$: Observable<ChatDelta>) => Observable<NodeEvent>;
}

/**
 * Asks a model and tells those who watch the run about it: when the call starts, when its first piece comes, how it ends. The
 * request carries the trace on.
 *
 * ```text
 * answer    --t--t--u--f|
 * result    S-(Ft)-t-u-(Es|)       (started, first piece, the node's own events, finished, settled)
 * ```
 */
export function askModel(activation: Activation, call: ModelCall): Observable<NodeEvent> {
  const { id, model, request, read } = call;
  return new Observable<NodeEvent>((subscriber) => {
    let usage: Omit<Usage, 'type'> | undefined;
    let reason: string | undefined;
    let hasBegun = false;
    const { parent } = call;
    const attributes = modelAttributes(activation, call);
    subscriber.next(callStarted({ id, kind: 'model', name: request.model, attributes, ...(parent && { parent }) }));
    // Asked only now: whoever traces the run knows the call from here on.
    const trace = { ...traceContextOf(activation, id) };
    const isTraced = Object.keys(trace).length > 0;
    const asked = isTraced ? { ...request, headers: { ...request.headers, ...trace } } : request;
    const answer$ = model.chat(asked).pipe(
      tap({
        next(piece) {
          if (piece.type === 'usage') usage = tokensOf(piece);
          else if (piece.type === 'finish') reason = piece.reason;
          else if (!hasBegun) {
            hasBegun = true;
            subscriber.next(callEvent({ id, name: 'stream_started' }));
          }
        },
        error(thrown: unknown) {
          subscriber.next(callFinished({ id, error: toEngineError(thrown, 'NODE_FAILED'), ...(usage && { usage }) }));
        },
        complete() {
          const end = reason === undefined ? {} : { attributes: { 'gen_ai.response.finish_reasons': [reason] } };
          subscriber.next(callFinished({ id, ...(usage && { usage }), ...end }));
        },
      }),
    );
    return read(answer$).subscribe(subscriber);
  });
}

function tokensOf({ promptTokens, completionTokens, totalTokens }: Omit<Usage, 'type'>): Omit<Usage, 'type'> {
  return { promptTokens, completionTokens, totalTokens };
}

/** Facts about a call for those who watch the run: what is asked for, without a word of the question. */
export function modelAttributes(
  activation: Activation,
  { request, provider }: Pick<ModelCall, 'request' | 'provider'>,
): CallAttributes {
  const { temperature, topP, maxTokens, presencePenalty, frequencyPenalty } = request.sampling ?? {};
  const { session } = optionalServices(activation);
  const given: Readonly<Record<string, string | number | undefined>> = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': request.model,
    'gen_ai.request.temperature': temperature,
    'gen_ai.request.top_p': topP,
    'gen_ai.request.max_tokens': maxTokens,
    'gen_ai.request.presence_penalty': presencePenalty,
    'gen_ai.request.frequency_penalty': frequencyPenalty,
    'gen_ai.conversation.id': session?.id,
  };
  return Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string | number] => entry[1] !== undefined),
  );
}
