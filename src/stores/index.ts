/** Implementations of the ports that `src/records` declares. */
export { createMemoryFiles, type MemoryFileLimits } from './memory-files.js';
export { createMemoryRepository, type MemoryRepositoryOptions } from './memory-repository.js';
export { createMemoryRunLog, type MemoryRunLogLimits } from './memory-run-log.js';
export { createMemoryStores, type MemoryLimits, type MemoryStores } from './memory-stores.js';
