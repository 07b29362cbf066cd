/**
 * Chats: what the stages before the answer cost with caches warm and a model that takes no time, and the steps behind a search. Everything is in memory and
 * in this process; 1,000 passages of about 400 tokens. Many chats at once are in `chat-server.bench.ts`.
 */
import { BehaviorSubject, concat, filter, firstValueFrom, from, map, type Observable, of } from 'rxjs';
import { chatDocument } from '../src/chat/service/chat-document.js';
import type { Services } from '../src/components/services.js';
import { createHost, type Host } from '../src/hosting/host.js';
import { startCommand } from '../src/hosting/start-command.js';
import { runIngestions } from '../src/ingestion/run-ingestions.js';
import { createIngestionHub } from '../src/knowledge/base/ingestion-hub.js';
import { createKnowledgeBase } from '../src/knowledge/base/knowledge-base.js';
import { createKnowledgeSearch } from '../src/knowledge/base/search-datasets.js';
import { createSearchIndexes } from '../src/knowledge/base/search-indexes.js';
import type { FoundPassage } from '../src/knowledge/search/after/post-processor.js';
import { defaultProcessors, processHits } from '../src/knowledge/search/after/process-hits.js';
import { createMemoryIndexStorage } from '../src/knowledge/search/memory-index-storage.js';
import type { ChatDelta, ChatRequest } from '../src/models/chat-model.js';
import { createCaches } from '../src/newest.js';
import { createMemoryStores } from '../src/stores/memory-stores.js';
import { createThreadPool } from '../src/threads/thread-pool.js';
import { milliseconds, quantile, type Row } from './measure.js';
import { documentText, passageText } from './texts.js';

const PASSAGES = Number(process.env.RUNNEL_BENCH_PASSAGES ?? 1_000);
const CHATS = Number(process.env.RUNNEL_BENCH_CHATS ?? 200);
const TENANT = 't';

/** Measures chats. */
export async function benchChat(): Promise<readonly Row[]> {
  const host = await openHost();
  try {
    const warm: number[] = [];
    for (let at = 0; at < CHATS; at += 1) {
      const { run, ended, startedAt } = await start(host, 'What do word17 and word230 say of word41?');
      const answering = await answerBegins(host, run);
      // The first ones fill the caches, and are compiled.
      if (at >= CHATS / 4) warm.push(answering - startedAt);
      await ended;
    }
    return [
      { name: 'stages 1 to 7, caches warm, median', value: quantile(warm, 0.5), unit: 'ms', bar: 50, aim: 20 },
      { name: 'stages 1 to 7, caches warm, 99th', value: quantile(warm, 0.99), unit: 'ms', bar: 50, aim: 50 },
      { name: 'steps behind a search of 30 hits', value: await milliseconds(processOnce), unit: 'ms', bar: 5, aim: 2 },
    ];
  } finally {
    await host.close(0);
  }
}

async function start(host: Host, query: string) {
  const startedAt = performance.now();
  const { live } = await host.start(
    startCommand({ tenant: TENANT, agentId: 'a', fallback: 'draft', isChat: true }, { query }),
  );
  return { run: live.identity.id, ended: live.ended, startedAt };
}

/** When the eighth stage begins. */
async function answerBegins(host: Host, run: string): Promise<number> {
  const begun$ = host.follow(TENANT, run, { after: 0, ready$: new BehaviorSubject(true) }).pipe(
    filter(
      ({ source }) => source.type === 'node-notice' && source.data.type === 'stage_start' && source.data.stage === 8,
    ),
    map(() => performance.now()),
  );
  return firstValueFrom(begun$);
}

async function openHost(): Promise<Host> {
  const stores = createMemoryStores();
  const chats = { tenant: TENANT, store: stores.chats };
  const base = createKnowledgeBase({
    store: await stores.openKnowledge(),
    files: stores.files,
    hub: createIngestionHub(),
    indexes: createSearchIndexes({ storage: createMemoryIndexStorage() }),
  });
  await fill(base);
  const model = { chat: answerAtOnce };
  const choice = { model, name: 'm', supportsImages: false, contextLength: undefined };
  const models = { chat: () => choice, isScripted: false } as unknown as Services['models'];
  const knowledge = createKnowledgeSearch(async () => base, TENANT);
  const host = createHost({ stores, services: { models, knowledge, chats, caches: createCaches() } });
  await stores.agents.insert(TENANT, {
    ...{ id: 'a', title: 'A', description: null, avatar: null, permission: 'me', canvasType: null },
    ...{ canvasCategory: 'chat_assistant', tags: '', createdAt: 1, updatedAt: 1 },
    dsl: chatDocument({}),
  });
  return host;
}

/** Documents of about ten passages each. */
async function fill(base: ReturnType<typeof createKnowledgeBase>): Promise<void> {
  const { dataset } = await base.datasets.create(TENANT, { name: 'docs' });
  const ids: string[] = [];
  for (let at = 0; at < PASSAGES / 10; at += 1) {
    const content = [new TextEncoder().encode(documentText(at, 10))];
    ids.push((await base.documents.add(TENANT, dataset.id, { name: `${at}.txt`, content })).document.id);
  }
  await base.documents.parse(TENANT, dataset.id, ids);
  const left = new Set(ids);
  const threads = createThreadPool();
  const done$ = runIngestions({ parts: base.parts, threads }).pipe(
    filter(({ run, documentId }) => run === 'DONE' && left.delete(documentId) && left.size === 0),
  );
  await firstValueFrom(done$);
  await threads.close();
  await base.parts.indexes.settled();
}

/** Stages get what they ask for; the answer is one sentence. */
function answerAtOnce({ jsonSchema }: ChatRequest): Observable<ChatDelta> {
  const texts: Readonly<Record<string, string>> = {
    chat_rewrite: '{"rewrites": ["what word17 and word230 say of word41"]}',
    chat_intent: '{"intents": [{"kind": "KB", "confidence": 0.9}]}',
  };
  const text = texts[jsonSchema?.name ?? ''] ?? 'They say much [1].';
  return concat(of<ChatDelta>({ type: 'text', text }), of<ChatDelta>({ type: 'finish', reason: 'stop' }));
}

const HITS: readonly FoundPassage[] = Array.from({ length: 30 }, (_, at) => ({
  id: `c${at}`,
  documentId: `d${at % 10}`,
  text: passageText(at),
  similarity: 1 - at / 100,
  index: at,
  start: at * 2_000,
  end: at * 2_000 + 1_900,
}));

function processOnce(): Promise<readonly FoundPassage[]> {
  const load = async (): Promise<readonly FoundPassage[]> => HITS.slice(0, 3);
  return firstValueFrom(from([HITS]).pipe(processHits(defaultProcessors({ window: { load } }))));
}
