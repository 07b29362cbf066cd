import { z } from 'zod';
import { type AskOptions, askOnce, type CallOptions } from './ask-once.js';
import { unusable } from './provider-error.js';

/** Texts of one request; every provider known takes as many. */
const BATCH = 64;

const EMBEDDINGS_PATH = '/embeddings';

/** A model that turns texts into vectors. */
export interface Embedder {
  /** One vector per text, in order; an empty list asks nobody. */
  embed(texts: readonly string[], options?: CallOptions): Promise<number[][]>;
}

/** With the signal of one request. */
type BatchOptions = CallOptions & { readonly signal: AbortSignal };

const embeddings = z.object({
  data: z.array(z.object({ index: z.int().min(0).optional(), embedding: z.array(z.number()).min(1) })),
});

/**
 * An embedder behind an OpenAI-compatible `POST /embeddings`; 64 texts a request, one request after the other.
 *
 * Errors of `embed`: `MODEL_REQUEST`, `MODEL_UNAVAILABLE`, `MODEL_RESPONSE` (also when vectors are missing).
 */
export function createEmbedder(options: AskOptions): Embedder {
  const embedBatch = async (input: readonly string[], { signal, headers }: BatchOptions): Promise<number[][]> => {
    const { provider, model } = options;
    const body = { model, input, encoding_format: 'float' };
    const call = { path: EMBEDDINGS_PATH, model, headers, signal, body };
    const parsed = embeddings.safeParse(await provider.readJson(call));
    if (!parsed.success) throw unusable(provider.asked(call), `gave no embeddings: ${z.prettifyError(parsed.error)}`);
    const vectors: number[][] = [];
    parsed.data.data.forEach((item, position) => {
      vectors[item.index ?? position] = item.embedding;
    });
    // A hole is an index that was given twice or not at all.
    if (vectors.length !== input.length || vectors.includes(undefined as never)) {
      throw unusable(provider.asked(call), `gave ${parsed.data.data.length} embeddings for ${input.length} texts`);
    }
    return vectors;
  };

  return {
    async embed(texts, { signal, headers } = {}) {
      const vectors: number[][] = [];
      for (let at = 0; at < texts.length; at += BATCH) {
        const batch = texts.slice(at, at + BATCH);
        vectors.push(...(await askOnce(options, (own) => embedBatch(batch, { signal: own, headers }), signal)));
      }
      return vectors;
    },
  };
}
