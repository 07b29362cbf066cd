/** What sessions of all drivers share: the port, their life, bounds of a statement. */
import type { Socket } from 'node:net';
import type { Json } from '../../json.js';
import type { TraceContext } from '../../trace-context.js';
import { toolFailed } from '../failures.js';
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
  /**
   * `prefer`: encrypted where the server supports it, unverified; `verify`: only to a server with a certificate for its
   * name. @default prefer
   */
  readonly tls?: 'prefer' | 'verify' | 'off';
  /** Lets the user be an administrator of the server, see `refusePrivilegedUser`. @default false */
  readonly allowsPrivilegedUser?: boolean;
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
  /** Closes by the protocol. */
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

/** What sets the sessions of one kind of server apart. */
export interface SessionParts {
  readonly dialect: Dialect;
  /** Runs a statement in a read-only transaction of its own. */
  readonly read: (sql: string, bounds: StatementBounds) => Promise<Table>;
  /** Cancels the statement over another connection, where the server would not notice the closed one. */
  readonly cancel: () => void;
  /** Closes the connection at once. */
  readonly drop: () => void;
  /** Closes by the protocol. */
  readonly close: () => Promise<void>;
}

/** A session over one connection: open until it is closed or given up, busy while a statement is at work. */
export function createSession(wire: Pick<Socket, 'bytesRead' | 'destroyed'>, parts: SessionParts): DatabaseSession {
  let isOpen = true;
  let isBusy = false;
  const abandon = (): void => {
    isOpen = false;
    if (isBusy) parts.cancel();
    parts.drop();
  };
  return {
    dialect: parts.dialect,
    get isAlive() {
      return isOpen && !wire.destroyed;
    },
    async query(sql, bounds) {
      isBusy = true;
      try {
        return await guardStatement(wire, parts.read(sql, bounds), { ...bounds, abandon });
      } finally {
        isBusy = false;
      }
    },
    async close() {
      isOpen = false;
      await parts.close();
    },
    abandon,
  };
}

/** Milliseconds between two looks at how much has come. */
const LOOK_MS = 20;
/** Milliseconds that a server has to give up a statement by itself, before the connection is closed. */
const GRACE_MS = 1_000;
/** Bytes beside the rows: names of columns, notices, the rows of a batch that is not wanted to its end. */
const SLACK_BYTES = 8 * 1024 * 1024;

/** What a statement may take from its connection. */
interface GuardOptions extends Pick<StatementBounds, 'timeoutMs' | 'maxBytes'> {
  /** Ends the statement at the server, and the connection. */
  readonly abandon: () => void;
}

/**
 * Waits for a statement within bounds: a server that exceeds its time, or sends far more than
 * is stored (one row may have gigabytes, which drivers gather before they give it), loses its connection.
 *
 * @throws EngineError TOOL_FAILED for those, otherwise what the work rejects with.
 */
async function guardStatement<T>(
  socket: Pick<Socket, 'bytesRead'>,
  work: Promise<T>,
  { timeoutMs, maxBytes, abandon }: GuardOptions,
): Promise<T> {
  const before = socket.bytesRead;
  let look: NodeJS.Timeout | undefined;
  let late: NodeJS.Timeout | undefined;
  const exceeded = new Promise<never>((_, reject) => {
    const give = (problem: string): void => {
      reject(toolFailed(problem));
      abandon();
    };
    look = setInterval(() => {
      if (socket.bytesRead - before > maxBytes + SLACK_BYTES) {
        give(`the answer is larger than ${maxBytes} bytes; ask for fewer or smaller columns`);
      }
    }, LOOK_MS);
    late = setTimeout(() => give(`there was no answer within ${timeoutMs / 1000} seconds`), timeoutMs + GRACE_MS);
  });
  try {
    return await Promise.race([work, exceeded]);
  } finally {
    clearInterval(look);
    clearTimeout(late);
  }
}
