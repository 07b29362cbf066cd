/** All stores in memory, for tests, for the library and for servers that keep nothing. */
import type { LeaseStore, Signals, VersionStore } from '../records/durable-stores.js';
import type { Stores } from '../records/stores.js';
import { createMemoryAgents, type MemoryAgentLimits } from './memory-agents.js';
import { createMemoryFiles, type MemoryFileLimits } from './memory-files.js';
import { createMemoryLeases } from './memory-leases.js';
import { createMemoryRunLog, type MemoryRunLogLimits } from './memory-run-log.js';
import { createMemoryRuns, type MemoryRunLimits } from './memory-runs.js';
import { createMemorySessions, type MemorySessionLimits } from './memory-sessions.js';
import { createMemorySignals } from './memory-signals.js';
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
  readonly leases: LeaseStore;
  readonly signals: Signals;
}

/** Everything in memory, each part bounded; gone with the process. */
export function createMemoryStores(limits: MemoryLimits = {}): MemoryStores {
  const log = createMemoryRunLog(limits.log);
  return {
    agents: createMemoryAgents(limits.agents),
    sessions: createMemorySessions(limits.sessions),
    // The log of a run whose record is dropped would only take room.
    runs: createMemoryRuns({ ...limits.runs, onDrop: (tenant, id) => void log.delete(tenant, id) }),
    log: { ...log, isVolatile: true },
    files: createMemoryFiles(limits.files),
    versions: createMemoryVersions(limits.versions),
    leases: createMemoryLeases(),
    signals: createMemorySignals(),
  };
}
