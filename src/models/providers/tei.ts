/** Hugging Face's Text Embeddings Inference: embedding and reranking models with routes of its own. */
import { throwError } from 'rxjs';
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import type { Connection } from '../connection.js';
import { defineProvider, type EmbedCall, type RerankCall } from '../define-provider.js';
import { unusable } from '../provider-error.js';
import { scoresInOrder } from '../scores-in-order.js';

const EMBED_PATH = '/embed';
const RERANK_PATH = '/rerank';

const embeddings = z.array(z.array(z.number()).min(1));

const ranking = z.array(z.object({ index: z.int().min(0), score: z.number() }));

/**
 * `POST /embed` and `/rerank` of a server that serves one model, whose name is not sent. Texts that are too long for the model are cut by the server.
 *
 * Source: the OpenAPI description of text-embeddings-inference 1.8.
 */
export const tei = defineProvider({
  kind: 'tei',
  chatPath: '',
  headers: (apiKey) => (apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
  chat: () => ({
    chat: ({ model }) =>
      throwError(() => {
        const named = JSON.stringify(model);
        const message = `Model ${named} is at a server of kind "tei", which has no chat models. Name one of another factory.`;
        return new EngineError('MODEL_UNKNOWN', message);
      }),
  }),
  embed,
  rerank,
});

async function embed(connection: Connection, { model, texts, ...call }: EmbedCall): Promise<number[][]> {
  const post = { ...call, model, path: EMBED_PATH, body: { inputs: texts, truncate: true } };
  const parsed = embeddings.safeParse(await connection.readJson(post));
  if (!parsed.success)
    throw unusable(connection.targetOf(post), `gave no embeddings: ${z.prettifyError(parsed.error)}`);
  if (parsed.data.length !== texts.length) {
    throw unusable(connection.targetOf(post), `gave ${parsed.data.length} embeddings for ${texts.length} texts`);
  }
  return parsed.data;
}

async function rerank(connection: Connection, { model, query, documents, ...call }: RerankCall): Promise<number[]> {
  const post = { ...call, model, path: RERANK_PATH, body: { query, texts: documents, truncate: true } };
  const parsed = ranking.safeParse(await connection.readJson(post));
  if (!parsed.success) throw unusable(connection.targetOf(post), `gave no ranking: ${z.prettifyError(parsed.error)}`);
  return scoresInOrder(parsed.data, documents.length, connection.targetOf(post));
}
