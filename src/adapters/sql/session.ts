/** What a driver gives: one connection to one database, on which statements are run one after the other. */
import type { Socket } from 'node:net';
import type { TraceContext } from '../../graph/trace-context.js';
import type { Json } from '../../json.js';
import type { Dialect } from './dialects.js';

/** A database as a document names it. */
export interface DatabaseAddress {
  /** Any case, such as `mysql` or `postgresql`. */
  readonly kind: string;
  readonly host: string;
  /** 0: the usual one of its kind. */
  readonly port: number;
  readonly database: string;
  readonly username: string;
  readonly password: string;
  /** `prefer`: encrypted where the server can, whoever it is; `verify`: only to a server with a certificate for its name. @default prefer */
  readonly tls?: 'prefer' | 'verify' | 'off';
}

/** How much one statement may give, and how long it may take. */
export interface StatementBounds {
  readonly maxRows: number;
  /** Bytes that its rows may have in all; what is beyond is left out. */
  readonly maxBytes: number;
  readonly timeoutMs: number;
  /** Passed on in headers, where statements travel over HTTP. @default nothing */
  readonly trace?: TraceContext | undefined;
}

/** What a statement gave. */
export interface Table {
  /** Names, each of them once. */
  readonly columns: readonly string[];
  /** Cells in the order of the columns. */
  readonly rows: readonly (readonly Json[])[];
  /** There were more rows than are here. */
  readonly isCut: boolean;
}

/** A connection to a database; nothing on it can write. */
export interface DatabaseSession {
  readonly dialect: Dialect;
  /**
   * Runs one statement in a read-only transaction of its own, and gives it up after its time.
   *
   * Rejects with the error of the driver; `isAlive` says whether a further statement can be run.
   */
  query(sql: string, bounds: StatementBounds): Promise<Table>;
  readonly isAlive: boolean;
  /** Says goodbye and closes. */
  close(): Promise<void>;
  /** Ends what is running, at the server too, and closes; at once. */
  abandon(): void;
}

/** A checked address, and where exactly its server is. */
export interface OpenTarget {
  readonly address: DatabaseAddress;
  /** Name for certificates. */
  readonly host: string;
  readonly port: number;
  /** PEM certificates to trust; absent: those of Node. */
  readonly trusted?: readonly string[] | undefined;
  /** Connects to what was judged; aborting `signal` closes the connection. */
  dial(signal: AbortSignal): Promise<Socket>;
}

/** Opens a session over one connection; aborting `signal` before it is open closes what there is. */
export type OpenSession = (target: OpenTarget, signal: AbortSignal) => Promise<DatabaseSession>;
