/** `runnel serve`: the server, from settings to shutdown. */

import { once } from 'node:events';
import { createServer as createSocketServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { EngineError } from '../errors.js';
import { EXIT_MS, STOPPING_MS } from '../hosting/host-options.js';
import type { Log } from '../logger.js';
import type { ModelsDescription } from '../models/router.js';
import { Arrivals } from '../operators/arrivals.js';
import { LoopTurns } from '../operators/loop-turns.js';
import type { AgentRecord } from '../records/agents.js';
import { LOCAL_TENANT } from '../settings/access.js';
import {
  describeGroups,
  formatSettings,
  readSettings,
  type ServerConfig,
  type Settings,
  unknownSettings,
} from '../settings/read-settings.js';
import { openTelemetry } from '../telemetry/telemetry.js';
import { listenOn } from '../transport/listen.js';
import { collectGarbage } from './collect-garbage.js';
import { type Command, EXIT, parse, readVersion } from './command.js';
import type { Examples } from './load-examples.js';
import { type OpenStores, openStores } from './open-stores.js';
import { openSpending } from './research/open-spending.js';
import { type ServedKnowledge, serveKnowledge } from './served-knowledge.js';
import type { Output, Terminal } from './terminal.js';

const HOUR_MS = 3_600_000;

/** When the first requests after a start are answered, what only the start needed is collected. */
const COLLECT_MS = 1_000;

/** A server that just started leaves its knowledge base alone for so long, unless it is asked for it. */
const KNOWLEDGE_MS = 3_000;

/** With `--restart`, a server that is asked to stop is killed so long before the time is over. */
const KILL_BEFORE_MS = 500;

/** A server that just started does not prune for so long. */
const FIRST_PRUNE_MS = 10 * 60_000;

/** The page, where the build puts it; a clone that was not built has none. */
const STUDIO_FOLDER = fileURLToPath(new URL('../../dist/studio/', import.meta.url));

type ServeSettings = Pick<Settings, 'server' | 'stores' | 'models' | 'nodes' | 'tools' | 'telemetry'>;

export const serveCommand: Command = {
  usage: 'serve [--examples] [--restart]',
  summary: 'serve canvases over HTTP, event streams and WebSockets',
  help: help(),
  run: serve,
};

function help(): string {
  return `  --examples         offers the canvases that come with Runnel as agents
  --restart          starts the server anew when its process ends, after 2 to 30 s, until this one is stopped

Ctrl-C and SIGTERM stop the server, within 10 s: runs in progress may end first. A second Ctrl-C stops it at once.
Where the server listens and what can be called goes to the standard output, the log (JSON lines) to the standard error.
Agents, sessions and runs are stored in an embedded database, or where DATABASE_URL and REDIS_URL point. Runs that were in progress when
the server was stopped or killed are recovered when it starts again.
Exit codes: 0 stopped, 1 the stores failed, 2 a setting is wrong, the port is taken, or another process uses the data folder.

Environment (default):
${formatSettings(describeGroups().flatMap(([, settings]) => settings))}`;
}

async function serve(args: readonly string[], terminal: Terminal): Promise<number> {
  const options = { examples: { type: 'boolean' }, restart: { type: 'boolean' } } as const;
  const { values } = parse(serveCommand, args, options, { least: 0, most: 0 });
  const settings = readSettings(terminal.env, 'server', 'stores', 'models', 'nodes', 'tools', 'telemetry');
  if (values.restart === true) return serveAgainAndAgain(args, settings.server, terminal);
  for (const problem of unknownSettings(terminal.env)) terminal.err.write(`warning: ${problem}\n`);
  await requirePort(settings.server);
  const log = await openLog(terminal.err);
  const deadline = new AbortController();
  try {
    const { shutdownGraceMs } = settings.server;
    return await Promise.race([
      serveUntilStopped(values.examples === true, settings, terminal, log),
      endOf(terminal.signal, Math.max(STOPPING_MS, shutdownGraceMs) - EXIT_MS, log, deadline.signal),
    ]);
  } finally {
    deadline.abort();
  }
}

/** Keeps a process alive that serves; gives the exit code of its last end. */
async function serveAgainAndAgain(
  args: readonly string[],
  { shutdownGraceMs }: ServerConfig,
  { signal: stopped, err }: Terminal,
): Promise<number> {
  const { openProcess, untilStopped } = await import('./keep-alive.js');
  const log = await openLog(err);
  const server = {
    args: ['serve', ...args.filter((arg) => arg !== '--restart')],
    killMs: Math.max(STOPPING_MS, shutdownGraceMs) - KILL_BEFORE_MS,
    stopped,
    onStart: (process: number | undefined) => log.info({ server: process }, 'starting a server'),
  };
  const { code, pauseMs } = await untilStopped({ open: () => openProcess(server), stopped }, (end) =>
    log.error(end, 'the server ended and is started again'),
  );
  // It was stopped while it waited for the next start.
  return pauseMs === undefined ? (code ?? EXIT.failed) : EXIT.finished;
}

/** Resolves when the time to stop is over, whatever is still under way: the process ends then, and what it has stored is in order. */
async function endOf(stop: AbortSignal, ms: number, log: Log, signal: AbortSignal): Promise<number> {
  if (!stop.aborted) await once(stop, 'abort', { signal });
  await pause(ms, undefined, { signal });
  log.warn({}, 'something did not end in time; runs that were not released are resumed when their leases expire');
  return EXIT.finished;
}

async function serveUntilStopped(
  hasExamples: boolean,
  settings: ServeSettings,
  terminal: Terminal,
  log: Log,
): Promise<number> {
  const { server: config } = settings;
  const stopListening = await logUnhandled(log);
  // Before the stores: a wrong setting must not leave a database open.
  const showsTexts = settings.telemetry.texts;
  const version = await readVersion();
  const telemetry = await openTelemetry(terminal.env, { version, log, showsTexts });
  const opened = await openParts(terminal, settings, hasExamples, log);
  const { examples, stores, studio, createServer, timeouts, closeServices, services } = opened;
  const { models, databases } = services;
  const arrivals = new Arrivals();
  const knowledge = serveKnowledge(stores, services, { settings, log, arrivals, graphMeters: telemetry.graphs });
  const hasRagflow = settings.nodes.ragflowBaseUrl !== undefined && settings.nodes.ragflowApiKey !== undefined;
  if (stores.sharedStates !== undefined) models.shareBreakers?.(stores.sharedStates, log);
  const stopPruning = pruneRegularly(stores, settings.stores.pruneEveryHours, log);
  const server = createServer({
    config,
    stores,
    services: {
      ...services,
      ...(!hasRagflow && { retriever: knowledge.retriever }),
      knowledge: knowledge.search,
      ...openSpending(settings.nodes, stores.sharedStates),
      loopTurns: new LoopTurns({ most: 1, later: arrivals.later }),
    },
    telemetry,
    arrivals,
    log,
    timeouts,
    databaseProbe: databases,
    openKnowledge: async () => (await knowledge.open()).base,
    openGraphBuilds: async () => (await knowledge.open()).builds,
    indexSizes: knowledge.sizes,
    documentsWaiting: knowledge.waiting,
    about: { version, kept: stores.kept },
    studio,
  });
  let later: NodeJS.Timeout | undefined;
  try {
    if (examples !== undefined) await storeExamples(examples, stores, config, log);
    const url = await server.listen();
    later = setTimeout(
      () => void wakeKnowledge(knowledge, { hasDocs: examples !== undefined, settings, log }),
      KNOWLEDGE_MS,
    ).unref();
    const { warnOfBrowsers } = await import('./browser-warning.js');
    await warnOfBrowsers({ apiKeys: config.apiKeys, chromium: settings.nodes.chromium }, log);
    const hasKeys = config.apiKeys.length > 0;
    terminal.out.write(
      welcome({
        url,
        hasKeys,
        hasPage: studio !== undefined,
        examples,
        models: models.describe(),
        place: stores.place,
      }),
    );
    setTimeout(() => void collectGarbage(), COLLECT_MS).unref();
    if (!terminal.signal.aborted) await once(terminal.signal, 'abort');
    log.info({}, 'stopping');
    return EXIT.finished;
  } finally {
    clearTimeout(later);
    await server.close();
    stopPruning();
    await knowledge.close();
    await stores.close();
    await closeServices();
    await telemetry.close();
    stopListening();
  }
}

/** Refuses a port that is taken before anything is stored; the server listens on it much later. */
async function requirePort(config: ServerConfig): Promise<void> {
  if (config.port === 0) return;
  const probe = createSocketServer();
  const closeOther = await listenOn(probe, config);
  await Promise.all([new Promise((resolve) => probe.close(resolve)), closeOther()]);
}

/** Opens the stores, first of all, while the examples and the modules of the server are read: each takes about as long as the other. */
async function openParts({ env }: Terminal, settings: ServeSettings, hasExamples: boolean, log: Log) {
  const opening = openStores(settings.stores, log);
  // Awaited below; without a handler a rejection before that would end the process.
  opening.catch(() => {});
  try {
    const examples = hasExamples ? await (await import('./load-examples.js')).loadExamples(Date.now()) : undefined;
    const [{ createServer }, { readStudio }, { openServices, timeoutsOf }] = await Promise.all([
      import('../transport/server.js'),
      import('../transport/studio/studio-files.js'),
      import('./open-services.js'),
    ]);
    const studio = settings.server.studio ? await readStudio(STUDIO_FOLDER) : undefined;
    const script = examples?.script;
    const { hasScript: _, close: closeServices, ...services } = await openServices(settings, { env, script });
    const stores = await opening.catch(async (error: unknown) => {
      await closeServices();
      // A data folder that another process uses is mended by a setting, as its message says.
      if (EngineError.is(error) && error.code === 'CONFLICT') {
        throw new EngineError('CONFIG_INVALID', error.message, { cause: error });
      }
      throw error;
    });
    return { examples, stores, studio, createServer, timeouts: timeoutsOf(settings.nodes), closeServices, services };
  } catch (error) {
    await (await opening.catch(() => undefined))?.close();
    throw error;
  }
}

/** Those who can call the server. */
function tenantsOf({ apiKeys }: ServerConfig): ReadonlySet<string> {
  return new Set(apiKeys.length === 0 ? [LOCAL_TENANT] : apiKeys.map(({ tenant }) => tenant));
}

/** What {@link wakeKnowledge} needs to know. */
interface Waking {
  /** Whether the pages of this package are offered, as they are where examples are. */
  readonly hasDocs: boolean;
  readonly settings: Pick<ServeSettings, 'server' | 'nodes'>;
  readonly log: Log;
}

/** Goes on with documents that wait, and makes the datasets that the server begins with. */
async function wakeKnowledge(knowledge: ServedKnowledge, { hasDocs, settings, log }: Waking): Promise<void> {
  try {
    await knowledge.resume();
    if (!hasDocs && settings.nodes.seedDirs.length === 0) return;
    const { docsSeed, folderSeeds } = await import('./seed-datasets.js');
    const seeds = await folderSeeds(settings.nodes.seedDirs, log);
    await knowledge.addSeeds([...(hasDocs ? [docsSeed()] : []), ...seeds], tenantsOf(settings.server));
  } catch (error) {
    log.warn({ err: error }, 'the knowledge base could not be brought up to date');
  }
}

/** Every tenant gets the examples, as no tenant's agents are visible to all. Examples that a user changed stay as they are. */
async function storeExamples({ agents }: Examples, stores: OpenStores, config: ServerConfig, log: Log): Promise<void> {
  const work = [...tenantsOf(config)].flatMap((tenant) =>
    agents.map((agent) => storeExample(stores, tenant, agent, log)),
  );
  await Promise.all(work);
}

async function storeExample({ agents }: OpenStores, tenant: string, agent: AgentRecord, log: Log): Promise<void> {
  const known = await agents.find(tenant, agent.id);
  try {
    if (known === undefined) await agents.insert(tenant, agent);
    else if (known.updatedAt === known.createdAt && !isDeepStrictEqual(known.dsl, agent.dsl)) {
      // The example of an older version, not changed by a user.
      await agents.update(tenant, agent.id, { dsl: agent.dsl });
    }
  } catch (error) {
    if (!EngineError.is(error) || !['CONFLICT', 'QUOTA_EXCEEDED'].includes(error.code)) throw error;
    log.warn({ agent: agent.id, reason: error.message }, 'an example is left out');
  }
}

/** Gives the way to stop it. */
function pruneRegularly(stores: OpenStores, everyHours: number, log: Log): () => void {
  if (everyHours === 0) return () => {};
  const everyMs = everyHours * HOUR_MS;
  let timer = setTimeout(prune, Math.min(everyMs, FIRST_PRUNE_MS)).unref();
  async function prune(): Promise<void> {
    try {
      log.info({ ...(await stores.prune(Date.now())) }, 'deleted expired data');
    } catch (error) {
      log.error({ err: error }, 'expired data could not be deleted');
    }
    timer = setTimeout(prune, everyMs).unref();
  }
  return () => clearTimeout(timer);
}

async function openLog(err: Output): Promise<Log> {
  const { pino } = await import('pino');
  const log: Log = pino<never>({ level: 'info' }, { write: (line) => void err.write(line) });
  return log;
}

/** Errors that have no stream left to go through, such as a socket that breaks after its run; gives the way back. */
async function logUnhandled(log: Log): Promise<() => void> {
  const { config } = await import('rxjs');
  const before = config.onUnhandledError;
  config.onUnhandledError = (error: unknown) => log.error({ err: error }, 'an error came after the end of its run');
  return () => {
    config.onUnhandledError = before;
  };
}

interface Welcome {
  readonly url: string;
  readonly hasKeys: boolean;
  /** Whether browsers get the page. */
  readonly hasPage: boolean;
  readonly examples: Examples | undefined;
  readonly models: ModelsDescription;
  /** Where data is stored. */
  readonly place: string;
}

function welcome({ url, hasKeys, hasPage, examples, models, place }: Welcome): string {
  const { isScripted, defaultProvider, providers } = models;
  const servers = [defaultProvider, ...providers].flatMap((one) => (one ? [`${one.name} (${one.baseUrl})`] : []));
  const answering = isScripted
    ? 'no provider is configured (OPENAI_BASE_URL, RUNNEL_MODELS), so the built-in scripted model answers'
    : [...new Set(servers)].join(', ');
  const names = examples?.agents.map(({ id }) => id).join(', ');
  const key = hasKeys ? ` -H "authorization: Bearer $KEY"` : '';
  const json = `${key} -H 'content-type: application/json'`;
  const call =
    names === undefined
      ? `curl -X POST ${url}/api/v1/agents${json} -d "{\\"title\\": \\"Mine\\", \\"dsl\\": $(cat canvas.json)}"`
      : `curl -N -X POST ${url}/api/v1/agents/example-chat/stream${json} -d '{"query":"hi"}'`;
  const page = hasPage ? `  Page:    ${url}/ (open it in a browser)\n` : '';
  return `Runnel listens on ${url}

${page}  Agents:  ${names ?? 'none yet; --examples brings some'}
  Models:  ${answering}
  Stores:  ${place}

Try:
  ${call}

Ctrl-C stops the server.
`;
}
