/** Values that no client means, in every field of the routes of chats and datasets, and of what the studio asks: each is answered or refused, and none ends as an unexpected error. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { createKnowledgeBase, type KnowledgeBase } from '../../src/knowledge/base/knowledge-base.js';
import { createSearchIndexes } from '../../src/knowledge/base/search-indexes.js';
import { createMemoryIndexStorage } from '../../src/knowledge/search/memory-index-storage.js';
import { LOCAL_TENANT } from '../../src/settings/access.js';
import type { PostgresStores } from '../../src/stores/postgres/stores.js';
import { API_PREFIX, createApi } from '../../src/transport/app.js';
import type { Route } from '../../src/transport/http/route.js';
import { openServer } from '../stores/support/open-stores.js';
import { describePostgres, type PostgresServer, startPostgres } from '../stores/support/postgres-server.js';
import { makeFolder, removeFolder } from '../stores/support/temporary-folder.js';
import { type Answer, startServer, type TestServer } from './support/server.js';

const TEXTS = ['a\0b', '\ud800', 'constructor', 'x'.repeat(70_000)];

const VALUES: readonly unknown[] = [
  ...TEXTS,
  null,
  1e300,
  -1.5,
  ['\ud800', 'a\0b'],
  ['constructor'],
  [{ key: 'constructor', value: { toString: 1 } }],
  { toString: 1, valueOf: null, length: -1 },
];

/** A body that a route takes, in which one field after another is spoilt. */
const BODIES: Readonly<Record<string, (things: Things) => object>> = {
  'POST /retrieval': ({ dataset }) => ({ question: 'hello', dataset_ids: [dataset] }),
  'POST /datasets/search': ({ dataset }) => ({ question: 'hello', dataset_ids: [dataset] }),
  'POST /datasets/evaluate': ({ dataset }) => ({
    dataset_ids: [dataset],
    questions: [{ id: 'a', category: 'x', question: 'hello', expected_keywords: ['hello'] }],
  }),
  'POST /datasets/:dataset/search': () => ({ question: 'hello' }),
  'POST /datasets': () => ({ name: 'new' }),
  'PUT /datasets/:dataset/tags': () => ({ from_tag: 'a', to_tag: 'b' }),
  'POST /datasets/:dataset/documents/batch-update-status': ({ document }) => ({ doc_ids: [document], status: 1 }),
  'POST /datasets/:dataset/documents/:document/chunks': () => ({ content: 'text' }),
  'PATCH /datasets/:dataset/documents/:document/chunks': ({ chunk }) => ({ chunk_ids: [chunk], available: true }),
  'POST /documents/ingest': ({ document }) => ({ doc_ids: [document], run: 2 }),
  'POST /chats': () => ({ name: 'new' }),
  'POST /chat/stream': () => ({ message: 'hello' }),
  'POST /chat/evaluate': () => ({ questions: [{ id: 'a', category: 'x', question: 'hello' }], judge: '' }),
  'POST /chat/completions': () => ({ question: 'hello', stream: false }),
  'POST /chats/:chat/completions': () => ({ question: 'hello', stream: false }),
  'POST /openai/:chat/chat/completions': () => ({ messages: [{ role: 'user', content: 'hello' }] }),
  'POST /chats_openai/:chat/chat/completions': () => ({ messages: [{ role: 'user', content: 'hello' }] }),
  'PUT /chats/:chat/sessions/:session/messages/:message/feedback': () => ({ thumbup: false }),
};

/** Fields that a route reads and does not describe. */
const MORE_FIELDS: Readonly<Record<string, readonly string[]>> = {
  'POST /chat/completions': ['conversation_id', 'max_tokens', 'top_p'],
  'POST /chats/:chat/completions': ['conversation_id', 'max_tokens', 'top_p'],
  'POST /openai/:chat/chat/completions': ['max_tokens', 'temperature'],
};

type Things = Readonly<Record<'dataset' | 'document' | 'chunk' | 'chat' | 'session', string>>;

const routes = createApi()
  .flatMap((group) => group.routes)
  .filter(
    ({ path, answers = '' }) =>
      /^\/(?:chat|openai|dataset|retrieval|documents\/ingest|agents\/validate|components|models|mcp\/servers|system\/info)/.test(
        path,
      ) && answers !== 'file',
  )
  // Its stream does not end.
  .filter(({ path }) => path !== '/datasets/:dataset/events')
  .map((route) => ({ ...route, name: `${route.method} ${route.path}` }));

