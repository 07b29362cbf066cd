import { z } from 'zod';
import { type AskOptions, askOnce, type CallOptions } from './ask-once.js';
import { unusable } from './provider-error.js';

const RERANK_PATH = '/rerank';

/** A model that says how well documents answer a query. */
export interface Reranker {
  /** One score per document, in their order, higher is better; an empty list asks nobody. */
  rerank(query: string, documents: readonly string[], options?: CallOptions): Promise<number[]>;
}

const ranking = z.object({
  results: z.array(z.object({ index: z.int().min(0), relevance_score: z.number() })),
});

/**
 * A reranker behind `POST /rerank` as Jina, Cohere and vLLM have it.
 *
 * Errors of `rerank`: `MODEL_REQUEST`, `MODEL_UNAVAILABLE`, `MODEL_RESPONSE` (also when scores are missing).
 */
export function createReranker(options: AskOptions): Reranker {
  const { provider, model } = options;

  const ask = async (
    query: string,
    documents: readonly string[],
    { signal, headers }: CallOptions & { readonly signal: AbortSignal },
  ): Promise<number[]> => {
    const body = { model, query, documents, top_n: documents.length };
    const call = { path: RERANK_PATH, model, headers, signal, body };
    const parsed = ranking.safeParse(await provider.readJson(call));
    if (!parsed.success) throw unusable(provider.asked(call), `gave no ranking: ${z.prettifyError(parsed.error)}`);
    const scores = new Map(parsed.data.results.map((result) => [result.index, result.relevance_score]));
    return documents.map((_, index) => {
      const score = scores.get(index);
      if (score === undefined) throw unusable(provider.asked(call), `gave no score for document ${index}`);
      return score;
    });
  };

  return {
    rerank: async (query, documents, { signal, headers } = {}) =>
      documents.length === 0 ? [] : askOnce(options, (own) => ask(query, documents, { signal: own, headers }), signal),
  };
}
