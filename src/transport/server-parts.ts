import type { Databases } from '../adapters/sql/databases.js';
import type { TimeoutResolver } from '../canvas/compile.js';
import { createRateLimits, type RateLimits } from '../chat/limits/rate-limits.js';
import type { Registry } from '../components/component.js';
import type { Services } from '../components/services.js';
import type { DocumentIssue } from '../dsl/document.js';
import { readDocument } from '../dsl/read.js';
import type { OpenCanvas } from '../hosting/canvases.js';
import type { Host } from '../hosting/host.js';
import type { HostStores } from '../hosting/host-options.js';
import { Shares } from '../hosting/shares.js';
import type { StartedTurn } from '../hosting/start.js';
import { checkedCommand, type ForkPoint, type TurnRequest, type TurnTarget } from '../hosting/start-command.js';
import type { JsonObject } from '../json.js';
import type { KnowledgeBase } from '../knowledge/base/knowledge-base.js';
import type { GraphBuilds } from '../knowledge/graph/build/graph-builds.js';
import type { Log } from '../logger.js';
import type { Arrivals } from '../operators/arrivals.js';
import { SharedReads } from '../operators/shared-reads.js';
import type { CanvasRuntimeStore } from '../records/canvas-runtimes.js';
import type { ChatStore } from '../records/chats.js';
import type { CreateCounter } from '../records/coordination.js';
import type { RateCounter } from '../records/rates.js';
import type { SharedStates } from '../records/shared-states.js';
import type { TokenStore } from '../records/tokens.js';
import type { ServerConfig } from '../settings/read-settings.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import { Callers } from './access/callers.js';
import { createMemoryCounter, createRateLimit, type RateLimit } from './access/rate-limits.js';
import { Strangers } from './access/strangers.js';
import { BreakerStates } from './admin/breaker-states.js';
import { refuseOtherRuntimes } from './admin/canvas-runtimes.js';
import { QuotaMetrics } from './admin/quota-metrics.js';
import { AnswersInFlight } from './http/answers-in-flight.js';
import { BytesInFlight } from './http/bytes-in-flight.js';
import type { SystemMeter } from './http/system-meter.js';
import type { Studio } from './studio/studio-files.js';
import { openTraces } from './traces/component-traces.js';
import { RunsOfMessages } from './traces/run-of-message.js';
import { WebhookSecurity } from './webhooks/webhook-security.js';
import { WebhookTraces } from './webhooks/webhook-traces.js';

/** What a server stores. */
export interface ServerStores extends HostStores {
  /** Keys that tenants make for themselves. */
  readonly tokens: TokenStore;
  /** Which engine runs a tenant's canvases. */
  readonly canvasRuntimes: CanvasRuntimeStore;
  /** Counts calls of keys and webhooks. @default for this process alone */
  readonly createCounter?: CreateCounter;
  /** Where processes share the breakers of models. @default each has its own */
  readonly sharedStates?: SharedStates;
  /** Counts chats in a second, for all processes. @default each counts for itself */
  readonly rates?: RateCounter;
  /** Messages of chats. @default there are no chats */
  readonly chats?: ChatStore;
}

/** Search indexes in memory, and the passages that they find. */
export interface IndexSizes {
  readonly open: number;
  readonly passages: number;
  /** Passages whose vectors the last searches missed. @default it is not told */
  readonly lacking?: number;
}

/** What a server says of itself. */
export interface ServerFacts {
  /** Of the program. @default it is not told */
  readonly version?: string | undefined;
  /** Where things are kept, in a word each and without addresses: `database` is such as `embedded`, `runs` is `database` or `redis`. @default it is not told */
  readonly kept?: { readonly database: string; readonly runs: string } | undefined;
}

