import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers';

/** What postgres.js says of the connection that a socket is for: places to try in turn, and whether it is encrypted. */
export interface SocketPlace {
  readonly path?: string | false;
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly ssl?: unknown;
}

/** A connection that lasted less, in milliseconds, was refused by its server. */
const SHORT_MS = 1_000;

/** An attempt that comes this soon after a refusal, in milliseconds, is none of ours: those are at least twice as far apart. */
const AT_ONCE_MS = 25;

/** Asks a server for encryption. */
const ENCRYPT = Uint8Array.of(0, 0, 0, 8, 4, 210, 22, 47);

/**
 * Gives what opens the sockets of a pool of postgres.js 3.4.9, without two of its faults.
 *
 * A connection that was lost while a statement was at work does not report that its successor is refused, as by a server that starts: it
 * tries again at once, hundreds of times a second, for as long as that takes. Here an attempt that comes at once fails, so that the pause
 * and the patience of `retryUnreachable` count.
 *
 * The other fault is described at `ENCODINGS` of `open-database.ts`. Where a connection is encrypted, its first message is the wish for that,
 * which has eight bytes; it is sent here when it does not come.
 */
export function createSockets(): (place: SocketPlace) => Duplex {
  let attempts = 0;
  let refusedAt = Number.NEGATIVE_INFINITY;
  return ({ path, host, port, ssl }) => {
    if (performance.now() - refusedAt < AT_ONCE_MS) return refused();
    const socket = new WatchedSocket((lastedMs) => {
      if (lastedMs < SHORT_MS) refusedAt = performance.now();
    });
    if (typeof path === 'string' && path !== '') return socket.connect(path);
    const at = attempts % host.length;
    attempts += 1;
    socket.host = host[at];
    socket.port = port[at];
    socket.connect(port[at] as number, host[at] as string);
    if (ssl) socket.once('connect', () => setImmediate(() => setImmediate(() => askForEncryption(socket))));
    return socket;
  };
}

function askForEncryption(socket: Socket): void {
  if (socket.bytesWritten === 0 && !socket.destroyed) socket.write(ENCRYPT);
}

/** A socket that says how long it lasted, also to those whose listeners postgres.js takes away. */
class WatchedSocket extends Socket {
  /** Where it goes, for postgres.js. */
  host: string | undefined;
  port: number | undefined;
  readonly #openedAt = performance.now();
  readonly #whenOver: (lastedMs: number) => void;

  constructor(whenOver: (lastedMs: number) => void) {
    super();
    this.#whenOver = whenOver;
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#whenOver(performance.now() - this.#openedAt);
    super._destroy(error, callback);
  }
}

/** A socket that fails as one does whose server cannot be connected to now. */
function refused(): Duplex {
  const socket = new Duplex({ read() {}, write() {} });
  const error = Object.assign(new Error('The database refused a connection a moment ago.'), { code: '57P03' });
  // When it has listeners, and what waits to be written to it is written.
  setImmediate(() => setImmediate(() => socket.destroy(error)));
  return socket;
}
