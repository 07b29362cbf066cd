/** Look-ups of what strangers name, such as keys and the ids of webhooks: wrong ones cost little and are counted. */
import { EngineError } from '../../errors.js';
import { Newest } from '../../newest.js';
import type { AddressRange } from '../../settings/access.js';
import { clientAddress, networkOf, type Origin } from './client-address.js';

/** Span over which refusals are counted. */
const SPAN_MS = 60_000;

/** For how long a name that was wrong is not looked up again. */
const REMEMBERED_MS = 10_000;

/** Addresses whose refusals are counted; of more, the one that began first is forgotten. */
const MAX_ADDRESSES = 50_000;

/** Names that are remembered, right and wrong ones. */
const MAX_NAMES = 10_000;

export interface GuessesOptions {
  /** Wrong names that one address may send in a minute. */
  readonly mostPerMinute: number;
  /** Proxies that name the address of their client. */
  readonly trustedProxies: readonly AddressRange[];
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

interface Count {
  refusals: number;
  readonly endsAt: number;
}

/**
 * Looks up what clients name.
 *
 * A name is counted as wrong for its address before it is looked up, and discounted when it is right; so of many that are sent at once no
 * more are looked up than may be wrong. Beyond that only names are looked up that were right before for the same address: its guesses
 * find out nothing more, and do not shut out those who share it.
 */
export class Guesses {
  readonly #options: GuessesOptions;
  /** By address. */
  readonly #counts = new Newest<Count>({ maxCount: MAX_ADDRESSES });
  /** Addresses with names that were right. */
  readonly #right = new Newest<true>({ maxCount: MAX_NAMES });
  /** By name: until when it counts as wrong, in milliseconds since 1970. */
  readonly #wrong = new Newest<number>({ maxCount: MAX_NAMES });
  readonly #underWay = new Map<string, Promise<unknown>>();

  constructor(options: GuessesOptions) {
    this.#options = options;
  }

  /**
   * What `lookUp` gives for a name; undefined when it is wrong.
   *
   * @param name what is looked up, with its kind; equal names are looked up once at a time
   * @throws EngineError LIMIT_REACHED (HTTP 429) when the address of the request has sent too many wrong ones; what `lookUp` throws.
   */
  async find<T>(origin: Origin, name: string, lookUp: () => Promise<T | undefined>): Promise<T | undefined> {
    const address = networkOf(clientAddress(origin, this.#options.trustedProxies));
    const guess = `${address} ${name}`;
    if (this.#right.get(guess) !== undefined) {
      const found = await lookUp();
      if (found === undefined) this.#right.delete(guess);
      return found;
    }
    const underWay = this.#underWay.get(name) as Promise<T | undefined> | undefined;
    const count = this.#countOf(address);
    if (count.refusals >= this.#options.mostPerMinute) throw tooManyRefusals(count.endsAt - this.#options.now());
    if (underWay !== undefined) return underWay;
    count.refusals += 1;
    if (this.#isKnownWrong(name)) return undefined;
    const looking = lookUp();
    this.#underWay.set(name, looking);
    try {
      const found = await looking;
      if (found === undefined) {
        this.#wrong.put(name, this.#options.now() + REMEMBERED_MS);
      } else {
        count.refusals -= 1;
        this.#right.put(guess, true);
      }
      return found;
    } catch (error) {
      count.refusals -= 1;
      throw error;
    } finally {
      this.#underWay.delete(name);
    }
  }

  #countOf(address: string): Count {
    const now = this.#options.now();
    const before = this.#counts.get(address);
    if (before !== undefined && before.endsAt > now) return before;
    const count = { refusals: 0, endsAt: now + SPAN_MS };
    this.#counts.put(address, count);
    return count;
  }

  #isKnownWrong(name: string): boolean {
    const until = this.#wrong.get(name);
    return until !== undefined && until > this.#options.now();
  }
}

function tooManyRefusals(waitMs: number): EngineError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  const message = `Too many wrong keys or ids came from this address. Try again in ${retryAfterSeconds} s.`;
  return new EngineError('LIMIT_REACHED', message, { details: { httpStatus: 429, retryAfterSeconds } });
}
