/** Trino over HTTP. */
import { setTimeout as delay } from 'node:timers/promises';
import { firstValueFrom, fromEvent, takeUntil } from 'rxjs';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../json.js';
import type { TraceContext } from '../../trace-context.js';
import type { EgressClient, EgressRequest } from '../egress/egress-client.js';
import { toolFailed } from '../failures.js';
import { type CellKind, RowCollector } from './cells.js';
import type { DatabaseSession, OpenTarget, StatementBounds, Table } from './session.js';

/** The user of statements when the document names none. */
const USUAL_USER = 'ragflow';
/** Milliseconds between two polls of a server that has no result yet. */
const POLL_MS = 50;
/** Milliseconds for closing by the protocol. */
const CANCEL_MS = 5_000;

/** What asks a coordinator. */
export interface TrinoOptions {
  readonly http: EgressClient;
  /** Over https, which credentials need. */
  readonly usesTls: boolean;
}

/**
 * Makes a session of Trino: statements over HTTP, no connection in between. `database` is `catalog.schema` or `catalog`.
 *
 * Errors of `query`: those of `EgressClient`; `TOOL_FAILED` with the coordinator's message.
 */
export function openTrinoSession(
  { address, host, port }: Omit<OpenTarget, 'dial'>,
  options: TrinoOptions,
): DatabaseSession {
  const { http, usesTls } = options;
  const { username, password, database } = address;
  const [catalog = '', schema = 'default'] = database.split(/[./]/, 2);
  if (password !== '' && !usesTls) {
    throw toolFailed('Trino takes a password over https alone; the operator sets TRINO_USE_TLS=1');
  }
  const user = username || USUAL_USER;
  const headers: Record<string, string> = {
    'x-trino-user': user,
    'x-trino-catalog': catalog,
    'x-trino-schema': schema,
    'x-trino-source': 'runnel',
    ...(password === '' ? {} : { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` }),
  };
  const origin = `${usesTls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
  let current: AbortController | undefined;
  let isAlive = true;
  const end = (): void => {
    isAlive = false;
    current?.abort();
  };
  return {
    dialect: 'trino',
    get isAlive() {
      return isAlive;
    },
    async query(sql, bounds) {
      const ending = new AbortController();
      current = ending;
      const late = setTimeout(
        () => ending.abort(toolFailed(`there was no answer within ${bounds.timeoutMs / 1000} seconds`)),
        bounds.timeoutMs,
      );
      try {
        const { trace = {} } = bounds;
        return await run({ http, origin, headers, trace, signal: ending.signal }, sql, bounds);
      } catch (error) {
        ending.signal.throwIfAborted();
        throw error;
      } finally {
        clearTimeout(late);
      }
    },
    close: async () => end(),
    abandon: end,
  };
}

interface Exchange {
  readonly http: EgressClient;
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly trace: TraceContext;
  readonly signal: AbortSignal;
}

/** Asks until there is nothing more, or enough; a query that is left in the middle is ended at the coordinator. */
async function run(exchange: Exchange, sql: string, bounds: StatementBounds): Promise<Table> {
  const collector = new RowCollector(bounds);
  const maxBytes = bounds.maxBytes * 2 + 1024 * 1024;
  let next: string | undefined;
  try {
    let page = await ask(exchange, { url: `${exchange.origin}/v1/statement`, method: 'POST', body: sql, maxBytes });
    for (;;) {
      next = nextOf(page, exchange.origin);
      const isEnough = !take(page, collector);
      if (next === undefined || isEnough) return collector.table();
      if (page.data === undefined) await delay(POLL_MS, undefined, { signal: exchange.signal });
      page = await ask(exchange, { url: next, maxBytes });
    }
  } finally {
    if (next !== undefined) cancel(exchange, next);
  }
}

/** @throws EngineError TOOL_FAILED with the coordinator's own message. */
function take({ error, columns, data }: JsonObject, collector: RowCollector): boolean {
  if (isJsonObject(error)) throw toolFailed(typeof error.message === 'string' ? error.message : 'the query failed');
  if (Array.isArray(columns)) collector.setColumns(columns.map(columnOf));
  return !Array.isArray(data) || data.every((row) => collector.add(Array.isArray(row) ? row : [row]));
}

function columnOf(column: Json): { readonly name: string; readonly kind: CellKind } {
  const { name, type } = isJsonObject(column) ? column : {};
  const kind = typeof type === 'string' ? kindOf(type) : 'plain';
  return { name: typeof name === 'string' ? name : '', kind };
}

function kindOf(type: string): CellKind {
  if (type.startsWith('decimal')) return 'decimal';
  if (type.startsWith('timestamp')) return 'time';
  if (type === 'bigint') return 'whole';
  return type === 'json' ? 'json' : 'plain';
}

/** The next page of the answer, at the same server only: another one would get the credentials. */
function nextOf({ nextUri }: JsonObject, origin: string): string | undefined {
  if (typeof nextUri !== 'string' || !URL.canParse(nextUri)) return undefined;
  const { pathname, search } = new URL(nextUri);
  return `${origin}${pathname}${search}`;
}

async function ask(exchange: Exchange, request: EgressRequest): Promise<JsonObject> {
  const { http, headers, trace, signal } = exchange;
  signal.throwIfAborted();
  const response = await firstValueFrom(
    http.fetch({ ...request, ...trace, headers, followRedirects: false }).pipe(takeUntil(fromEvent(signal, 'abort'))),
  );
  const { status } = response;
  if (status < 200 || status >= 300) throw toolFailed(`the coordinator answered with status ${status}`);
  const page = parseJson(response.text());
  if (isJsonObject(page)) return page;
  throw toolFailed('the coordinator answered something that is no JSON');
}

function cancel({ http, headers, trace }: Exchange, url: string): void {
  http.fetch({ ...trace, url, method: 'DELETE', headers, timeoutMs: CANCEL_MS, followRedirects: false }).subscribe({
    // There is no caller left to report to.
    error: () => {},
  });
}
