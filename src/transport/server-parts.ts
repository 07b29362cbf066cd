import type { Services } from '../components/services.js';
import type { DocumentIssue } from '../dsl/document.js';
import type { Registry } from '../graph/component.js';
import type { TimeoutResolver } from '../graph/timeouts.js';
import type { OpenCanvas } from '../hosting/canvas-opener.js';
import { createFork, type ForkRun } from '../hosting/fork-run.js';
import type { Log } from '../hosting/log.js';
import { withPastRuns } from '../hosting/resume-past.js';
import type { HubStores, RunHub } from '../hosting/run-hub.js';
import { RunTimelines } from '../hosting/run-timelines.js';
import type { StartTurn } from '../hosting/start-turn.js';
import type {
  CanvasRuntimeStore,
  CreateCounter,
  RunJournal,
  TokenStore,
  VersionStore,
} from '../records/durable-stores.js';
import type { ServerConfig } from '../settings/read-settings.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import { createMemoryCounter } from './access/rate-limits.js';
import { createMemoryTokens } from './access/token-store.js';
import { createMemoryCanvasRuntimes, withRuntimes } from './admin/canvas-runtimes.js';
import type { DatabaseProbe } from './agents/database-probe.js';
import { RunsOfMessages } from './traces/run-of-message.js';
import { TraceReader } from './traces/trace-reader.js';
import { withVersions } from './versions/start-version.js';
import { WebhookSecurity } from './webhooks/webhook-security.js';
import { WebhookTraces } from './webhooks/webhook-traces.js';

/** What a server keeps. What is optional is kept in memory when it is not given. */
export interface ServerStores extends HubStores {
  readonly versions: VersionStore;
  /** Without it no run outlives its process, can be forked, or gone on from after it failed. */
  readonly journal?: RunJournal;
  /** Keys that tenants make for themselves. */
  readonly tokens?: TokenStore;
  /** Which engine runs a tenant's canvases. */
  readonly canvasRuntimes?: CanvasRuntimeStore;
  /** Counts calls of keys and webhooks. @default for this process alone */
  readonly createCounter?: CreateCounter;
}

/** What only the one who starts a server can give. */
export interface ServerPorts {
  /** Tests databases for editors. @default no kind of database can be tested */
  readonly databaseProbe?: DatabaseProbe | undefined;
}

/** What is open at a moment. */
export interface OpenStreams {
  count: number;
}

/** What the parts of a server are made of. */
export interface ServerBasics extends ServerPorts {
  readonly stores: ServerStores;
  readonly hub: RunHub;
  readonly startTurn: StartTurn;
  /** Everything that is wrong with a document. */
  readonly checkDocument: (dsl: unknown) => readonly DocumentIssue[];
  /** Node types by name. */
  readonly registry: Registry;
  readonly timeouts?: TimeoutResolver | undefined;
  readonly openCanvas: OpenCanvas;
  /** Services of every run. */
  readonly services: Services;
  readonly telemetry: Telemetry;
  readonly config: ServerConfig;
  readonly logger: Log;
  readonly now: () => number;
}

/** What the routes work with; made once per server. */
export interface ServerParts extends ServerBasics {
  readonly forkRun: ForkRun;
  readonly timelines: RunTimelines;
  readonly createCounter: CreateCounter;
  readonly tokens: TokenStore;
  readonly runtimes: CanvasRuntimeStore;
  /** Event streams over HTTP. */
  readonly streams: OpenStreams;
  readonly messages: RunsOfMessages;
  readonly traces: TraceReader;
  readonly webhookSecurity: WebhookSecurity;
  readonly webhookTraces: WebhookTraces;
}

/** Completes the parts of a server. */
export function createServerParts(basics: ServerBasics): ServerParts {
  const { stores, config, logger, now } = basics;
  const createCounter = stores.createCounter ?? createMemoryCounter;
  const runtimes = stores.canvasRuntimes ?? createMemoryCanvasRuntimes();
  const messages = new RunsOfMessages(stores.runs);
  const { hub, openCanvas } = basics;
  const startPast = withPastRuns(basics.startTurn, { stores, hub, openCanvas });
  const startVersion = withVersions(startPast, { stores, now });
  // Nobody can choose another engine without the administrator's key, so nobody needs to be asked.
  const startHere =
    config.adminKey === undefined ? startVersion : withRuntimes(startVersion, runtimes, config.defaultRuntime);
  const startTurn: StartTurn = async (target, request) => {
    const started = await startHere(target, request);
    const { tenant, messageId, id } = started.live.identity;
    messages.add(tenant, messageId, id);
    return started;
  };
  return {
    ...basics,
    startTurn,
    forkRun: createFork({ stores, hub, openCanvas, startTurn, now }),
    timelines: new RunTimelines(stores.log),
    createCounter,
    runtimes,
    streams: { count: 0 },
    messages,
    tokens: stores.tokens ?? createMemoryTokens(),
    traces: new TraceReader(stores.log, now),
    webhookSecurity: new WebhookSecurity({
      createCounter,
      trustedProxies: config.trustedProxies,
      now,
      whenBroken: (error) => logger.error({ err: error }, 'calls of webhooks cannot be counted and are refused'),
    }),
    webhookTraces: new WebhookTraces(now),
  };
}
