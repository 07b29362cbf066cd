import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { toolFailed } from '../failures.js';
import type { DatabaseAddress } from './session.js';

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

/** A database, and where its name leads. */
export interface Located extends Pick<DatabaseAddress, 'host' | 'database' | 'password'> {
  readonly port: number;
  readonly addresses: readonly string[];
}

/**
 * Holds that a database is not the server's own, by whatever name its host is called.
 *
 * @throws EngineError TOOL_FAILED
 */
export function refuseOwnDatabase(
  target: Located,
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
