/** A host with chats over a knowledge base in memory, whose models, embeddings and tools are a server of the test. */
import { BehaviorSubject, lastValueFrom, map, type Observable, toArray } from 'rxjs';
import { onTestFinished } from 'vitest';
import { createEgressClient } from '../../../../src/adapters/egress/egress-client.js';
import { toChatEvent } from '../../../../src/chat/chat-frames.js';
import type { ChatEvent } from '../../../../src/chat/pipeline/chat-events.js';
import { chatDocument } from '../../../../src/chat/service/chat-document.js';
import type { Services } from '../../../../src/components/services.js';
import type { RunEvent } from '../../../../src/graph/events.js';
import { createHost } from '../../../../src/hosting/host.js';
import type { StartedTurn } from '../../../../src/hosting/start.js';
import { startCommand, type TurnRequest } from '../../../../src/hosting/start-command.js';
import type { JsonObject } from '../../../../src/json.js';
import { createKnowledgeSearch } from '../../../../src/knowledge/base/search-datasets.js';
import { createSearchIndexes } from '../../../../src/knowledge/base/search-indexes.js';
import { createMemoryIndexStorage } from '../../../../src/knowledge/search/memory-index-storage.js';
import { createModels } from '../../../../src/models/router.js';
import { createCaches } from '../../../../src/newest.js';
import { modelsFromEnvironment } from '../../../../src/settings/read-settings.js';
import { createMemoryStores } from '../../../../src/stores/memory-stores.js';
import { newBase, TENANT } from '../../../knowledge/base/support/new-base.js';
import { embed, startHeldServer } from './held-server.js';

export const CHECKPOINT = 'A checkpoint is a snapshot of the state that a run can start from.';

/** Where a chat is asked. */
export interface ChatPlace {
  readonly params?: JsonObject;
  readonly tenant?: string;
  /** How long a chat goes on without a client. @default as a host has it */
  readonly detachGraceMs?: number;
  /** Turns of the event loop that chats take. @default none */
  readonly loopTurns?: Services['loopTurns'];
}

export async function startChatHost({ params = {}, detachGraceMs, loopTurns }: ChatPlace = {}) {
  const upstream = await startHeldServer();
  const configuration = JSON.stringify({
    factories: { Fake: { base_url: `${upstream.url}/v1`, api_key: 'k', models: ['m', 'e'] } },
    defaults: { chat: 'm@Fake', embedding: 'e@Fake' },
  });
  const models = createModels(
    await modelsFromEnvironment({ RUNNEL_MODELS: 'models.json', LLM_MAX_RETRIES: '0' }, async () => configuration),
  );
  const knowledge = newBase({
    indexes: createSearchIndexes({ storage: createMemoryIndexStorage() }) as never,
    embedders: (_, name) => models.embedder(name),
  });
  knowledge.start();
  upstream.answers.set('embeddings', embed);
  const dataset = await knowledge.dataset('docs', { embeddingModel: 'e@Fake' });
  await knowledge.ingest(dataset, 'checkpoints.md', CHECKPOINT);
  upstream.answers.clear();
  const before = upstream.arrived.length;
  const stores = createMemoryStores();
  const chats = (tenant: string) => ({ tenant, store: stores.chats, forTenant: chats });
  const host = createHost({
    stores,
    ...(detachGraceMs !== undefined && { limits: { detachGraceMs } }),
    services: {
      models,
      http: createEgressClient({ allowPrivateNetwork: true }),
      tools: { baseUrls: { weather: `${upstream.url}/weather` } },
      knowledge: createKnowledgeSearch(async () => knowledge.base, ''),
      chats: chats(''),
      caches: createCaches(),
      ...(loopTurns && { loopTurns }),
    },
  });
  onTestFinished(async () => {
    await host.close(0);
    await models.close();
  });
  const now = Date.now();
  for (const tenant of [TENANT, 'other']) {
    await stores.agents.insert(tenant, {
      ...{ id: 'a', title: 'A', description: null, avatar: null, permission: 'me', canvasType: null },
      ...{ canvasCategory: 'chat_assistant', tags: '', createdAt: now, updatedAt: now },
      dsl: chatDocument(params),
    });
  }
  const begin = (query: string, turn: Partial<TurnRequest> = {}, tenant = TENANT): Promise<StartedTurn> =>
    host.start(startCommand({ tenant, agentId: 'a', fallback: 'draft', isChat: true }, { query, ...turn }));
  const follow = ({ live: { identity } }: StartedTurn): Observable<RunEvent> =>
    host
      .follow(identity.tenant, identity.id, { after: 0, ready$: new BehaviorSubject(true), isExact: true })
      .pipe(map(({ source }) => source));
  /** All events of a run, from its log, once it has ended. */
  const ended = async (turn: StartedTurn): Promise<{ events: RunEvent[]; told: ChatEvent[] }> => {
    await turn.live.ended;
    const events = await lastValueFrom(follow(turn).pipe(toArray()));
    const info = { sessionId: turn.session.id, traceId: 't' };
    return { events, told: events.flatMap((event) => toChatEvent(event, info) ?? []) };
  };
  const ask = async (query: string, turn?: Partial<TurnRequest>) => {
    const started = await begin(query, turn);
    return { started, ...(await ended(started)) };
  };
  return { upstream, models, stores, host, begin, ended, ask, follow, dataset, before };
}

/** The events of one type. */
export function ofType<T extends ChatEvent['type']>(told: readonly ChatEvent[], type: T) {
  return told.filter((event): event is Extract<ChatEvent, { type: T }> => event.type === type);
}
