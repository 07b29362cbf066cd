/** `runnel serve`: the server, from settings to shutdown. */
import { once } from 'node:events';
import type { Stores } from '../graph/service-ports.js';
import type { ModelsDescription } from '../models/router.js';
import type { Log, ServerConfig } from '../transport/index.js';
import { type Command, EXIT, parse } from './command.js';
import { type Examples, loadExamples } from './load-examples.js';
import { ENGINE_SETTINGS, formatSettings } from './settings.js';
import type { Output, Terminal } from './terminal.js';

export const serveCommand: Command = {
  usage: 'serve [--examples]',
  summary: 'serve canvases over HTTP, event streams and WebSockets',
  help,
  run: serve,
};

async function help(): Promise<string> {
  const { describeSettings } = await import('../transport/index.js');
  return `  --examples         offers the canvases that come with Runnel as agents

Ctrl-C and SIGTERM stop the server: runs in progress may end first. A second Ctrl-C stops it at once.
Where the server listens and what can be called goes to the standard output, the log (JSON lines) to the standard error.
Agents, sessions and runs are kept in memory and are gone when the server stops.
Exit codes: 0 stopped, 2 a setting is wrong or the port is taken.

Environment (default):
${formatSettings([...describeSettings(), ...ENGINE_SETTINGS])}`;
}

async function serve(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values } = parse(serveCommand, args, { examples: { type: 'boolean' } }, { least: 0, most: 0 });
  // Loaded here, so that `runnel --help` and bad arguments do not wait for a whole server.
  const [{ createServer, readConfig }, { createMemoryStores }, { openServices }, { createTimeoutResolver }] =
    await Promise.all([
      import('../transport/index.js'),
      import('../stores/index.js'),
      import('./open-services.js'),
      import('../graph/timeouts.js'),
    ]);
  const settings = readConfig(terminal.env);
  const examples = values.examples === true ? await loadExamples(Date.now()) : undefined;
  const { hasScript: _, ...services } = await openServices(terminal.env, { script: examples?.script });
  const { models } = services;
  const stores = createMemoryStores();
  if (examples !== undefined) await insertAgents(examples, stores, settings);
  const log = await openLog(terminal.err);
  const stopListening = await logUnhandled(log);
  const timeouts = createTimeoutResolver({ environment: terminal.env });
  const server = createServer({ config: settings, stores, services, log, timeouts });
  try {
    const url = await server.listen();
    const hasKeys = settings.apiKeys.length > 0;
    terminal.out.write(welcome({ url, hasKeys, examples, models: models.describe() }));
    if (!terminal.signal.aborted) await once(terminal.signal, 'abort');
    log.info({}, 'stopping');
    return EXIT.finished;
  } finally {
    await server.close();
    await models.close();
    stopListening();
  }
}

/** Every tenant gets the examples, for there is no tenant whose agents all may see. */
async function insertAgents({ agents }: Examples, stores: Stores, { apiKeys }: ServerConfig): Promise<void> {
  const { LOCAL_TENANT } = await import('../transport/access/api-keys.js');
  const tenants = new Set(apiKeys.length === 0 ? [LOCAL_TENANT] : apiKeys.map(({ tenant }) => tenant));
  for (const tenant of tenants) {
    for (const agent of agents) await stores.agents.insert(tenant, agent);
  }
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
  readonly examples: Examples | undefined;
  readonly models: ModelsDescription;
}

function welcome({ url, hasKeys, examples, models }: Welcome): string {
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
  return `Runnel listens on ${url}

  Agents:  ${names ?? 'none yet; --examples brings some'}
  Models:  ${answering}
  Stores:  in memory, gone when the server stops

Try:
  ${call}

Ctrl-C stops the server.
`;
}
