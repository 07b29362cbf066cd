/** What observers are told of one call of a chat model, whichever place makes it: a step, or a node of a canvas. */
import { toEngineError } from '../../errors.js';
import {
  type Call,
  type CallAttributes,
  type CallStart,
  callEvent,
  callFinished,
  callStarted,
} from '../../graph/node-events.js';
import type { ChatDelta, ChatRequest } from '../../models/chat-model.js';
import type { TokenUsage } from '../../models/messages.js';
import type { TraceContext } from '../../trace-context.js';
import { isTold } from '../engine/step-at.js';

/** What is known of a call beside its request. */
export interface ModelCallFacts extends Pick<CallStart, 'parent' | 'asked'> {
  /** The provider's name in the configuration. @default not reported */
  readonly provider?: string | undefined;
  /** Id of the conversation. @default not reported */
  readonly session?: string | undefined;
  /** The trace headers of the call. */
  trace(call: string): TraceContext;
}

/**
 * The reports of one call: its start, its first piece, its end with what it took.
 *
 * ```text
 * answer     --t--t--u--f|
 * reports    S-F---------E
 * ```
 */
export class ModelCallReports {
  readonly #id: string;
  readonly #to: { report(event: Call): void };
  #usage: TokenUsage | undefined;
  #reason: string | undefined;
  #hasBegun = false;

  constructor(id: string, to: { report(event: Call): void }) {
    this.#id = id;
    this.#to = to;
  }

  /** The call starts. Gives the request with the headers of its trace. */
  start(request: ChatRequest, { provider, session, parent, asked, trace }: ModelCallFacts): ChatRequest {
    const id = this.#id;
    if (isTold(this.#to)) {
      const attributes = attributesOf(request, provider, session);
      const about = { ...(parent && { parent }), ...(asked && { asked }) };
      this.#to.report(callStarted({ id, kind: 'model', name: request.model, attributes, ...about }));
    }
    // Read only now: tracers know the call once its start was reported.
    const traced = trace(id);
    return Object.keys(traced).length === 0 ? request : { ...request, headers: { ...request.headers, ...traced } };
  }

  /** A piece of the answer has come. */
  saw(piece: ChatDelta): void {
    if (piece.type === 'usage') this.#usage = plainUsage(piece);
    else if (piece.type === 'finish') this.#reason = piece.reason;
    else if (!this.#hasBegun) {
      this.#hasBegun = true;
      if (isTold(this.#to)) this.#to.report(callEvent({ id: this.#id, name: 'stream_started' }));
    }
  }

  failed(thrown: unknown): void {
    const error = toEngineError(thrown, 'MODEL_UNAVAILABLE');
    this.#to.report(callFinished({ id: this.#id, error, ...this.#counts() }));
  }

  ended(): void {
    if (!isTold(this.#to)) return;
    const reason = this.#reason;
    const end = reason === undefined ? {} : { attributes: { 'gen_ai.response.finish_reasons': [reason] } };
    this.#to.report(callFinished({ id: this.#id, ...this.#counts(), ...end }));
  }

  #counts(): { readonly usage?: TokenUsage } {
    return this.#usage === undefined ? {} : { usage: this.#usage };
  }
}

/** Counts of tokens without anything else that a piece says. */
export function plainUsage({ promptTokens, completionTokens, totalTokens }: TokenUsage): TokenUsage {
  return { promptTokens, completionTokens, totalTokens };
}

/** Facts about a call: the settings of the request, nothing of its messages. */
function attributesOf(
  { model, sampling = {} }: ChatRequest,
  provider: string | undefined,
  session: string | undefined,
): CallAttributes {
  const { temperature, topP, maxTokens, presencePenalty, frequencyPenalty } = sampling;
  const given: Readonly<Record<string, string | number | undefined>> = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': model,
    'gen_ai.request.temperature': temperature,
    'gen_ai.request.top_p': topP,
    'gen_ai.request.max_tokens': maxTokens,
    'gen_ai.request.presence_penalty': presencePenalty,
    'gen_ai.request.frequency_penalty': frequencyPenalty,
    'gen_ai.conversation.id': session,
  };
  const attributes: Record<string, string | number> = {};
  for (const name in given) {
    const value = given[name];
    if (value !== undefined) attributes[name] = value;
  }
  return attributes;
}
