/**
 * Everything that a service stores, by resource: the tenant is a parameter of every call, and what another tenant owns does not exist.
 * Records are immutable values.
 */
import type { AgentStore } from './agents.js';
import type { FileStore } from './files.js';
import type { RunLog } from './run-log.js';
import type { RunStore } from './runs.js';
import type { SessionStore } from './sessions.js';

/** The stores that every service has. */
export interface Stores {
  readonly agents: AgentStore;
  readonly sessions: SessionStore;
  readonly runs: RunStore;
  readonly log: RunLog;
  readonly files: FileStore;
}
