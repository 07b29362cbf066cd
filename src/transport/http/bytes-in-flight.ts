import { EngineError } from '../../errors.js';

/** Whose bytes are counted. */
export interface FlightOwner {
  readonly tenant: string;
  /** Whether the caller may be anyone: a chat page or a webhook. */
  readonly isPage: boolean;
}

/** Bytes of one request. */
export interface Flight {
  /** Counts bytes. @throws EngineError LIMIT_REACHED (HTTP 503), retryable, when more are in flight than may be. */
  add(bytes: number): void;
  /** Counts all of them no more; does nothing when it is called again. */
  close(): void;
}

/** What a share may have, as a part of all bytes. */
const TENANT_SHARE = 1 / 2;
const PAGE_SHARE = 1 / 4;

/** When a client that was refused should try again. */
const RETRY_SECONDS = 5;

/**
 * Bounds the bytes of all requests that are being received at once: in all, half of that for one of several tenants, and a quarter for what comes from its chat
 * pages and webhooks; so no tenant keeps the others out, and its visitors do not keep it out.
 */
export class BytesInFlight {
  readonly #what: string;
  readonly #maxBytes: number;
  readonly #isShared: boolean;
  /** By share; shares of nothing are left out. */
  readonly #used = new Map<string, number>();

  /**
   * @param what is received, in the plural, for messages
   * @param isShared whether there are several tenants; one that is alone may have everything
   */
  constructor(what: string, maxBytes: number, isShared: boolean) {
    this.#isShared = isShared;
    this.#what = what;
    this.#maxBytes = maxBytes;
  }

  get maxBytes(): number {
    return this.#maxBytes;
  }

  /** All bytes at this moment. */
  get bytes(): number {
    return this.#used.get(ALL) ?? 0;
  }

  /**
   * Begins to count a request.
   *
   * @param announced how many bytes it says that it has: a request for which there is no room now is refused before it is read
   * @throws EngineError as {@link Flight.add}
   */
  open(owner: FlightOwner, announced = 0): Flight {
    const shares = this.#sharesOf(owner);
    for (const [name, most] of shares) this.#check(name, announced, most);
    let counted = 0;
    return {
      add: (bytes) => {
        for (const [name, most] of shares) this.#check(name, bytes, most);
        for (const [name] of shares) this.#used.set(name, (this.#used.get(name) ?? 0) + bytes);
        counted += bytes;
      },
      close: () => {
        for (const [name] of shares) {
          const left = (this.#used.get(name) ?? 0) - counted;
          if (left > 0) this.#used.set(name, left);
          else this.#used.delete(name);
        }
        counted = 0;
      },
    };
  }

  #sharesOf({ tenant, isPage }: FlightOwner): readonly (readonly [name: string, most: number])[] {
    const shares: [string, number][] = [
      [ALL, this.#maxBytes],
      [`tenant ${tenant}`, this.#maxBytes * (this.#isShared ? TENANT_SHARE : 1)],
    ];
    if (isPage) shares.push([`page ${tenant}`, this.#maxBytes * PAGE_SHARE]);
    return shares;
  }

  #check(name: string, bytes: number, most: number): void {
    const used = this.#used.get(name) ?? 0;
    if (used + bytes <= most) return;
    const whose = name === ALL ? 'all callers' : name.startsWith('page') ? "this tenant's chat pages" : 'this tenant';
    throw new EngineError(
      'LIMIT_REACHED',
      `Too much at once: this server receives ${used} bytes of ${this.#what} of ${whose}, of at most ${most}. Try again later.`,
      { retryable: true, details: { httpStatus: 503, retryAfterSeconds: RETRY_SECONDS } },
    );
  }
}

/** The share of everything; no name of another one is empty. */
const ALL = '';
