/** Services of the process that tools use; every one is optional, and a tool that misses one fails with its name. */

import type { Browsers } from '../adapters/browser/browsers.js';
import type { EgressClient } from '../adapters/egress/egress-client.js';
import type { McpServers } from '../adapters/mcp/mcp-servers.js';
import type { CodeRunner } from '../adapters/sandbox/code-runner.js';
import type { Databases } from '../adapters/sql/databases.js';
import { EngineError } from '../errors.js';
import type { Retriever } from '../knowledge/retriever.js';
import type { BusinessRecords } from '../records/business.js';
import type { Files, StoredFile } from '../records/files.js';
import type { Threads } from '../threads/threads.js';

export type { Files, StoredFile };

/** How the operator has set tools up. */
export interface ToolSettings {
  /** Where a tool's fixed upstream is, by name of the tool (component or function, any case). @default the real ones */
  readonly baseUrls?: Readonly<Record<string, string>>;
  /** Values of the environment that tools may read, such as `QUERIT_API_KEY`. @default none */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Days that files made by scripts can be fetched; 0: for ever. @default 7 */
  readonly artifactDays?: number;
}

/** How busy a process was within a time. */
export interface SystemReading {
  /** Seconds that the numbers are about; less than asked for when the process is younger. */
  readonly seconds: number;
  /** Requests answered. */
  readonly requests: number;
  /** Milliseconds from a request to its answer: median, 95th and 99th percentile; undefined without requests. */
  readonly latencyMs?: { readonly p50: number; readonly p95: number; readonly p99: number };
  /** Share of one processor, 0 to 1 and more with threads. */
  readonly cpu: number;
  /** Bytes now: of the whole process, of the heap in use, and of the machine. */
  readonly memory: { readonly process: number; readonly heap: number; readonly machine: number };
}

/** Numbers of this process. */
export interface SystemMetrics {
  /** Of the last `seconds`, at most those that are kept. */
  read(seconds: number): SystemReading;
}

/** Services that tools use. */
export interface ToolServices {
  /** The one HTTP client with its egress policy (`src/adapters/egress`). */
  readonly http?: EgressClient;
  readonly files?: Files;
  /** What finds passages in datasets. */
  readonly retriever?: Retriever;
  /** Runs scripts in a sandbox. */
  readonly code?: CodeRunner;
  /** MCP servers whose tools agents may call, as the tenant of the run sees them. */
  readonly mcp?: McpServers;
  /** Ids of the conversation and of the agent; end users see them in requests to models. `isNew`: nothing was said before, so nothing of it is stored. */
  readonly session?: { readonly id: string; readonly agent?: string; readonly isNew?: boolean };
  /** Starts headless browsers (`src/adapters/browser`). */
  readonly browsers?: Browsers;
  /** Opens databases that documents name (`src/adapters/sql`). */
  readonly databases?: Databases;
  /** Where files and pages are read and documents are written. @default a thread for each */
  readonly threads?: Threads;
  /** Sales and tickets. */
  readonly business?: BusinessRecords;
  /** How busy this process is. */
  readonly metrics?: SystemMetrics;
  /** Files that a turn or a form may give. @default 10 */
  readonly maxFiles?: number;
  readonly tools?: ToolSettings;
}

/** What to pass as a service that is missing, by its name. */
const HINTS: Readonly<Record<string, string>> = {
  http: 'createEgressClient()',
  models: 'createModels(…)',
  files: 'an object with read() and save()',
  retriever: 'createMemoryRetriever(…)',
  code: 'createEmbeddedRunner()',
  browsers: 'createBrowsers()',
  databases: 'createDatabases(…)',
  business: 'businessOf(stores, tenant, Date.now)',
  metrics: 'new SystemMeter()',
};

/**
 * A service, or an error that says what to pass; `user` is who needs it, such as `Tool "email"`.
 *
 * @throws EngineError CONFIG_INVALID when the run was started without it.
 */
export function requireService<S extends ToolServices, K extends keyof S & string>(
  services: S,
  name: K,
  user: string,
  place: { readonly node?: string } = {},
): NonNullable<S[K]> {
  const service = services[name];
  if (service !== undefined && service !== null) return service;
  const hint = HINTS[name] === undefined ? '' : `, such as ${HINTS[name]}`;
  throw new EngineError(
    'CONFIG_INVALID',
    `${user} needs the service "${name}", but the run was started without it; pass { services: { ${name} } }${hint}.`,
    place,
  );
}

/** The value of an environment variable that a tool may read; empty counts as unset. */
export function settingOf({ tools }: ToolServices, name: string): string | undefined {
  const { environment = {} } = tools ?? {};
  const value = Object.hasOwn(environment, name) ? environment[name]?.trim() : undefined;
  return value === '' ? undefined : value;
}
