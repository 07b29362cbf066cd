/** Implementations of the ports that `src/graph` declares. */
export { createMemoryAgents, type MemoryAgentLimits } from './memory-agents.js';
export { createMemoryFiles, type MemoryFileLimits } from './memory-files.js';
export { createMemoryRunLog, type MemoryRunLogLimits } from './memory-run-log.js';
export { createMemoryRuns, type MemoryRunLimits } from './memory-runs.js';
export { createMemorySessions, type MemorySessionLimits } from './memory-sessions.js';
export { createMemoryStores, type MemoryLimits, type MemoryStores } from './memory-stores.js';
export { createMemoryVersions, type MemoryVersionLimits } from './memory-versions.js';
