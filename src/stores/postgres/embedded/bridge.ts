import net from 'node:net';
import { Fifo } from '../../../operators/fifo.js';
import { ClientBytes, NO_ENCRYPTION, ROLLBACK, type SessionStatus, SYNC, statusAfter } from './wire.js';

/** The part of PGlite that is needed: takes messages, gives the answer. */
export interface ProtocolServer {
  execProtocolRawStream(
    messages: Uint8Array,
    options: { readonly onRawData: (part: Uint8Array) => void },
  ): Promise<void>;
}

/** What one statement with its parameters may take. */
const MAX_EXCHANGE_BYTES = 256 * 1024 ** 2;

export interface BridgeOptions {
  /** Path of the Unix socket to listen at. */
  readonly path: string;
  /** Receives an error of the database itself, after which it cannot be used. */
  readonly onBroken: (error: unknown) => void;
}

/**
 * Lets many connections share a database that has a single session.
 *
 * A connection has the database from the first message of an exchange until the database is ready again and outside a
 * transaction, so transactions of different connections never mix; others wait, first come, first served, behind one that is
 * urgent (`URGENT_APPLICATION`). That one asks again when it has its answer, so others have their turns in between. A
 * connection that breaks is rolled back before the next one is served. COPY and the cancelling of queries do not pass.
 */
export async function openBridge(db: ProtocolServer, options: BridgeOptions): Promise<net.Server> {
  const { path, onBroken } = options;
  const session = new SharedSession(db, onBroken);
  const server = net.createServer((socket) => {
    // An error while nothing is being read needs a listener, or the process ends; reading reports it too.
    socket.on('error', () => {});
    void converse(socket, session, new ClientBytes(MAX_EXCHANGE_BYTES));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  return server;
}

/** Passes on the messages of a client until its connection ends, whichever way. */
async function converse(socket: net.Socket, session: SharedSession, input: ClientBytes): Promise<void> {
  const visit = new Visit(session);
  let isOpen = false;
  try {
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      input.push(chunk);
      while (!isOpen) {
        const opening = input.takeOpening();
        if (opening === undefined) break;
        if (opening.type === 'cancel') return;
        if (opening.type === 'encryption') {
          socket.write(NO_ENCRYPTION);
          continue;
        }
        visit.isUrgent = opening.isUrgent;
        socket.write(await visit.send(opening.bytes));
        isOpen = true;
      }
      for (let turn = input.takeTurn(); isOpen && turn !== undefined; turn = input.takeTurn()) {
        if (turn.type === 'end') return;
        socket.write(await visit.send(turn.bytes));
      }
    }
  } catch {
    // A broken socket, or a broken database, which `onBroken` reports: either way this conversation is over.
  } finally {
    socket.destroy();
    await visit.leave();
  }
}

/** The one session, lent to one visitor at a time. */
class SharedSession {
  readonly #db: ProtocolServer;
  readonly #onBroken: (error: unknown) => void;
  /** Those who wait; each takes the session. */
  readonly #urgent = new Fifo<() => void>();
  readonly #usual = new Fifo<() => void>();
  #isLent = false;

  constructor(db: ProtocolServer, onBroken: (error: unknown) => void) {
    this.#db = db;
    this.#onBroken = onBroken;
  }

  /** Resolves when the session is free and nothing waits before. */
  async borrow(isUrgent: boolean): Promise<void> {
    if (!this.#isLent) this.#isLent = true;
    else await new Promise<void>((take) => (isUrgent ? this.#urgent : this.#usual).push(take));
  }

  /** Hands it to the next that waits. */
  giveBack(): void {
    if (this.#urgent.size > 0) this.#urgent.take()();
    else if (this.#usual.size > 0) this.#usual.take()();
    else this.#isLent = false;
  }

  async run(messages: Uint8Array): Promise<Buffer> {
    try {
      // In parts, as `execProtocolRaw` takes answers apart besides and keeps what it found for ever.
      const parts: Uint8Array[] = [];
      // Copies: a part is a view of memory that the next one overwrites.
      await this.#db.execProtocolRawStream(messages, { onRawData: (part) => void parts.push(part.slice()) });
      return Buffer.concat(parts);
    } catch (error) {
      this.#onBroken(error);
      throw error;
    }
  }
}

/** A connection's use of the session: borrows it when it sends, holds it until the exchange and its transaction are over. */
class Visit {
  readonly #session: SharedSession;
  /** Whether it goes before others. */
  isUrgent = false;
  #holds = false;
  /** Undefined in the middle of an exchange. */
  #status: SessionStatus | undefined = 'idle';

  constructor(session: SharedSession) {
    this.#session = session;
  }

  async send(messages: Uint8Array): Promise<Buffer> {
    if (!this.#holds) await this.#session.borrow(this.isUrgent);
    this.#holds = true;
    const answer = await this.#session.run(messages);
    this.#status = statusAfter(answer);
    if (this.#status === 'idle') this.#return();
    return answer;
  }

  /** Leaves the session as the next visitor expects it. */
  async leave(): Promise<void> {
    if (!this.#holds) return;
    try {
      if (this.#status === undefined) this.#status = statusAfter(await this.#session.run(SYNC));
      if (this.#status !== 'idle') await this.#session.run(ROLLBACK);
    } catch {
      // Reported as broken; no later caller gets an answer either.
    } finally {
      this.#return();
    }
  }

  #return(): void {
    if (!this.#holds) return;
    this.#holds = false;
    this.#session.giveBack();
  }
}