/** What only the one who starts a server can give. */
export interface ServerPorts {
  /** Tests databases for editors. @default no kind of database can be tested */
  readonly databaseProbe?: Pick<Databases, 'kinds' | 'probe'> | undefined;
  /** Gives the knowledge base, which is loaded when it is first asked for. @default there are no datasets */
  readonly openKnowledge?: (() => Promise<KnowledgeBase>) | undefined;
  /** Gives what builds the graphs of datasets. @default none are built */
  readonly openGraphBuilds?: (() => Promise<GraphBuilds>) | undefined;
  /** How much the search indexes hold that are in memory. @default there are none */
  readonly indexSizes?: (() => IndexSizes) | undefined;
  /** How many documents are in line or parsed, of all tenants. @default it is not told */
  readonly documentsWaiting?: (() => Promise<number>) | undefined;
  /** What `GET /system/info` tells. @default nothing */
  readonly about?: ServerFacts | undefined;
  /** The page that browsers get at `/`, unless `RUNNEL_STUDIO` is off. @default none */
  readonly studio?: Studio | undefined;
}

/** Places that the tenants of a server share, beside those for runs. */
export interface ServerShares {
  /** Components and databases that editors try. */
  readonly trials: Shares;
  /** Event streams of runs that were started before. */
  readonly streams: Shares;
  readonly webSockets: Shares;
}

/** Connections without a request of a valid key, of all addresses together. */
const MAX_STRANGERS = 10_000;

/** What is open at a moment. */
export interface OpenStreams {
  count: number;
}

/** What the parts of a server are made of. */
export interface ServerBasics extends ServerPorts {
  readonly stores: ServerStores;
  readonly host: Host;
  /** What comes: it begins together, before other work goes on. */
  readonly arrivals: Pick<Arrivals, 'hold' | 'gather'>;
  /** Everything that is wrong with a document. */
  readonly checkDocument: (dsl: unknown) => readonly DocumentIssue[];
  /** Node types by name. */
  readonly registry: Registry;
  readonly timeouts?: TimeoutResolver | undefined;
  readonly openCanvas: OpenCanvas;
  /** Services of every run. */
  readonly services: Services;
  readonly telemetry: Telemetry;
  /** Counts answers. */
  readonly meter: Pick<SystemMeter, 'answered'>;
  readonly config: ServerConfig;
  readonly logger: Log;
  readonly now: () => number;
}

/** Starts a turn of a target. */
export type StartTurn = (target: TurnTarget, request: TurnRequest) => Promise<StartedTurn>;
/** Starts a run from a past event of another one. */
export type ForkRun = (target: TurnTarget, point: ForkPoint, request: TurnRequest) => Promise<StartedTurn>;

/** What the routes of an embedder work with. */
export interface RouteParts extends ServerBasics {
  /** Starts a turn for a client of this server. @throws EngineError as `Host.start`; FORBIDDEN when another engine runs the tenant's canvases. */
  readonly startTurn: StartTurn;
  /** The same, behind an event of another run. */
  readonly forkRun: ForkRun;
}

/** What the routes of the API work with; made once per server. */
export interface ServerParts extends RouteParts {
  readonly createCounter: CreateCounter;
  /** Whose the keys of requests are. */
  readonly callers: Callers;
  /** Connections that no valid key speaks for. */
  readonly strangers: Strangers;
  readonly shares: ServerShares;
  /** Reads a stored document; one that was read before is not read again. */
  readonly readStored: (dsl: JsonObject) => ReturnType<typeof readDocument>;
  /** Event streams over HTTP. */
  readonly streams: OpenStreams;
  /** Answers that clients have not taken yet. */
  readonly answers: AnswersInFlight;
  /** Uploads that are being received. */
  readonly uploads: BytesInFlight;
  /** Bodies that are being read into memory. */
  readonly bodies: BytesInFlight;
  /** Uploads by keys of chat pages. */
  readonly pageUploads: RateLimit;
  /** How often chats may begin. @default as often as they like: the server has no keys */
  readonly chatLimits?: RateLimits;
  /** Assistants of tenants whose chats name none, opened for all that ask at once. */
  readonly defaultChats: SharedReads<string>;
  readonly quotaMetrics: QuotaMetrics;
  readonly breakers: BreakerStates;
  readonly messages: RunsOfMessages;
  readonly traces: ReturnType<typeof openTraces>;
  readonly webhookSecurity: WebhookSecurity;
  readonly webhookTraces: WebhookTraces;
}

