/**
 * As much of the Postgres wire protocol (version 3) as it takes to pass it on: where a message ends, and where an exchange does.
 *
 * A message is a byte for its type, four bytes for its length without the type, and the rest. The first message of a connection
 * has no type.
 */
import { EngineError } from '../../../errors.js';

/** What a session reports when it is ready: outside a transaction, inside one, inside one that failed. */
export type SessionStatus = 'idle' | 'transaction' | 'failed';

/** Ends an exchange that its client left open. */
export const SYNC: Uint8Array = Uint8Array.of(0x53, 0, 0, 0, 4);

/** The simple query `ROLLBACK`. */
export const ROLLBACK: Uint8Array = Uint8Array.of(0x51, 0, 0, 0, 13, ...Buffer.from('ROLLBACK\0'));

/** Refuses encryption. */
export const NO_ENCRYPTION: Uint8Array = Uint8Array.of(0x4e);

/** Name (`application_name`) of the connection that goes before the others: clients wait for what runs write, and for nothing else there. */
export const URGENT_APPLICATION = 'runnel-runs';

/** The version numbers with which a client asks for something else than a session. */
const REQUESTS: ReadonlyMap<number, 'cancel' | 'encryption'> = new Map([
  [80_877_102, 'cancel'],
  [80_877_103, 'encryption'],
  [80_877_104, 'encryption'],
]);

/** What Postgres takes as the first message of a connection. */
const MAX_OPENING_BYTES = 10_000;

/** Messages after which the server answers: Sync, Query, Flush, FunctionCall. */
const ASKS_FOR_ANSWER: ReadonlySet<number> = new Set(Buffer.from('SQHF'));
const TERMINATE = 0x58;
const READY = 0x5a;
const STATUS: Readonly<Record<string, SessionStatus>> = { I: 'idle', T: 'transaction', E: 'failed' };

/** What the first message of a connection is about. */
export type Opening =
  | { readonly type: 'cancel' }
  | { readonly type: 'encryption' }
  | { readonly type: 'session'; readonly bytes: Buffer; readonly isUrgent: boolean };

/** What a client sends next in a session: messages that belong together, or that it leaves. */
export type Turn = { readonly type: 'exchange'; readonly bytes: Buffer } | { readonly type: 'end' };

/** The bytes of one client, cut into what the server takes at once. */
export class ClientBytes {
  readonly #maxBytes: number;
  #buffer: Buffer = Buffer.allocUnsafe(16 * 1024);
  #start = 0;
  #end = 0;
  /** Up to here the bytes are whole messages that wait for the end of their exchange. */
  #scanned = 0;

  /** @param maxBytes what an exchange may take */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @throws EngineError BODY_TOO_LARGE when an exchange grows beyond its limit. */
  push(chunk: Uint8Array): void {
    this.#reserve(chunk.length);
    this.#buffer.set(chunk, this.#end);
    this.#end += chunk.length;
  }

  /** The first message, when it is there. @throws EngineError BAD_REQUEST when it is none. */
  takeOpening(): Opening | undefined {
    if (this.#end - this.#start < 8) return undefined;
    const length = this.#buffer.readUInt32BE(this.#start);
    if (length < 8 || length > MAX_OPENING_BYTES) {
      throw new EngineError('BAD_REQUEST', `A connection to the database begins with a message of ${length} bytes.`);
    }
    if (this.#end - this.#start < length) return undefined;
    const type = REQUESTS.get(this.#buffer.readUInt32BE(this.#start + 4));
    const bytes = this.#take(this.#start + length);
    return type === undefined ? { type: 'session', bytes, isUrgent: isUrgent(bytes) } : { type };
  }

  /** The messages up to the next one that asks for an answer, when they are all there. */
  takeTurn(): Turn | undefined {
    while (this.#scanned + 5 <= this.#end) {
      const type = this.#buffer[this.#scanned] as number;
      const next = this.#scanned + 1 + this.#buffer.readUInt32BE(this.#scanned + 1);
      if (next > this.#end) return undefined;
      if (type === TERMINATE) return { type: 'end' };
      this.#scanned = next;
      if (ASKS_FOR_ANSWER.has(type)) return { type: 'exchange', bytes: this.#take(next) };
    }
    return undefined;
  }

  /** A copy: the buffer is used again while the server may still hold what it was given. */
  #take(until: number): Buffer {
    const bytes = Buffer.from(this.#buffer.subarray(this.#start, until));
    this.#start = until;
    this.#scanned = until;
    return bytes;
  }

  /** Makes room behind the end: first by moving what is left to the front, then by doubling. */
  #reserve(count: number): void {
    const held = this.#end - this.#start;
    if (held + count > this.#maxBytes) {
      throw new EngineError('BODY_TOO_LARGE', `A statement takes more than ${this.#maxBytes} bytes.`);
    }
    if (this.#end + count <= this.#buffer.length) return;
    const isCrowded = held + count > this.#buffer.length / 2;
    const target = isCrowded ? Buffer.allocUnsafe(2 * (held + count)) : this.#buffer;
    this.#buffer.copy(target, 0, this.#start, this.#end);
    this.#buffer = target;
    this.#scanned -= this.#start;
    this.#start = 0;
    this.#end = held;
  }
}

/** Names and values stand one after another behind length and version, each with a zero behind it. */
function isUrgent(opening: Buffer): boolean {
  const texts = opening.toString('utf8', 8).split('\0');
  return texts.some((text, at) => at % 2 === 1 && text === URGENT_APPLICATION && texts[at - 1] === 'application_name');
}

/** The status that an answer ends with; undefined when the exchange continues. */
export function statusAfter(answer: Buffer): SessionStatus | undefined {
  let status: SessionStatus | undefined;
  for (let at = 0; at + 5 <= answer.length; at += 1 + answer.readUInt32BE(at + 1)) {
    status = answer[at] === READY ? STATUS[String.fromCharCode(answer[at + 5] as number)] : undefined;
  }
  return status;
}
