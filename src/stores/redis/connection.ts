import { Redis as Client } from 'ioredis';
import { EngineError } from '../../errors.js';
import type { Log } from '../../logger.js';

export interface ConnectionOptions {
  readonly url: string;
  /** What it is for, in messages and in the server's list of clients. */
  readonly name: string;
  readonly log: Log;
  /** A server that sends nothing for this long while it owes an answer counts as gone. */
  readonly silenceMs: number;
}

const CONNECT_TIMEOUT_MS = 5_000;
const FIRST_RETRY_MS = 50;
const MAX_RETRY_MS = 1_000;

/** One connection that comes back by itself, logs once per outage, and never queues a command. */
export class Connection {
  readonly client: Client;
  /** Host and port, without what is secret in the URL. */
  readonly address: string;
  readonly #options: ConnectionOptions;
  readonly #waiting = new Set<(failure?: EngineError) => void>();
  readonly #onReady = new Set<() => void>();
  /** Why it is down, as far as known. */
  lastError: string | undefined = undefined;
  #isDown = false;
  #isClosed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.address = addressOf(options.url);
    this.client = new Client(options.url, {
      connectionName: `runnel-${options.name}`,
      connectTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: options.silenceMs,
      retryStrategy: (attempt) => Math.min(FIRST_RETRY_MS * 2 ** (attempt - 1), MAX_RETRY_MS) * (1 + Math.random() / 4),
      // After a failover the old primary still answers; a new connection finds the new one.
      reconnectOnError: (error) => error.message.startsWith('READONLY'),
      // The sender decides what waits, what is sent again and for how long: see Commands and Channels.
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      autoResubscribe: false,
      maxRetriesPerRequest: 0,
    });
    this.client.on('ready', () => this.#up());
    this.client.on('close', () => this.#down());
    this.client.on('error', (error: Error) => {
      this.lastError = error.message;
    });
  }

  get isReady(): boolean {
    return this.client.status === 'ready';
  }

  /** Whether it is ready or on its way, not in a pause after a failure. */
  get isTrying(): boolean {
    return this.isReady || this.client.status === 'connecting' || this.client.status === 'connect';
  }

  /**
   * Calls `listener` once: when there is a connection, those who asked first before others, or with the reason why there never will be.
   * Gives a function that takes the wish back.
   */
  onceReady(listener: (failure?: EngineError) => void): () => void {
    if (this.#isClosed) listener(this.#closed());
    else if (this.isReady) listener();
    else this.#waiting.add(listener);
    return () => this.#waiting.delete(listener);
  }

  /** Calls `listener` each time that there is a connection again. */
  onReady(listener: () => void): void {
    this.#onReady.add(listener);
  }

  warn(error: unknown, message: string): void {
    const { log, name } = this.#options;
    log.warn({ redis: this.address, connection: name, err: error }, message);
  }

  close(): void {
    this.#isClosed = true;
    this.client.disconnect();
    this.#release(this.#closed());
  }

  #up(): void {
    const { log, name } = this.#options;
    if (this.#isDown) log.info({ redis: this.address, connection: name }, 'connected to Redis again');
    this.#isDown = false;
    this.lastError = undefined;
    for (const listener of this.#onReady) listener();
    this.#release();
  }

  #release(failure?: EngineError): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const listener of waiting) listener(failure);
  }

  #down(): void {
    if (this.#isClosed || this.#isDown) return;
    this.#isDown = true;
    const { log, name } = this.#options;
    log.warn(
      { redis: this.address, connection: name, reason: this.lastError ?? 'the server ended the connection' },
      'Redis cannot be reached; trying again',
    );
  }

  #closed(): EngineError {
    return new EngineError(
      'STORE_UNAVAILABLE',
      `The connection to Redis at ${this.address} was closed; open a new one.`,
    );
  }
}

function addressOf(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port === '' ? '6379' : port}`;
}
