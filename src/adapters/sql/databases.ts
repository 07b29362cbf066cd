/** The one way from Runnel to databases that documents name. */
import { isIP } from 'node:net';
import { EngineError } from '../../errors.js';
import { dial } from '../egress/dial.js';
import type { EgressClient } from '../egress/egress-client.js';
import { exchangeFailure } from '../egress/failures.js';
import { type Resolver, resolveHost, resolveWithSystem } from '../egress/resolve-host.js';
import { checkUrl, hostOf } from '../egress/url-policy.js';
import { toolFailed } from '../failures.js';
import { said } from '../said.js';
import { databaseKindOf, databaseKinds } from './dialects.js';
import { type LoadMssql, mssqlSessions } from './mssql-session.js';
import { type OwnDatabase, refuseOwnDatabase } from './own-database.js';
import type { DatabaseAddress, DatabaseSession, OpenSession, OpenTarget } from './session.js';
import { openTrinoSession } from './trino-session.js';

/** How databases are reached. */
export interface DatabasesOptions {
  /** Lets hosts be private and loopback addresses, but no metadata services. @default false */
  readonly allowPrivateNetwork?: boolean;
  /** What Trino is asked through. */
  readonly http: EgressClient;
  /** Whether Trino is asked over https. @default false */
  readonly trinoUsesTls?: boolean;
  /** The server's own database. @default none */
  readonly own?: OwnDatabase | undefined;
  /** Gives all addresses of a name. @default the operating system's */
  readonly resolver?: Resolver;
  /** PEM certificates that `verify` trusts in place of Node's. @default Node's */
  readonly trustedCertificates?: readonly string[];
  /** Milliseconds to connect, log in included. @default 10,000 */
  readonly connectTimeoutMs?: number;
  /** @default the package `mssql`, when it is installed */
  readonly loadMssql?: LoadMssql;
}

/** See {@link createDatabases}. */
export interface Databases {
  /** Names of the kinds that can be asked. */
  readonly kinds: readonly string[];
  /** Opens a session; aborting `signal` meanwhile closes what there is. */
  open(address: DatabaseAddress, signal: AbortSignal): Promise<DatabaseSession>;
  /** Connects and asks something trivial. @throws as `open`, and the errors of the driver. */
  probe(address: DatabaseAddress): Promise<void>;
}

const PROBE_BOUNDS = { maxRows: 1, maxBytes: 1024, timeoutMs: 5_000 };

/**
 * Makes what opens databases: a host is resolved once and all its addresses are judged by the rules of the egress client, and
 * the connection goes to those and no others. Sessions read; none of them can write.
 *
 * Errors of `open`: `URL_INVALID` and `URL_BLOCKED` for the host; `TOOL_FAILED` for a kind that is not supported, for the
 * server's own database and for a server that does not let us in; `CONFIG_INVALID` for a driver that is not installed.
 */
export function createDatabases(options: DatabasesOptions): Databases {
  const { connectTimeoutMs = 10_000 } = options;
  const open = async (address: DatabaseAddress, signal: AbortSignal): Promise<DatabaseSession> => {
    const ending = new AbortController();
    const stop = (): void => ending.abort();
    signal.addEventListener('abort', stop, { once: true });
    const late = setTimeout(stop, connectTimeoutMs);
    const { signal: ended } = ending;
    const aborted = new Promise<never>((_, reject) => {
      ended.addEventListener('abort', () =>
        reject(toolFailed(`the database could not be connected to within ${connectTimeoutMs / 1000} seconds`)),
      );
    });
    try {
      signal.throwIfAborted();
      const opening = openSession(address, options, ended);
      // Whoever waited has gone: what opens all the same is closed.
      opening.then((session) => ended.aborted && session.abandon(), ignore);
      return await Promise.race([opening, aborted]);
    } finally {
      clearTimeout(late);
      signal.removeEventListener('abort', stop);
    }
  };
  return {
    kinds: databaseKinds,
    open,
    async probe(address) {
      const session = await open(address, new AbortController().signal);
      try {
        await session.query('SELECT 1', PROBE_BOUNDS);
      } finally {
        await session.close();
      }
    },
  };
}

async function openSession(
  address: DatabaseAddress,
  options: DatabasesOptions,
  signal: AbortSignal,
): Promise<DatabaseSession> {
  const kind = databaseKindOf(address.kind);
  if (kind === undefined) {
    throw toolFailed(
      `databases of the kind "${address.kind}" are not supported; there are ${databaseKinds.join(', ')}`,
    );
  }
  const target = await locate({ ...address, port: address.port || kind.port }, options);
  switch (kind.dialect) {
    case 'trino':
      return openTrinoSession(target, { http: options.http, usesTls: options.trinoUsesTls ?? false });
    case 'mssql':
      return loggedIn(mssqlSessions(options.loadMssql), target, signal);
    case 'mysql':
      return loggedIn((await import('./mysql-session.js')).openMysqlSession, target, signal);
    case 'postgres':
      return loggedIn((await import('./postgres-session.js')).openPostgresSession, target, signal);
  }
}

/** Resolves and judges; what it dials was judged. */
async function locate(address: DatabaseAddress, options: DatabasesOptions): Promise<OpenTarget> {
  const { resolver = resolveWithSystem, allowPrivateNetwork = false, own } = options;
  const reach = allowPrivateNetwork ? 'private' : 'public';
  const { port, database, password } = address;
  const written = address.host.trim().replace(/^\[|\]$/g, '');
  if (written === '' || (isIP(written) === 0 && !/^[\p{L}\p{N}._-]+$/u.test(written))) {
    throw new EngineError('URL_INVALID', 'The host of the database must be a name or an address, and nothing else.');
  }
  try {
    const url = checkUrl(`http://${written.includes(':') ? `[${written}]` : written}:${port}/`, { reach }, 'Host');
    const host = hostOf(url);
    const addresses = await resolveHost(url, { resolver, reach, what: 'Host' });
    const ownAddresses = own === undefined ? [] : await addressesOf(own.host, resolver);
    refuseOwnDatabase({ host, port, database, password, addresses }, own, ownAddresses);
    return {
      address,
      host,
      port,
      trusted: options.trustedCertificates,
      dial: (signal) => dial({ host, port, addresses, isTls: false, trusted: undefined, signal }),
    };
  } catch (error) {
    const { code, message, retryable } = exchangeFailure(error, `Connecting to ${written}`);
    throw new EngineError(code, message.replaceAll('http://', ''), { retryable });
  }
}

async function addressesOf(host: string, resolver: Resolver): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host];
  return resolver(host).catch(() => []);
}

async function loggedIn(open: OpenSession, target: OpenTarget, signal: AbortSignal): Promise<DatabaseSession> {
  try {
    return await open(target, signal);
  } catch (error) {
    if (EngineError.is(error)) throw error;
    throw toolFailed(
      `the database at ${target.host}:${target.port} could not be opened: ${said(describeFailure(error), [target.address.password])}`,
      {
        cause: error,
      },
    );
  }
}

/** What a driver or a socket says. Messages of servers name users and databases, never passwords. */
function describeFailure(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return describeFailure(error.errors.at(-1));
  return error instanceof Error && error.message !== '' ? error.message : 'it does not answer';
}

function ignore(): void {}
