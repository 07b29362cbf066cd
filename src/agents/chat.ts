/** Chat models, chosen by name and called so that observers see every call. */
import { Observable, tap } from 'rxjs';
import { ModelCallReports } from '../compose/models/model-call-reports.js';
import type { Call } from '../graph/node-events.js';
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
  const { id, model, provider, request, parent, read } = call;
  return new Observable<Call | T>((subscriber) => {
    const { session, detailBytes = 0 } = context.services;
    const asked = askedOf(request, detailBytes);
    const reports = new ModelCallReports(id, { report: (event) => subscriber.next(event) });
    const traced = reports.start(request, {
      provider,
      session: session?.id,
      ...(parent && { parent }),
      ...(asked && { asked }),
      trace: (at) => context.trace(at),
    });
    const answer$ = model.chat({ ...traced, ready: () => context.ready() }).pipe(
      tap({
        next: (piece) => reports.saw(piece),
        error: (thrown: unknown) => reports.failed(thrown),
        complete: () => reports.ended(),
      }),
    );
    return read(answer$).subscribe(subscriber);
  });
}
