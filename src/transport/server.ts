import { createServer as createHttpServer, type ServerOptions as HttpServerOptions, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Runner } from '../agents/runner/runner.js';
import { builtInComponents, checkCanvas, type LoadOptions } from '../canvas/load-canvas.js';
import type { Services } from '../components/services.js';
import { createCanvasOpener } from '../hosting/canvases.js';
import { createHost, type Host } from '../hosting/host.js';
import { STOPPING_MS } from '../hosting/host-options.js';
import { wholeLog } from '../hosting/repeated-texts.js';
import { type Log, SILENT_LOG } from '../logger.js';
import { Arrivals } from '../operators/arrivals.js';
import { requireObject } from '../operators/invalid-option.js';
import { createRunSteers } from '../research/service/run-steers.js';
import type { ServerConfig } from '../settings/read-settings.js';
import { createTelemetry, type Telemetry, withTraceIds } from '../telemetry/telemetry.js';
import { addServerGauges } from './admin/server-gauges.js';
import { API_PREFIX, createApp } from './app.js';
import { createChatServices } from './chat/chat-services.js';
import type { RouteGroup } from './http/route.js';
import { SlowClients } from './http/slow-clients.js';
import { SystemMeter } from './http/system-meter.js';
import { listenOn } from './listen.js';
import { placeConnection } from './live/live-connection.js';
import { LiveServer } from './live/live-server.js';
import { AgentRunners } from './runners/agent-runners.js';
import { createServerParts, type ServerPorts, type ServerStores } from './server-parts.js';

/** How long answers that are under way may take when everything else has stopped. */
const FLUSH_MS = 1_000;

/** How often connections that wait for another request are closed while the server stops. */
const IDLE_MS = 50;

/** Times for the head of a request, also for the first byte of a connection: the least, for a process that is busy, and the most. */
const HEADERS_MS = [1_000, 15_000] as const;

/** Longest time for a whole request, however fast its client is. */
const REQUEST_MS = 300_000;

/** What a server is made of. Everything but the settings, the stores and the services has a default. */
export interface ServerOptions extends LoadOptions, ServerPorts {
  readonly config: ServerConfig;
  readonly stores: ServerStores;
  /** Services of every run: the models, and what else components may use. Files and the session are added per run. */
  readonly services: Services;
  /** Told of what comes, before which other work does not begin that it is shared with, such as searches. @default a new one */
  readonly arrivals?: Arrivals;
  /** Watches the runs. @default counts them, and traces nothing */
  readonly telemetry?: Telemetry;
  /** @default writes nothing */
  readonly log?: Log;
  /** Clock in milliseconds since 1970. @default Date.now */
  readonly now?: () => number;
  /** More routes below `/api/v1`, guarded, parsed and described like the server's own. @default none */
  readonly routes?: readonly RouteGroup[];
  /**
   * Agents in code, by name: `createRunner` runs them, and `/api/v1/runners/{name}/…` has the paths of `agentHandler`, with the server's keys; each tenant
   * has sessions of its own. Names have letters, digits, `_` and `-`. @default none
   */
  readonly runners?: Readonly<Record<string, Runner>>;
}

/** A server, not listening yet. */
export interface RunnelServer {
  readonly http: Server;
  /** Listens as the settings say; resolves with the address. @throws EngineError CONFIG_INVALID when it cannot. */
  listen(): Promise<string>;
  /**
   * Stops gracefully: takes no more connections and no more runs, lets runs end until 6 s before `RUNNEL_SHUTDOWN_GRACE_MS` is over and then
   * releases them to another process, or cancels those that none can recover; their streams end, and WebSockets are closed with 1012.
   */
  close(): Promise<void>;
}

