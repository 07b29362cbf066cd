import type { JsonObject } from '../../../src/json.js';
import { createKnowledgeSearch } from '../../../src/knowledge/base/search-datasets.js';
import { createSearchIndexes } from '../../../src/knowledge/base/search-indexes.js';
import { createMemoryIndexStorage } from '../../../src/knowledge/search/memory-index-storage.js';
import { newBase } from '../../knowledge/base/support/new-base.js';
import { type Frame, openStream, type StreamClient } from '../support/event-stream.js';
import { type FakeModel, startFakeModel } from '../support/fake-model.js';
import { startServer, type TestServer, type TestServerOptions } from '../support/server.js';

/** A server with chats, and the model that answers in them. */
export interface ChatServer extends TestServer {
  readonly model: FakeModel;
  /** Asks and reads the events as they come. */
  ask(body: JsonObject, headers?: Record<string, string>): Promise<StreamClient>;
  /** Follows a chat. */
  follow(run: string, headers?: Record<string, string>, query?: string): Promise<StreamClient>;
}

/** A question that no rule answers by itself, to a model alone. */
export const FREE = {
  message: 'Please write a line about lighthouses',
  llm_id: 'm',
  options: { mode: 'SYSTEM' },
} as const;

export async function startChatServer({ env = {}, services, ...options }: TestServerOptions = {}): Promise<ChatServer> {
  const model = await startFakeModel();
  const base = newBase({ indexes: createSearchIndexes({ storage: createMemoryIndexStorage() }) as never });
  base.start();
  const dataset = await base.dataset();
  await base.ingest(dataset, 'lamps.md', 'The lamp of a lighthouse turns once in ten seconds.');
  const server = await startServer({
    env: { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'k', ...env },
    services: { knowledge: createKnowledgeSearch(async () => base.base, 'nobody'), ...services },
    ...options,
  });
  return {
    ...server,
    model,
    ask: (body, headers = {}) => openStream(`${server.url}/api/v1/chat/stream`, { body, headers }),
    follow: (run, headers = {}, query = '') =>
      openStream(`${server.url}/api/v1/chat/runs/${run}/events${query}`, { headers }),
  };
}

/** Types of events, `[DONE]` for the end mark. */
export function typesOf(frames: readonly Frame[]): string[] {
  return frames.map(({ text, json }) => json?.type ?? text);
}

/** The answer behind the last `retract`. */
export function answerIn(frames: readonly Frame[]): string {
  const from = frames.findLastIndex(({ json }) => json?.type === 'retract') + 1;
  return frames
    .slice(from)
    .flatMap(({ json }) => (json?.type === 'token' ? [json.content] : []))
    .join('');
}