/** Completes the parts of a server. */
export function createServerParts(basics: ServerBasics): ServerParts {
  const { stores, config, logger, now } = basics;
  const createCounter = stores.createCounter ?? createMemoryCounter;
  const messages = new RunsOfMessages(stores.runs);
  const callers = new Callers({
    keys: config.apiKeys,
    tokens: stores.tokens,
    mostPerMinute: config.refusalsPerMinute,
    trustedProxies: config.trustedProxies,
    now,
  });
  const isShared = callers.hasKeys;
  const uploads = new BytesInFlight('uploads', config.uploadsBytes, isShared);
  const bodies = new BytesInFlight('bodies', config.bodiesBytes, isShared);
  const start = async (target: TurnTarget, request: TurnRequest, point?: ForkPoint): Promise<StartedTurn> => {
    // No other engine can be chosen without the administrator's key.
    if (config.adminKey !== undefined) await refuseOtherRuntimes(basics, target.tenant);
    const { gather, hold } = basics.arrivals;
    const command = checkedCommand(target, request, point);
    await hold(gather());
    const started = await hold(basics.host.start(command));
    const { tenant, messageId, id } = started.live.identity;
    messages.add(tenant, messageId, id);
    return started;
  };
  return {
    ...basics,
    startTurn: start,
    forkRun: (target, point, request) => start(target, request, point),
    createCounter,
    callers,
    strangers: new Strangers({
      perAddress: config.strangersPerAddress,
      most: MAX_STRANGERS,
      trustedProxies: config.trustedProxies,
    }),
    shares: {
      trials: new Shares({ most: config.maxRuns, isShared }),
      streams: new Shares({ most: config.maxConnections, isShared }),
      webSockets: new Shares({ most: config.maxConnections, isShared }),
    },
    readStored: createStoredReader(),
    streams: { count: 0 },
    answers: new AnswersInFlight({ maxBytes: config.answersBytes, isShared }),
    uploads,
    bodies,
    defaultChats: new SharedReads(),
    breakers: new BreakerStates(basics.services.models, basics.telemetry.registry, logger),
    quotaMetrics: new QuotaMetrics({
      registry: basics.telemetry.registry,
      usage: stores.usage,
      sessions: () => basics.host.load.sessions,
      uploads,
      bodies,
      log: logger,
      now,
    }),
    ...(isShared && { chatLimits: chatLimitsOf(basics) }),
    pageUploads: createRateLimit(createCounter('page-uploads', 60), (error) =>
      logger.error({ err: error }, 'uploads of chat pages cannot be counted and are refused'),
    ),
    messages,
    traces: openTraces(stores.log),
    webhookSecurity: new WebhookSecurity({
      createCounter,
      trustedProxies: config.trustedProxies,
      now,
      whenBroken: (error) => logger.error({ err: error }, 'calls of webhooks cannot be counted and are refused'),
    }),
    webhookTraces: new WebhookTraces(now),
  };
}

function chatLimitsOf({ config, stores, logger, now }: ServerBasics): RateLimits {
  const { chatsPerSecond: tenant, userChatsPerSecond: user, sessionChatsPerSecond: session } = config;
  const { waitingChats: maxWaiting, chatWaitMs: maxWaitMs } = config;
  return createRateLimits({
    ...{ rates: { tenant, user, session }, maxWaiting, maxWaitMs, now, log: logger },
    counter: stores.rates,
  });
}

/** What a stranger may have read as often as it likes must not take as long each time. */
function createStoredReader(): ServerParts['readStored'] {
  const known = new WeakMap<JsonObject, ReturnType<typeof readDocument>>();
  return (dsl) => {
    const before = known.get(dsl);
    if (before !== undefined) return before;
    const read = readDocument(dsl);
    known.set(dsl, read);
    return read;
  };
}
