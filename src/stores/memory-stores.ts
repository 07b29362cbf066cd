import type { VersionStore } from '../graph/durable-ports.js';
import type { Stores } from '../graph/service-ports.js';
import { createMemoryAgents, type MemoryAgentLimits } from './memory-agents.js';
import { createMemoryFiles, type MemoryFileLimits } from './memory-files.js';
import { createMemoryRunLog, type MemoryRunLogLimits } from './memory-run-log.js';
import { createMemoryRuns, type MemoryRunLimits } from './memory-runs.js';
import { createMemorySessions, type MemorySessionLimits } from './memory-sessions.js';
import { createMemoryVersions, type MemoryVersionLimits } from './memory-versions.js';

export interface MemoryLimits {
  readonly agents?: MemoryAgentLimits;
  readonly sessions?: MemorySessionLimits;
  readonly runs?: Omit<MemoryRunLimits, 'onDrop'>;
  readonly log?: MemoryRunLogLimits;
  readonly files?: MemoryFileLimits;
  readonly versions?: MemoryVersionLimits;
}

/** What a server keeps when it keeps it in memory. */
export interface MemoryStores extends Stores {
  readonly versions: VersionStore;
}

/** Everything in memory, each part bounded; gone with the process. */
export function createMemoryStores(limits: MemoryLimits = {}): MemoryStores {
  const log = createMemoryRunLog(limits.log);
  return {
    agents: createMemoryAgents(limits.agents),
    sessions: createMemorySessions(limits.sessions),
    // Events of a run that nobody knows any more would only take room.
    runs: createMemoryRuns({ ...limits.runs, onDrop: (tenant, id) => void log.delete(tenant, id) }),
    log,
    files: createMemoryFiles(limits.files),
    versions: createMemoryVersions(limits.versions),
  };
}