/** Makes a server: REST, event streams and WebSockets over the given ports. */
export function createServer(options: ServerOptions): RunnelServer {
  requireObject('createServer', 'options', options, 'an object with "config", "stores" and "services"');
  requireObject('createServer', 'config', options.config, 'what readConfig(process.env) gives');
  requireObject('createServer', 'stores', options.stores, 'stores, such as createMemoryStores() gives');
  requireObject('createServer', 'services', options.services, 'the services of nodes, such as { models }');
  const { config, stores, log = SILENT_LOG, now = Date.now, registry, timeouts } = options;
  const { telemetry = createTelemetry(), arrivals = new Arrivals() } = options;
  const meter = new SystemMeter();
  const logger = withTraceIds(log, telemetry.idsOf);
  const { models } = options.services;
  const chats = createChatServices({ store: stores.chats, models, log: logger, now });
  const steers = stores.steers && createRunSteers({ store: stores.steers, signals: stores.signals, now });
  const services: Services = {
    metrics: meter,
    ...chats.services,
    ...(steers && { steers }),
    ...options.services,
  };
  const loading: LoadOptions = {
    ...(registry === undefined ? {} : { registry }),
    ...(timeouts === undefined ? {} : { timeouts }),
  };
  const openCanvas = createCanvasOpener(loading);
  const { durability } = config;
  // A tenant alone shares with the visitors of its chat pages.
  const isShared = config.apiKeys.length > 0;
  const running = { openCanvas, limits: config, isShared, durability, telemetry };
  const host = createHost({ stores, services, ...running, logger, now });
  const checkDocument = (dsl: unknown) => checkCanvas(dsl, loading).issues;
  const parts = createServerParts({
    // As the host reads it: what routes fold themselves is whole, too.
    stores: { ...stores, log: wholeLog(stores.log) },
    host,
    checkDocument,
    registry: registry ?? builtInComponents,
    timeouts,
    openCanvas,
    services,
    telemetry,
    meter,
    config,
    logger,
    now,
    arrivals,
    databaseProbe: options.databaseProbe,
    openKnowledge: options.openKnowledge,
    openGraphBuilds: options.openGraphBuilds,
    indexSizes: options.indexSizes,
    documentsWaiting: options.documentsWaiting,
    about: options.about,
    studio: config.studio ? options.studio : undefined,
  });
  const { callers, strangers } = parts;
  const guard = { callers, strangers, corsOrigins: config.corsOrigins };
  const live = new LiveServer({ parts, guard });
  const runners = new AgentRunners({
    runners: options.runners ?? {},
    guard,
    prefix: `${API_PREFIX}/runners`,
    placeSocket: (tenant, socket) => placeConnection(parts, tenant, socket),
  });
  addServerGauges(telemetry.registry, services.models, () => ({
    streams: parts.streams.count,
    waitingChats: parts.chatLimits?.waiting ?? 0,
    indexes: options.indexSizes?.() ?? { open: 0, passages: 0 },
    ...host.load,
    ...live.load,
  }));
  const slow = new SlowClients({
    slowMs: config.slowClientMs,
    now: () => performance.now(),
    whenCut: (about) => logger.warn(about, 'a client was too slow and was cut off'),
  });
  const http = createHttpServer(patience(config), createApp(parts, guard, options.routes, runners).callback());
  http.on('connection', (socket: Socket) => {
    arrivals.note();
    strangers.connected(socket);
  });
  http.on('request', (request, response) => {
    arrivals.note();
    strangers.asks(request);
    const forget = slow.watch(request, response);
    response.once('close', () => {
      forget();
      strangers.wait(request.socket);
    });
  });
  http.on('upgrade', (request, socket: Socket, head) => {
    strangers.asks(request);
    if (!runners.upgrade(request, socket, head)) void live.upgrade(request, socket, head);
  });
  let closeOther = async (): Promise<void> => {};
  return {
    http,
    async listen() {
      closeOther = await listenOn(http, config);
      host.recover();
      return urlOf(http);
    },
    async close() {
      const stopped = runners.close();
      await close({ http, closeOther, host, live }, Math.max(0, config.shutdownGraceMs - STOPPING_MS));
      await stopped;
    },
  };
}

/** How long a request may take to come: its head, and all of it. */
function patience({ slowClientMs }: ServerConfig): HttpServerOptions {
  const [least, most] = HEADERS_MS;
  const headersTimeout = Math.min(most, Math.max(least, slowClientMs));
  return { headersTimeout, requestTimeout: REQUEST_MS, connectionsCheckingInterval: headersTimeout / 4 };
}

function urlOf(http: Server): string {
  const address = http.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${name}:${address.port}`;
}

/** What of a server is closed. */
interface Closing {
  readonly http: Server;
  /** Closes its second address. */
  readonly closeOther: () => Promise<void>;
  readonly host: Host;
  readonly live: LiveServer;
}

async function close({ http, closeOther, host, live }: Closing, graceMs: number): Promise<void> {
  // An HTTP server that never listened has nothing to close, and says so with an error.
  const first = http.listening ? new Promise((resolve) => http.close(resolve)) : Promise.resolve();
  const closed = Promise.all([first, closeOther()]);
  // A connection whose last answer is sent would stay open for another request.
  const idle = setInterval(() => http.closeIdleConnections(), IDLE_MS);
  let hurry: NodeJS.Timeout | undefined;
  try {
    await host.close(graceMs);
    hurry = setTimeout(() => http.closeAllConnections(), FLUSH_MS);
    await Promise.all([live.close(), closed]);
  } finally {
    clearTimeout(hurry);
    clearInterval(idle);
  }
}
