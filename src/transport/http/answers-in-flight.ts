import type { ServerResponse } from 'node:http';
import { EngineError } from '../../errors.js';

export interface AnswersOptions {
  /** Bytes of answers that are being made or taken. */
  readonly maxBytes: number;
  /** Whether several tenants share the server: then one may have half. */
  readonly isShared: boolean;
  /** Milliseconds that an answer waits for room before it is refused. @default 10,000 */
  readonly waitMs?: number;
}

interface Share {
  readonly tenant: string;
  bytes: number;
}

interface Waiting extends Share {
  readonly admit: () => void;
}

const WAIT_MS = 10_000;

/** Answers that may wait for room at once; more are refused. */
const MOST_WAITING = 1_000;

/** Answers as small as this do not count. */
const SMALL_BYTES = 64 * 1024;

/**
 * Bounds the bytes of all answers that clients have not taken yet, and of those that are being made; what is more waits for its turn. So many clients
 * that read large answers slowly, or never, cost no more memory than that.
 *
 * The first answer of a tenant that has none in flight has the same room once more, so that no tenant keeps the others out.
 */
export class AnswersInFlight {
  readonly #options: AnswersOptions;
  readonly #shares = new Map<ServerResponse, Share>();
  readonly #used = new Map<string, number>();
  #bytes = 0;
  readonly #waiting = new Set<Waiting>();

  constructor(options: AnswersOptions) {
    this.#options = options;
  }

  /** All bytes at this moment. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Answers that wait for room. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Waits until there is room for an answer that will be about that large, and has it until the response is closed.
   *
   * @throws EngineError LIMIT_REACHED (HTTP 503), retryable, when there is none in time.
   */
  async reserve(response: ServerResponse, tenant: string, bytes: number): Promise<void> {
    // One that turns out to be larger waits once more.
    this.#release(response);
    // The client may have left, and 'close' does not come again.
    if (response.destroyed) return;
    if (this.#hasRoom(tenant, bytes)) this.#add(tenant, bytes);
    else if (!(await this.#wait(response, tenant, bytes))) return;
    this.#shares.set(response, { tenant, bytes });
    if (response.destroyed) this.#release(response);
    else response.once('close', () => this.#release(response));
  }

  /** Says how large an answer is. One without a reservation waits now, unless it is small. @throws EngineError as {@link reserve} */
  async settle(response: ServerResponse, tenant: string, bytes: number): Promise<void> {
    const share = this.#shares.get(response);
    if (share === undefined) {
      if (bytes > SMALL_BYTES) await this.reserve(response, tenant, bytes);
    } else if (bytes <= SMALL_BYTES) {
      this.#release(response);
    } else {
      // It is made already, so it is given also when it is larger than expected; then the next ones wait.
      this.#add(share.tenant, bytes - share.bytes);
      share.bytes = bytes;
      this.#admitNext();
    }
  }

  #hasRoom(tenant: string, bytes: number): boolean {
    const { maxBytes, isShared } = this.#options;
    const own = this.#used.get(tenant) ?? 0;
    if (own === 0) return this.#bytes === 0 || this.#bytes + bytes <= 2 * maxBytes;
    return this.#bytes + bytes <= maxBytes && own + bytes <= (isShared ? maxBytes / 2 : maxBytes);
  }

  #add(tenant: string, bytes: number): void {
    this.#bytes += bytes;
    const own = (this.#used.get(tenant) ?? 0) + bytes;
    if (own > 0) this.#used.set(tenant, own);
    else this.#used.delete(tenant);
  }

  #release(response: ServerResponse): void {
    const share = this.#shares.get(response);
    if (share === undefined) return;
    this.#shares.delete(response);
    this.#add(share.tenant, -share.bytes);
    this.#admitNext();
  }

  /** In order; one whose tenant has to wait does not hold up the others. */
  #admitNext(): void {
    for (const waiting of this.#waiting) {
      if (!this.#hasRoom(waiting.tenant, waiting.bytes)) continue;
      this.#waiting.delete(waiting);
      this.#add(waiting.tenant, waiting.bytes);
      waiting.admit();
    }
  }

  /** Whether it has its room now; otherwise the client has left. */
  async #wait(response: ServerResponse, tenant: string, bytes: number): Promise<boolean> {
    const { maxBytes, waitMs = WAIT_MS } = this.#options;
    if (this.#waiting.size >= MOST_WAITING) throw tooMuch(maxBytes);
    let leave = (): void => {};
    try {
      return await new Promise<boolean>((resolve, reject) => {
        const waiting: Waiting = { tenant, bytes, admit: () => resolve(true) };
        const left = (): void => resolve(false);
        const timer = setTimeout(() => reject(tooMuch(maxBytes)), waitMs);
        this.#waiting.add(waiting);
        response.once('close', left);
        leave = () => {
          clearTimeout(timer);
          response.off('close', left);
          this.#waiting.delete(waiting);
        };
      });
    } finally {
      leave();
    }
  }
}

function tooMuch(maxBytes: number): EngineError {
  return new EngineError(
    'LIMIT_REACHED',
    `Too many large answers are under way: clients have not taken ${maxBytes} bytes of them yet. Try again later, or ask for less at once.`,
    { retryable: true, details: { httpStatus: 503 } },
  );
}
