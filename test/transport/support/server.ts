import { onTestFinished } from 'vitest';
import type { JsonObject } from '../../../src/json.js';
import { createModels } from '../../../src/models/router.js';
import type { Arrivals } from '../../../src/operators/arrivals.js';
import { modelsFromEnvironment, readConfig } from '../../../src/settings/read-settings.js';
import { createMemoryStores } from '../../../src/stores/memory-stores.js';
import type { Telemetry } from '../../../src/telemetry/telemetry.js';
import type { RouteGroup } from '../../../src/transport/http/route.js';
import { createServer, type RunnelServer, type ServerOptions } from '../../../src/transport/server.js';
import type { ServerPorts, ServerStores } from '../../../src/transport/server-parts.js';
import { createProbes, type Probes } from './test-components.js';

export interface TestServerOptions extends ServerPorts {
  /** Environment of the server and its models. */
  readonly env?: Readonly<Record<string, string>>;
  /** The text of the file of `RUNNEL_MODELS`. @default none */
  readonly models?: string;
  readonly stores?: ServerStores;
  /** What components may use beside models. */
  readonly services?: object;
  readonly now?: () => number;
  /** Told of what comes. @default one that is not seen */
  readonly arrivals?: Arrivals;
  /** Beside the server's own. */
  readonly routes?: readonly RouteGroup[];
  /** Agents in code. */
  readonly runners?: NonNullable<ServerOptions['runners']>;
  /** @default counts, and traces nothing */
  readonly telemetry?: Telemetry;
  /** The test stops it by itself; for servers of several tests. @default false */
  readonly outlivesTest?: boolean;
}

/** A server on a port of its own, gone with the test. */
export interface TestServer {
  readonly url: string;
  readonly server: RunnelServer;
  readonly stores: ServerStores;
  readonly probes: Probes;
  /** What was logged as an error. */
  readonly errors: unknown[];
  stop(): Promise<void>;
  /** Calls the API and gives the JSON answer. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Stores a document and gives the id of its agent. */
  agent(dsl: JsonObject, headers?: Record<string, string>): Promise<string>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies freely
  readonly body: any;
}

export async function startServer({
  env: given = {},
  models: modelsText,
  stores = createMemoryStores(),
  services = {},
  outlivesTest = false,
  ...options
}: TestServerOptions = {}): Promise<TestServer> {
  const probes = createProbes();
  const errors: unknown[] = [];
  const env = modelsText === undefined ? given : { ...given, RUNNEL_MODELS: 'models.json' };
  const models = createModels(await modelsFromEnvironment(env, async () => modelsText ?? ''));
  const server = createServer({
    config: readConfig({ RUNNEL_PORT: '0', RUNNEL_SHUTDOWN_GRACE_MS: '0', ...env }),
    stores,
    services: { models, ...services },
    ...options,
    registry: probes.registry,
    log: { info: () => {}, warn: () => {}, error: (fields, message) => errors.push({ message, ...fields }) },
  });
  const url = await server.listen();
  const stop = async (): Promise<void> => {
    await server.close();
    await models.close();
  };
  if (!outlivesTest) onTestFinished(stop);
  const call: TestServer['call'] = async (method, path, body, headers = {}) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: parse(text) };
  };
  let titles = 0;
  const agent: TestServer['agent'] = async (dsl, headers) => {
    titles += 1;
    const { body } = await call('POST', '/api/v1/agents', { title: `Agent ${titles}`, dsl }, headers);
    if (body.code !== 0) throw new Error(JSON.stringify(body));
    return body.data.id;
  };
  return { url, server, stores, probes, errors, call, agent, stop };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
