/** Chat models, chosen by name and called so that observers see every call. */
import { Observable, tap } from 'rxjs';
import { toEngineError } from '../errors.js';
import {
  type Call,
  type CallAttributes,
  callEvent,
  callFinished,
  callStarted,
  type Usage,
} from '../graph/node-events.js';
import type { ChatDelta, ChatMessage, ChatModel, ChatRequest } from '../models/chat-model.js';
import { fitMessages } from '../models/fit-messages.js';
import { requireObject } from '../operators/invalid-option.js';
import { requireService } from '../tools/tool-services.js';
import { askedOf } from './asked.js';
import type { CallContext } from './call-context.js';

/** A model by its name, and what every request to it carries. */
export interface ChatSettings extends Pick<ChatRequest, 'sampling' | 'retries' | 'thinking' | 'chatTemplateKwargs'> {
  /** `model`, `model@Factory` or `model@instance@Factory`; empty: the configured default model. */
  readonly model: string;
}

/** A model, chosen and set up for one place that calls it. */
export interface Chat {
  readonly supportsImages: boolean;
  /** Tokens. @default unknown */
  readonly contextLength: number | undefined;
  /** A request with these messages, as far as they fit into the model, and the settings. */
  request(messages: readonly ChatMessage[]): ChatRequest;
  /**
   * Calls the model; see {@link askModel}.
   *
   * @param read turns the answer into the events of the caller.
   */
  ask<T>(
    request: ChatRequest,
    read: (answer$: Observable<ChatDelta>) => Observable<T>,
    call?: CallPlace,
  ): Observable<Call | T>;
}

/** Which of several calls of one place a call is. */
export interface CallPlace {
  /** Unique among the calls of the place. @default 'chat-1' */
  readonly id?: string | undefined;
  /** Id of the call that this one is part of. @default none */
  readonly parent?: string | undefined;
}

/**
 * Chooses a model by its name; every request carries the settings and, as its user, the session of the services.
 *
 * @throws EngineError `MODEL_UNKNOWN`; `CONFIG_INVALID` when the context has no models.
 */
export function openChat(context: CallContext, chosen: ChatSettings): Chat {
  requireObject('openChat', 'context', context?.services, 'what callContext({ services }) gives');
  requireObject('openChat', 'settings', chosen, 'an object with "model"');
  const { model: wanted, ...settings } = chosen;
  const { node, services } = context;
  const models = requireService(services, 'models', `Node "${node}"`, { node });
  const { model, name, provider, supportsImages, contextLength } = models.chat(wanted);
  const user = services.session?.id;
  return {
    supportsImages,
    contextLength,
    request: (messages) => ({
      ...settings,
      model: name,
      user,
      // Without a known length nothing is cut.
      messages: contextLength === undefined ? messages : fitMessages(messages, { contextLength }),
    }),
    ask: (request, read, { id = 'chat-1', parent } = {}) =>
      askModel(context, { id, model, provider, request, parent, read }),
  };
}

/** One call of a chat model. */
export interface ModelCall<T> {
  readonly id: string;
  readonly model: ChatModel;
  readonly request: ChatRequest;
  /** The provider's name in the configuration. @default not reported */
  readonly provider?: string | undefined;
  /** Id of the call that this one is part of. @default none */
  readonly parent?: string | undefined;
  /** Turns the answer into the events of the caller. */
  readonly read: (answer$: Observable<ChatDelta>) => Observable<T>;
}

/**
 * Calls a model and reports the call to observers: its start, its first piece, its end. The request carries the trace.
 *
 * ```text
 * answer    --t--t--u--f|
 * result    S-(Ft)-t-u-(Es|)       (started, first piece, the caller's own events, finished, the caller's last event)
 * ```
 *
 * Errors: those of the model, after the end of the call.
 */
export function askModel<T>(context: CallContext, call: ModelCall<T>): Observable<Call | T> {
  const { id, model, request, parent, read } = call;
  return new Observable<Call | T>((subscriber) => {
    let usage: Omit<Usage, 'type'> | undefined;
    let reason: string | undefined;
    let hasBegun = false;
    const attributes = attributesOf(context, call);
    const asked = askedOf(request, context.services.detailBytes ?? 0);
    const about = { ...(parent && { parent }), ...(asked && { asked }) };
    subscriber.next(callStarted({ id, kind: 'model', name: request.model, attributes, ...about }));
    // Read only now: tracers know the call once its start was reported.
    const trace = { ...context.trace(id) };
    const isTraced = Object.keys(trace).length > 0;
    const headers = isTraced ? { ...request.headers, ...trace } : request.headers;
    const answer$ = model.chat({ ...request, headers, ready: () => context.ready() }).pipe(
      tap({
        next(piece) {
          if (piece.type === 'usage') {
            const { promptTokens, completionTokens, totalTokens } = piece;
            usage = { promptTokens, completionTokens, totalTokens };
          } else if (piece.type === 'finish') reason = piece.reason;
          else if (!hasBegun) {
            hasBegun = true;
            subscriber.next(callEvent({ id, name: 'stream_started' }));
          }
        },
        error(thrown: unknown) {
          const error = toEngineError(thrown, 'MODEL_UNAVAILABLE');
          subscriber.next(callFinished({ id, error, ...(usage && { usage }) }));
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

/** Facts about a call for observers: the settings of the request, nothing of its messages. */
function attributesOf(
  { services }: CallContext,
  { request, provider }: Pick<ModelCall<unknown>, 'request' | 'provider'>,
): CallAttributes {
  const { temperature, topP, maxTokens, presencePenalty, frequencyPenalty } = request.sampling ?? {};
  const given: Readonly<Record<string, string | number | undefined>> = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': request.model,
    'gen_ai.request.temperature': temperature,
    'gen_ai.request.top_p': topP,
    'gen_ai.request.max_tokens': maxTokens,
    'gen_ai.request.presence_penalty': presencePenalty,
    'gen_ai.request.frequency_penalty': frequencyPenalty,
    'gen_ai.conversation.id': services.session?.id,
  };
  return Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string | number] => entry[1] !== undefined),
  );
}