describePostgres('a hostile value', () => {
  let postgres: PostgresServer;
  let folder: string;
  let stores: PostgresStores;
  let base: KnowledgeBase;
  let server: TestServer;
  let things: Things;

  beforeAll(async () => {
    postgres = await startPostgres();
    folder = await makeFolder();
    stores = await openServer(await postgres.createDatabase(), folder);
    base = createKnowledgeBase({
      store: await stores.openKnowledge(),
      files: stores.files,
      indexes: createSearchIndexes({ storage: createMemoryIndexStorage() }),
    });
    server = await startServer({ stores, openKnowledge: async () => base, outlivesTest: true });
  });
  afterAll(async () => {
    await server?.stop();
    await stores?.close();
    await postgres?.stop();
    await removeFolder(folder);
  });

  let names = 0;
  beforeEach(async () => {
    names += 1;
    const { dataset } = await base.datasets.create(LOCAL_TENANT, { name: `dataset ${names}` });
    const bytes = new TextEncoder().encode('hello world');
    const { document } = await base.documents.add(LOCAL_TENANT, dataset.id, { name: 'a.txt', content: [bytes] });
    const chunk = await base.chunks.add(LOCAL_TENANT, document.id, { text: 'hello world', tags: ['a'] });
    const made = async (path: string, body: object): Promise<string> =>
      (await server.call('POST', `${API_PREFIX}${path}`, body)).body.data.id;
    const chat = await made('/chats', { name: `chat ${names}` });
    const session = await made(`/chats/${chat}/sessions`, {});
    things = { dataset: dataset.id, document: document.id, chunk: chunk.id, chat, session };
  });

  it.each(routes)('is answered or refused by $name', { timeout: 60_000 }, async (route) => {
    const { method, name } = route;
    const ask = async (what: string, path: string, body?: unknown): Promise<void> => {
      const { status, body: answer }: Answer = await server.call(method, path, method === 'GET' ? undefined : body);
      const said = typeof answer === 'string' ? answer : JSON.stringify(answer);
      const isUnexpected = status >= 500 || /Something unexpected|does not fit: |"code":"?INTERNAL/.test(said);
      const wrong = isUnexpected || server.errors.length > 0 ? `${status} ${said.slice(0, 300)}` : undefined;
      expect({ what, wrong, errors: server.errors.splice(0) }).toEqual({ what, wrong: undefined, errors: [] });
    };
    const fine = BODIES[name]?.(things) ?? {};
    for (const parameter of parametersOf(route)) {
      for (const text of ['a\0b', '__proto__', 'constructor', '..', 'x'.repeat(300)]) {
        await ask(`${parameter} of the path: ${text}`, addressOf(route, { ...things, [parameter]: text }), fine);
      }
    }
    const address = addressOf(route, things);
    for (const field of fieldsOf(route.query)) {
      for (const text of ['a\0b', 'constructor', '-1', '{"a":{"toString":1}}', '[', 'x'.repeat(5_000)]) {
        await ask(`${field}=${text}`, `${address}?${field}=${encodeURIComponent(text)}`, fine);
      }
    }
    if (method === 'GET' || route.body === 'files') return;
    for (const body of ['null', '[]', '1', '"a"', '{', '{"a":']) await ask(`the body ${body}`, address, body);
    const fields = [...fieldsOf(route.takes), ...fieldsOf(route.body), ...(MORE_FIELDS[name] ?? [])];
    for (const field of new Set(fields)) {
      // Deleting everything is no hostile value.
      for (const value of field === 'delete_all' ? TEXTS : VALUES) {
        await ask(`${field}: ${JSON.stringify(value).slice(0, 60)}`, address, { ...fine, [field]: value });
      }
    }
  });
});

function parametersOf({ path }: Route): readonly string[] {
  return [...path.matchAll(/:([a-z]+)/g)].map(([, parameter]) => parameter as string);
}

function addressOf({ path }: Route, things: Readonly<Record<string, string>>): string {
  return API_PREFIX + path.replace(/:([a-z]+)/g, (_, name: string) => encodeURIComponent(things[name] ?? name));
}

function fieldsOf(schema: Route['query'] | Route['body']): readonly string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}
