/** Sessions with databases that documents name, and the refusal of the server's own database. */

import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { noop } from 'rxjs';
import { EngineError } from '../../errors.js';
import { requireObject } from '../../operators/invalid-option.js';
import { dial, type Resolver, resolveHost, resolveWithSystem } from '../egress/dial.js';
import type { EgressClient } from '../egress/egress-client.js';
import { exchangeFailure } from '../egress/failures.js';
import { checkUrl, hostOf } from '../egress/url-policy.js';
import { quoteResponse, toolFailed } from '../failures.js';
import { databaseKindOf, databaseKinds } from './dialects.js';
import { type LoadMssql, mssqlSessions } from './mssql-session.js';
import { refusePrivilegedUser } from './rights.js';
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
 * server's own database, for a refused login and for a user who is an administrator of the server; `CONFIG_INVALID` for a driver that is not installed.
 */
export function createDatabases(options: DatabasesOptions): Databases {
  requireObject('createDatabases', 'options', options, 'an object');
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
      const opening = openChecked(address, options, ended);
      // The caller no longer waits: what opens all the same is closed.
      opening.then((session) => ended.aborted && session.abandon(), noop);
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
      // Nothing is asked of the server that its user's rights matter for.
      const session = await open({ ...address, allowsPrivilegedUser: true }, new AbortController().signal);
      try {
        await session.query('SELECT 1', PROBE_BOUNDS);
      } finally {
        await session.close();
      }
    },
  };
}

/** Opens, and closes again what must not be used. */
async function openChecked(
  address: DatabaseAddress,
  options: DatabasesOptions,
  signal: AbortSignal,
): Promise<DatabaseSession> {
  const session = await openSession(address, options, signal);
  if (address.allowsPrivilegedUser === true) return session;
  try {
    await refusePrivilegedUser(session);
    return session;
  } catch (error) {
    session.abandon();
    throw EngineError.is(error) ? error : notOpened(address, error);
  }
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
    throw notOpened({ ...target.address, host: target.host, port: target.port }, error);
  }
}

function notOpened({ host, port, password }: DatabaseAddress, cause: unknown): EngineError {
  const why = quoteResponse(describeFailure(cause), [password]);
  return toolFailed(`the database at ${host}:${port} could not be opened: ${why}`, { cause });
}

/** The message of a driver or a socket. Messages of servers name users and databases, never passwords. */
function describeFailure(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return describeFailure(error.errors.at(-1));
  return error instanceof Error && error.message !== '' ? error.message : 'it does not answer';
}

/** A database that no document may read. */
export interface OwnDatabase {
  readonly host: string;
  readonly port: number;
  readonly database: string;
}

/** The database behind a URL such as `postgres://user@host:5432/name`; undefined when it is none. */
export function ownDatabaseOf(url: string | undefined): OwnDatabase | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { hostname, port, pathname, username } = new URL(url);
  const named = decodeURIComponent(pathname.slice(1));
  return {
    host: hostname.replace(/^\[|\]$/g, '').toLowerCase() || 'localhost',
    port: port === '' ? 5432 : Number(port),
    database: named || decodeURIComponent(username),
  };
}

/**
 * Holds that a database is not the server's own, by whatever name its host is called.
 *
 * @throws EngineError TOOL_FAILED
 */
function refuseOwnDatabase(
  target: Omit<DatabaseAddress, 'kind' | 'username'> & { readonly addresses: readonly string[] },
  own: OwnDatabase | undefined,
  ownAddresses: readonly string[],
): void {
  const isRagflow =
    target.database === 'rag_flow' && (target.host === 'ragflow-mysql' || target.password === 'infini_rag_flow');
  const isOwn =
    own !== undefined &&
    own.port === target.port &&
    own.database.toLowerCase() === target.database.toLowerCase() &&
    (own.host === target.host.toLowerCase() || isSameMachine(target.addresses, ownAddresses));
  if (isRagflow || isOwn) {
    throw toolFailed('this database holds the data of the server itself and must not be read by a canvas');
  }
}

function isSameMachine(some: readonly string[], others: readonly string[]): boolean {
  if (some.some((address) => others.includes(address))) return true;
  const here = new Set(
    Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address)),
  );
  const isHere = (address: string): boolean =>
    here.has(address) || /^(?:127\.|0\.0\.0\.0$|::1$|::$|::ffff:127\.)/i.test(address);
  return some.some(isHere) && others.some((address) => isIP(address) === 0 || isHere(address));
}
