import type { DocumentIssue } from '../dsl/document.js';
import type { Stores } from '../graph/service-ports.js';
import type { ServerConfig } from './config.js';
import type { Log } from './log.js';
import type { RunHub } from './runs/run-hub.js';
import type { StartTurn } from './runs/start-turn.js';

/** What the routes work with; made once per server. */
export interface ServerParts {
  readonly stores: Stores;
  readonly hub: RunHub;
  readonly startTurn: StartTurn;
  /** Everything that is wrong with a document. */
  readonly checkDocument: (dsl: unknown) => readonly DocumentIssue[];
  readonly config: ServerConfig;
  readonly journal: Log;
  readonly now: () => number;
}
