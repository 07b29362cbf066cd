import type { MemoryBounds } from '../records/repository.js';
import { createRepositories, plainStores, type Repositories } from '../records/resources.js';
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
export type MemoryStores = ReturnType<typeof createMemoryStores>;

/** Everything in memory, each part bounded; gone with the process. */
export function createMemoryStores(limits: MemoryLimits = {}) {
  const log = createMemoryRunLog(limits.log);
  // The log of a run whose record is dropped would only take room.
  const forget = (tenant: string, id: string): void => void log.delete(tenant, id);
  const repositories = createRepositories((resource, name) =>
    createMemoryRepository(resource, { ...limits[name], onDrop: name === 'runs' ? forget : undefined }),
  );
  return {
    ...plainStores(repositories),
    log: { ...log, isVolatile: true },
    files: createMemoryFiles(limits.files),
    leases: createMemoryLeases(),
    signals: createMemorySignals(),
  };
}
