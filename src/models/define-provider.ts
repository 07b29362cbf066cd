/** What a provider of models is: how its server is called, per kind of model. */
import type { ChatModel } from './chat-model.js';
import type { Connection } from './connection.js';

/** Options of one call. */
export interface CallOptions {
  /** Ends the call at once. */
  readonly signal?: AbortSignal | undefined;
  /** Sent with every request of the call, such as `traceContextOf` gives. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A format of sound. */
export type SpeechFormat = 'mp3' | 'opus' | 'aac' | 'flac' | 'wav' | 'pcm';

/** Spoken text. */
export interface SpeechAudio {
  readonly bytes: Uint8Array;
  /** For example `audio/mpeg`. */
  readonly mediaType: string;
}

/** One request for one model; retries and time limits are the router's. */
export interface ModelCall extends CallOptions {
  /** The provider's own name of the model. */
  readonly model: string;
  readonly signal: AbortSignal;
}

/** Texts to turn into vectors, at most 64. */
export interface EmbedCall extends ModelCall {
  readonly texts: readonly string[];
}

/** Documents to rank for a query. */
export interface RerankCall extends ModelCall {
  readonly query: string;
  readonly documents: readonly string[];
}

/** A text to read aloud. */
export interface SpeechCall extends ModelCall {
  readonly text: string;
  readonly voice: string;
  readonly format: SpeechFormat;
}

/** What the configuration says about a server beside its address. */
export interface ChatSettings {
  /** Whether the server accepts OpenAI's `stream_options.include_usage`. */
  readonly streamUsage: boolean;
}

/**
 * A kind of server. What is left out the server cannot do: asking for such a model is `MODEL_UNKNOWN`.
 *
 * Functions throw, and Observables emit, EngineErrors: those of {@link Connection}, and `MODEL_RESPONSE` for an answer that makes no
 * sense. None of them retries or queues: the router does. `chat` limits the time of a call as `streamAnswer` does.
 */
export interface ProviderDefinition {
  /** The word in the configuration: `"kind": "…"` of a factory. */
  readonly kind: string;
  /** Headers that every request carries, with the key in them. */
  headers(apiKey: string | undefined): Readonly<Record<string, string>>;
  /** Path of chats below the base URL; a base URL that ends with it works as well. */
  readonly chatPath: string;
  /** A chat model: one subscription is one request. */
  chat(connection: Connection, settings: ChatSettings): ChatModel;
  /** One vector per text, in order. */
  embed?(connection: Connection, call: EmbedCall): Promise<number[][]>;
  /** One score per document, in order; higher is better. */
  rerank?(connection: Connection, call: RerankCall): Promise<number[]>;
  speech?(connection: Connection, call: SpeechCall): Promise<SpeechAudio>;
}

/** Declares a provider: one file in `src/models/providers`, one line in its index, one test. */
export function defineProvider(definition: ProviderDefinition): ProviderDefinition {
  return definition;
}
