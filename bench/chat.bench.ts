/**
 * Chats: what the stages before the answer cost with caches warm and a model that takes no time, the first event of many chats at once, and the steps behind a
 * search. Everything is in memory and in this process; 1,000 passages of about 400 tokens.
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
import { milliseconds, quantile, type Row } from './measure.js';

const PASSAGES = Number(process.env.RUNNEL_BENCH_PASSAGES ?? 1_000);
const WORDS = 300;
const CHATS = Number(process.env.RUNNEL_BENCH_CHATS ?? 200);
const AT_ONCE = 100;
const TENANT = 't';

/** Measures chats. */
export async function benchChat(): Promise<readonly Row[]> {
  const host = await openHost();
  try {
    const warm: number[] = [];
    for (let at = 0; at < CHATS; at += 1) {
      const { run, ended, startedAt } = await start(host, 'What do word17 and word230 say of word41?');
      const answering = await at8(host, run);
      // The first ones fill the caches, and are compiled.
      if (at >= CHATS / 4) warm.push(answering - startedAt);
      await ended;
    }
    const firsts = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, at) => firstEvent(host, `Chat ${at}: word${at}?`)),
    );
    return [
      { name: 'stages 1 to 7, caches warm, median', value: quantile(warm, 0.5), unit: 'ms', bar: 50, aim: 20 },
      { name: 'stages 1 to 7, caches warm, 99th', value: quantile(warm, 0.99), unit: 'ms', bar: 50, aim: 50 },
      {
        name: `first event of ${AT_ONCE} chats at once, slowest`,
        value: Math.max(...firsts),
        unit: 'ms',
        bar: 200,
        aim: 100,
      },
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
async function at8(host: Host, run: string): Promise<number> {
  const begun$ = host.follow(TENANT, run, { after: 0, ready$: new BehaviorSubject(true) }).pipe(
    filter(
      ({ source }) => source.type === 'node-notice' && source.data.type === 'stage_start' && source.data.stage === 8,
    ),
    map(() => performance.now()),
  );
  return firstValueFrom(begun$);
}

async function firstEvent(host: Host, query: string): Promise<number> {
  const { run, startedAt } = await start(host, query);
  await firstValueFrom(host.follow(TENANT, run, { after: 0, ready$: new BehaviorSubject(true) }));
  return performance.now() - startedAt;
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
    const text = Array.from({ length: 10 }, (_, part) => textOf(at * 10 + part)).join('\n\n');
    const content = [new TextEncoder().encode(text)];
    ids.push((await base.documents.add(TENANT, dataset.id, { name: `${at}.txt`, content })).document.id);
  }
  await base.documents.parse(TENANT, dataset.id, ids);
  const left = new Set(ids);
  const done$ = runIngestions({ parts: base.parts }).pipe(
    filter(({ run, documentId }) => run === 'DONE' && left.delete(documentId) && left.size === 0),
  );
  await firstValueFrom(done$);
}

/** Words whose frequencies fall as in natural texts. */
function textOf(seed: number): string {
  let state = seed + 1;
  const words = Array.from({ length: WORDS }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return `word${Math.floor(3_000 ** (state / 2_147_483_647))}`;
  });
  return `${words.join(' ')}.`;
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
  text: textOf(at),
  similarity: 1 - at / 100,
  index: at,
  start: at * 2_000,
  end: at * 2_000 + 1_900,
}));

function processOnce(): Promise<readonly FoundPassage[]> {
  const load = async (): Promise<readonly FoundPassage[]> => HITS.slice(0, 3);
  return firstValueFrom(from([HITS]).pipe(processHits(defaultProcessors({ window: { load } }))));
}
