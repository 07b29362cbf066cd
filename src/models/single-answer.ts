/** Models that answer a question with one value: embedders, rerankers, speech. */
import { EngineError } from '../errors.js';
import { firstValue, fromAbortable } from '../operators/from-abortable.js';
import { retryWith } from '../operators/retry-with.js';
import type { Connection } from './connection.js';
import type { CallOptions, ProviderDefinition, SpeechAudio, SpeechFormat } from './define-provider.js';
import { endAfter } from './end-after.js';
import { type RetryPolicy, retryOptions } from './retry-policy.js';

/** Texts of one request; every provider known takes as many. */
const BATCH = 64;

/** A model that turns texts into vectors. */
export interface Embedder {
  /** One vector per text, in order; an empty list makes no request. */
  embed(texts: readonly string[], options?: CallOptions): Promise<number[][]>;
}

/** A model that scores how well documents answer a query. */
export interface Reranker {
  /** One score per document, in their order, higher is better; an empty list makes no request. */
  rerank(query: string, documents: readonly string[], options?: CallOptions): Promise<number[]>;
}

/** How to speak. */
export interface SpeechOptions extends CallOptions {
  /** A voice of the model. @default "alloy" */
  readonly voice?: string | undefined;
  /** @default "mp3" */
  readonly format?: SpeechFormat | undefined;
}

/** A model that reads text aloud. */
export interface SpeechModel {
  speak(text: string, options?: SpeechOptions): Promise<SpeechAudio>;
}

/** A model at a server, and how failed calls are retried. */
export interface AskOptions {
  readonly definition: ProviderDefinition;
  readonly connection: Connection;
  readonly model: string;
  readonly retry?: RetryPolicy | undefined;
}

/**
 * An embedder; 64 texts a request, one request after the other.
 *
 * Errors of `embed`: `MODEL_REQUEST`, `MODEL_UNAVAILABLE`, `MODEL_RESPONSE` (also when vectors are missing).
 * @throws EngineError `MODEL_UNKNOWN` for a provider without embedding models.
 */
export function createEmbedder(options: AskOptions): Embedder {
  const { definition, connection, model } = options;
  const embed = required(definition.embed, options, 'embedding');
  return {
    async embed(texts, { signal, headers } = {}) {
      const vectors: number[][] = [];
      for (let at = 0; at < texts.length; at += BATCH) {
        const batch = texts.slice(at, at + BATCH);
        const work = (own: AbortSignal) => embed(connection, { model, texts: batch, headers, signal: own });
        vectors.push(...(await askOnce(options, work, signal)));
      }
      return vectors;
    },
  };
}

/**
 * A reranker.
 *
 * Errors of `rerank`: `MODEL_REQUEST`, `MODEL_UNAVAILABLE`, `MODEL_RESPONSE` (also when scores are missing).
 * @throws EngineError `MODEL_UNKNOWN` for a provider without reranking models.
 */
export function createReranker(options: AskOptions): Reranker {
  const { definition, connection, model } = options;
  const rerank = required(definition.rerank, options, 'rerank');
  return {
    async rerank(query, documents, { signal, headers } = {}) {
      if (documents.length === 0) return [];
      const work = (own: AbortSignal) => rerank(connection, { model, query, documents, headers, signal: own });
      return askOnce(options, work, signal);
    },
  };
}

/**
 * A speech model.
 *
 * Errors of `speak`: `MODEL_REQUEST`, `MODEL_UNAVAILABLE`, `MODEL_RESPONSE` (also for an answer without sound).
 * @throws EngineError `MODEL_UNKNOWN` for a provider without speech models.
 */
export function createSpeechModel(options: AskOptions): SpeechModel {
  const { definition, connection, model } = options;
  const speech = required(definition.speech, options, 'tts');
  return {
    speak(text, { voice = 'alloy', format = 'mp3', headers, signal } = {}) {
      const work = (own: AbortSignal) => speech(connection, { model, text, voice, format, headers, signal: own });
      return askOnce(options, work, signal);
    },
  };
}

function required<T>(ask: T | undefined, { definition, model }: AskOptions, what: string): T {
  if (ask !== undefined) return ask;
  throw new EngineError(
    'MODEL_UNKNOWN',
    `Model ${JSON.stringify(model)} is at a server of kind "${definition.kind}", which has no models for ${what}. Name one of another factory.`,
  );
}

/**
 * Asks for one value, with the retries and the time limit of chat calls.
 *
 * Aborting `signal` closes the connection at once, or ends the wait, and rejects with the signal's reason.
 */
function askOnce<T>(
  { connection, model, retry = {} }: AskOptions,
  work: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const answer$ = fromAbortable(work).pipe(endAfter(connection.timeoutMs, model), retryWith(retryOptions(retry)));
  return firstValue(answer$, signal);
}
