import type { Observable } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { Activation } from '../../graph/component.js';
import { type NodeEvent, type Notice, warning } from '../../graph/node-events.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { ChatMessage, ChatModel, ChatRequest } from '../../models/chat-model.js';
import { fitMessages } from '../../models/fit-messages.js';
import { servicesOf } from '../services.js';
import { askModel, type ModelCall } from './ask-model.js';
import { type ModelParams, retriesOf, samplingOf } from './params.js';

/** A model, chosen and set up for one activation. */
export interface Chat {
  readonly model: ChatModel;
  /** Whose model it is, as the configuration names it. */
  readonly provider: string | undefined;
  readonly supportsImages: boolean;
  /** Tokens; undefined when nobody said. */
  readonly contextLength: number | undefined;
  /** A request with these messages, as far as they fit into the model, and the node's settings. */
  request(messages: readonly ChatMessage[]): ChatRequest;
  /** Asks the model, see {@link askModel}; `id` tells several calls of one activation apart. */
  ask(request: ChatRequest, read: ModelCall['read'], id?: string): Observable<NodeEvent>;
  readonly warnings: readonly Notice[];
}

/**
 * Chooses the model that a node names and gathers what every call of it carries: sampling, retries, the end user, and
 * `sys.chat_template_kwargs` (an object, or a text with one).
 *
 * @throws EngineError `MODEL_UNKNOWN`, or `CONFIG_INVALID` when the run has no models.
 */
export function openChat(activation: Activation, params: ModelParams): Chat {
  const { models, session } = servicesOf(activation);
  const { model, name, provider, supportsImages, contextLength } = models.chat(params.llm_id);
  const { chatTemplateKwargs, warnings } = templateKwargs(activation);
  const settings: Omit<ChatRequest, 'messages'> = {
    model: name,
    sampling: samplingOf(params),
    retries: retriesOf(params),
    thinking: params.thinking === 'enabled' || params.thinking === 'disabled' ? params.thinking : undefined,
    chatTemplateKwargs,
    user: session?.id,
  };
  return {
    model,
    provider,
    supportsImages,
    contextLength,
    warnings,
    request: (messages) => ({ ...settings, messages: fitting(messages, contextLength) }),
    ask: (request, read, id = 'chat-1') => askModel(activation, { id, model, provider, request, read }),
  };
}

/** The error of a node whose prompts leave nothing to ask. */
export function nothingToAsk(node: string): EngineError {
  return new EngineError(
    'NODE_FAILED',
    `Node "${node}" has nothing to ask: its last message is not a user's or is empty. Give it a user prompt with text.`,
    { node },
  );
}

/** Nothing is cut while nobody said how much the model reads. */
function fitting(messages: readonly ChatMessage[], contextLength: number | undefined): readonly ChatMessage[] {
  return contextLength === undefined ? messages : fitMessages(messages, { contextLength });
}

function templateKwargs(activation: Activation): { chatTemplateKwargs?: JsonObject; warnings: readonly Notice[] } {
  const lookup = activation.source.variable('sys.chat_template_kwargs');
  const value = lookup.status === 'found' ? lookup.value : null;
  if (value === null || value === '') return { warnings: [] };
  const parsed = typeof value === 'string' ? parseObject(value) : value;
  if (isJsonObject(parsed)) return { chatTemplateKwargs: parsed, warnings: [] };
  return { warnings: [warning('sys.chat_template_kwargs is not an object and was not sent to the model.')] };
}

function parseObject(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}
