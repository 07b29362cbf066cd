import { requireObject } from '../operators/invalid-option.js';
import type { ChatStore } from '../records/chats.js';
import type { KnowledgeStore } from '../records/knowledge-store.js';
import { DEFAULT_QUOTAS, type Quotas, type UsageStore } from '../records/quotas.js';
import type { MemoryBounds } from '../records/repository.js';
import { createRepositories, plainStores, type Repositories } from '../records/resources.js';
import type { SessionStore } from '../records/sessions.js';
import { createMemoryChats } from './memory-chats.js';
import { createMemoryFiles, type MemoryFileLimits } from './memory-files.js';
import { createMemoryLeases } from './memory-leases.js';
import { createMemoryRepository, type RecordCounts } from './memory-repository.js';
import { createMemoryRunLog, type MemoryRunLogLimits } from './memory-run-log.js';
import { createMemorySharedStates } from './memory-shared-states.js';
import { createMemorySignals } from './memory-signals.js';

/** Bounds of each store. @default those that the resources declare */
export type MemoryLimits = { readonly [Name in keyof Repositories]?: Partial<Omit<MemoryBounds, 'canDrop'>> } & {
  readonly log?: MemoryRunLogLimits;
  readonly files?: MemoryFileLimits;
  /** @default {@link DEFAULT_QUOTAS} */
  readonly quotas?: Partial<Quotas>;
};

/** What a server stores in memory. */
export type MemoryStores = ReturnType<typeof createMemoryStores>;

/** Everything in memory, each part bounded; gone with the process. */
export function createMemoryStores(limits: MemoryLimits = {}) {
  requireObject('createMemoryStores', 'limits', limits);
  const log = createMemoryRunLog(limits.log);
  const quotas: Quotas = { ...DEFAULT_QUOTAS, ...limits.quotas };
  // The log of a run whose record is dropped would only take room.
  const forget = (tenant: string, id: string): void => void log.delete(tenant, id);
  const counts = new Map<keyof Repositories, RecordCounts>();
  const repositories = createRepositories((resource, name) => {
    const onDrop = name === 'runs' ? forget : undefined;
    const repository = createMemoryRepository(resource, { ...limits[name], quotas, onDrop });
    counts.set(name, repository.counts);
    return repository;
  });
  const files = createMemoryFiles({ ...limits.files, quotas });
  const countOf = (name: keyof Repositories) => counts.get(name) as RecordCounts;
  const usage: UsageStore = {
    quotas,
    of: async (tenant) => ({
      agents: countOf('agents').of(tenant),
      tokens: countOf('tokens').of(tenant),
      ...files.usage.of(tenant),
    }),
    sessions: async (tenant) => countOf('sessions').of(tenant),
    most: async () => ({
      agents: countOf('agents').most(),
      tokens: countOf('tokens').most(),
      ...files.usage.most(),
    }),
  };
  let knowledge: Promise<KnowledgeStore> | undefined;
  const chats = createMemoryChats();
  const plain = plainStores(repositories);
  return {
    ...plain,
    sessions: withThreads(plain.sessions, chats),
    /** Loaded when it is first asked for. */
    openKnowledge: (): Promise<KnowledgeStore> => {
      knowledge ??= import('./memory-knowledge.js').then(({ createMemoryKnowledge }) => createMemoryKnowledge());
      return knowledge;
    },
    log: { ...log, isVolatile: true },
    files,
    usage,
    leases: createMemoryLeases(),
    signals: createMemorySignals(),
    sharedStates: createMemorySharedStates(),
    chats,
  };
}

/** Deletes the messages of sessions with them. */
function withThreads<S extends SessionStore>(sessions: S, chats: ChatStore): S {
  return {
    ...sessions,
    async delete(tenant, id, owner) {
      const wasThere = await sessions.delete(tenant, id, owner);
      if (wasThere) await chats.delete(tenant, id);
      return wasThere;
    },
    async deleteOf(tenant, owner) {
      const ids = await sessions.deleteOf(tenant, owner);
      for (const id of ids) await chats.delete(tenant, id);
      return ids;
    },
  };
}
