import { setTimeout as pause } from 'node:timers/promises';
import { EngineError } from '../../errors.js';
import type { Connection } from './connection.js';
import type { Script } from './script.js';

export type Argument = string | number | Buffer;

/** What a script is given. */
export interface Call {
  readonly keys: readonly string[];
  readonly args: readonly Argument[];
}

/** How one command is sent. */
export interface SendOptions {
  /**
   * Whether it may be sent again when the connection was lost before the answer came. Only for what does no harm when it is done twice.
   * @default true
   */
  readonly isRepeatable?: boolean;
  /** Whether texts in the answer are given as bytes. @default false */
  readonly asBytes?: boolean;
}

export interface CommandOptions {
  /** Within this time a command is answered or fails, whatever happens to the connection. */
  readonly timeoutMs: number;
  /** Commands that may wait for an answer or a connection at a time; one more fails at once. */
  readonly maxPending: number;
}

/** What a failed command leaves open: `sent` means that the server may have done it, or may yet. */
export interface CommandFailure {
  readonly sent: boolean;
}

/** A command on its way. */
interface Attempt {
  readonly what: string;
  /** Sends it once. */
  readonly call: () => Promise<unknown>;
  readonly isRepeatable: boolean;
  isOver: boolean;
  /** Whether the server may have got it. */
  wasSent: boolean;
  stopWaiting: () => void;
}

/** Between two attempts of one command. */
const RETRY_MS = 20;

/**
 * Commands that either end within a bounded time or fail with a clear error.
 *
 * While the connection is down a command waits for it, in order, and continues when it is back. A command whose answer was lost is sent
 * again when that does no harm.
 */
export class Commands {
  readonly #connection: Connection;
  readonly #options: CommandOptions;
  #pending = 0;

  constructor(connection: Connection, options: CommandOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  /** @throws EngineError STORE_UNAVAILABLE (retryable, with {@link CommandFailure}) without an answer, LIMIT_REACHED when Redis is full. */
  send(name: string, args: readonly Argument[], options: SendOptions = {}): Promise<unknown> {
    const call = this.#caller(options);
    return this.#bounded(name, options, () => call(name, args));
  }

  /**
   * Runs a script, by its hash when the server knows it already.
   *
   * @throws EngineError as `send`.
   */
  run(script: Script, keys: readonly string[], args: readonly Argument[], options: SendOptions = {}): Promise<unknown> {
    const call = this.#caller(options);
    const byHash = [script.sha, keys.length, ...keys, ...args];
    return this.#bounded(script.name, options, async () => {
      try {
        return await call('EVALSHA', byHash);
      } catch (error) {
        // A server that was restarted has forgotten its scripts.
        if (!isReply(error, 'NOSCRIPT')) throw error;
        return call('EVAL', [script.source, ...byHash.slice(1)]);
      }
    });
  }

  #caller({ asBytes = false }: SendOptions): (name: string, args: readonly Argument[]) => Promise<unknown> {
    const { client } = this.#connection;
    return asBytes
      ? (name, args) => client.callBuffer(name, args as Argument[])
      : (name, args) => client.call(name, args as Argument[]);
  }

  async #bounded(what: string, { isRepeatable = true }: SendOptions, call: () => Promise<unknown>): Promise<unknown> {
    const { timeoutMs, maxPending } = this.#options;
    if (this.#pending >= maxPending) throw this.#failure(what, `${maxPending} others are waiting already`, false);
    const attempt: Attempt = { what, call, isRepeatable, isOver: false, wasSent: false, stopWaiting: () => {} };
    let timer: NodeJS.Timeout | undefined;
    this.#pending += 1;
    try {
      return await new Promise((resolve, reject) => {
        timer = setTimeout(() => {
          reject(this.#failure(what, `no answer within ${timeoutMs} ms`, attempt.wasSent));
        }, timeoutMs);
        this.#attempt(attempt).then(resolve, reject);
      });
    } finally {
      attempt.isOver = true;
      attempt.stopWaiting();
      clearTimeout(timer);
      this.#pending -= 1;
    }
  }

  async #attempt(attempt: Attempt): Promise<unknown> {
    for (;;) {
      if (!this.#connection.isReady) await this.#whenReady(attempt);
      // To its caller it has failed; doing it now would be a surprise.
      if (attempt.isOver) return undefined;
      const wasSentBefore = attempt.wasSent;
      try {
        attempt.wasSent = true;
        return await attempt.call();
      } catch (error) {
        if (isReply(error) && !isReply(error, ...NOT_NOW)) throw refusal(attempt.what, error as Error, wasSentBefore);
        if (isReply(error) || wasNotWritten(error)) attempt.wasSent = wasSentBefore;
        if (attempt.wasSent && !attempt.isRepeatable) {
          throw this.#failure(attempt.what, 'the connection was lost before the answer came', true);
        }
        // Time for the server to get ready, and for the event loop to notice that a socket broke.
        await pause(RETRY_MS);
      }
    }
  }

  #whenReady(attempt: Attempt): Promise<void> {
    return new Promise((resolve, reject) => {
      attempt.stopWaiting = this.#connection.onceReady((failure) =>
        failure === undefined ? resolve() : reject(failure),
      );
    });
  }

  #failure(what: string, why: string, sent: boolean): EngineError {
    const { address, lastError } = this.#connection;
    const because = lastError === undefined ? '' : ` (last error: ${lastError})`;
    return new EngineError(
      'STORE_UNAVAILABLE',
      `Redis at ${address} did not do "${what}": ${why}${because}. Check that it runs and that REDIS_URL is right.`,
      { retryable: true, details: { sent } satisfies CommandFailure },
    );
  }
}

/** Whether a command may have been done although it failed. */
export function mayHaveBeenDone(error: unknown): boolean {
  return EngineError.is(error) && (error.details as Partial<CommandFailure> | undefined)?.sent === true;
}

/** Answers of a server that did nothing, but will soon. */
const NOT_NOW = ['LOADING', 'READONLY', 'MASTERDOWN', 'TRYAGAIN', 'CLUSTERDOWN'];

function isReply(error: unknown, ...prefixes: string[]): boolean {
  if (!(error instanceof Error) || error.name !== 'ReplyError') return false;
  return prefixes.length === 0 || prefixes.some((prefix) => error.message.startsWith(prefix));
}

/** Whether the client refused to write because there is no connection. */
function wasNotWritten(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("Stream isn't writeable");
}

/** What the server refused now, an attempt before may have done. */
function refusal(what: string, cause: Error, sent: boolean): EngineError {
  const details = { sent } satisfies CommandFailure;
  if (cause.message.startsWith('OOM')) {
    return new EngineError(
      'LIMIT_REACHED',
      `Redis has no memory left for "${what}". Raise its maxmemory, or keep runs for a shorter time.`,
      { cause, details },
    );
  }
  return new EngineError('INTERNAL', `Redis refused "${what}": ${cause.message}`, { cause, details });
}
