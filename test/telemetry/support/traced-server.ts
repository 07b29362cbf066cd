import { onTestFinished } from 'vitest';
import { openTelemetry, type Telemetry } from '../../../src/telemetry/telemetry.js';
import { given } from '../../../src/transport/http/input.js';
import { startServer, type TestServer, type TestServerOptions } from '../../transport/support/server.js';
import { type Behaviour, type Collector, setEnvironment, startCollector } from './collector.js';

/** A server that is traced into a collector of the test's own. */
export interface TracedServer extends TestServer {
  readonly collector: Collector;
  readonly telemetry: Telemetry;
  /** What telemetry warned of. */
  readonly warnings: string[];
  /** Runs an agent; gives the id of the run when it is over. */
  run(agent: string, query: string, headers?: Record<string, string>): Promise<string>;
  /** Sends everything that is left; nothing is traced afterwards. */
  flush(): Promise<void>;
}

export interface TracedServerOptions extends TestServerOptions {
  readonly behaviour?: Behaviour;
  /** Further variables for OpenTelemetry. */
  readonly otel?: Readonly<Record<string, string>>;
  readonly closeMs?: number;
  readonly showsTexts?: boolean;
}

export async function startTracedServer(options: TracedServerOptions = {}): Promise<TracedServer> {
  const { behaviour, otel = {}, closeMs, showsTexts, ...rest } = options;
  const collector = await startCollector(behaviour);
  const env = setEnvironment({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...otel });
  const warnings: string[] = [];
  const log = { warn: (fields: object, message: string) => void warnings.push(`${message} ${JSON.stringify(fields)}`) };
  const telemetry = await openTelemetry(env, { version: '1.2.3', log, ...given({ closeMs, showsTexts }) });
  let closed: Promise<void> | undefined;
  const flush = (): Promise<void> => {
    closed ??= telemetry.close();
    return closed;
  };
  onTestFinished(flush);
  const server = await startServer({ ...rest, telemetry });
  const run: TracedServer['run'] = async (agent, query, headers = {}) => {
    const answer = await server.call('POST', `/api/v1/agents/${agent}/run`, { query }, headers);
    return answer.headers.get('x-run-id') ?? '';
  };
  return { ...server, collector, telemetry, warnings, run, flush };
}
