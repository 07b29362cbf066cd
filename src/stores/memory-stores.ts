/** All stores in memory, for tests, for the library and for servers that store nothing. */
import type { LeaseStore, Signals } from '../records/coordination.js';
import type { MemoryBounds } from '../records/repository.js';
import { createRepositories, type PlainStores, plainStores, type Repositories } from '../records/resources.js';
import type { Stores } from '../records/stores.js';
import { createMemoryFiles, type MemoryFileLimits } from './memory-files.js';
import { createMemoryLeases } from './memory-leases.js';
import { createMemoryRepository } from './memory-repository.js';
import { createMemoryRunLog, type MemoryRunLogLimits } from './memory-run-log.js';
import { createMemorySignals } from './memory-signals.js';

/** Bounds of each store. @default those that the resources declare */
export type MemoryLimits = { readonly [Name in keyof Repositories]?: Partial<Omit<MemoryBounds, 'canDrop'>> } & {
  readonly log?: MemoryRunLogLimits;
  readonly files?: MemoryFileLimits;
};

/** What a server stores in memory. */
export interface MemoryStores extends Omit<Stores, keyof PlainStores>, PlainStores {
  readonly leases: LeaseStore;
  readonly signals: Signals;
}

/** Everything in memory, each part bounded; gone with the process. */
export function createMemoryStores(limits: MemoryLimits = {}): MemoryStores {
  const log = createMemoryRunLog(limits.log);
  // The log of a run whose record is dropped would only take room.
  const forget = (tenant: string, id: string): void => void log.delete(tenant, id);
  const stores = plainStores(
    createRepositories((resource, name) =>
      createMemoryRepository(resource, { ...limits[name], onDrop: name === 'runs' ? forget : undefined }),
    ),
  );
  return {
    ...stores,
    log: { ...log, isVolatile: true },
    files: createMemoryFiles(limits.files),
    leases: createMemoryLeases(),
    signals: createMemorySignals(),
  };
}
