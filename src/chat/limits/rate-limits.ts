/** How many chats may begin in a second: pass, wait in line, or be refused. */
import { catchError, Observable, of, type Subscription, timeout, timer } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { Log } from '../../logger.js';
import { Fifo } from '../../operators/fifo.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import { requireWhole } from '../../operators/invalid-option.js';
import type { Rate, RateAnswer, RateCounter } from '../../records/rates.js';
import { ownedKey } from '../../records/repository.js';
import { createLocalRates } from './local-rates.js';

/** Chats a second; 0: no bound. */
export interface RatesPerSecond {
  /** Of one tenant in all; a bucket. @default 1,000 */
  readonly tenant?: number | undefined;
  /** Of one user of it, in any second. @default 10 */
  readonly user?: number | undefined;
  /** Of one session, in any second. @default 5 */
  readonly session?: number | undefined;
}

/** What {@link createRateLimits} works with. */
export interface RateLimitsOptions {
  readonly rates?: RatesPerSecond | undefined;
  /** Counts for all processes. @default this process counts for itself */
  readonly counter?: RateCounter | undefined;
  /** Requests that may wait for one tenant, user or session; at least 0. @default 100 */
  readonly maxWaiting?: number | undefined;
  /** The longest that one waits, in milliseconds; at least 0. @default 2,000 */
  readonly maxWaitMs?: number | undefined;
  /** Milliseconds since 1970. @default the clock of the machine */
  readonly now?: (() => number) | undefined;
  readonly log?: Pick<Log, 'warn'> | undefined;
}

/** Who begins a chat. */
export interface RateCaller {
  readonly tenant: string;
  /** @default no user is known, so none is counted */
  readonly user?: string | undefined;
  /** @default no session is known, so none is counted */
  readonly session?: string | undefined;
}

/** The rate that has the least room, for the headers `X-RateLimit-*`. */
export interface RateState {
  readonly limit: number;
  readonly remaining: number;
  /** After so many seconds there is room again for `limit`. */
  readonly resetSeconds: number;
}

/** Lets chats begin as often as they may. */
export interface RateLimits {
  /**
   * Emits once when the request may begin, at once where that is possible; undefined where nothing is counted. Unsubscribing leaves the line.
   *
   * ```text
   * 5 a second, the sixth at once with them
   * first five   (p|)
   * sixth        1s (p|)
   * ```
   *
   * Errors: `RATE_LIMITED` (429, with `retryAfterSeconds` and `rateLimit` in its details) when the line is full, or when it has waited as long as it may.
   */
  admit(caller: RateCaller): Observable<RateState | undefined>;
  /** Requests that wait. */
  readonly waiting: number;
}

/** What a counter that is broken is replaced by allows: a tenth. */
const LOCAL_SHARE = 0.1;
/** How long a counter may take, and how long one that failed is not asked, in milliseconds. */
const ANSWER_MS = 250;
const BROKEN_MS = 1_000;

/** A request in a line. */
interface Waiter {
  readonly rates: readonly Rate[];
  readonly pass: (state: RateState | undefined) => void;
  readonly refuse: (error: EngineError) => void;
  line: Line | undefined;
  isGone: boolean;
  deadline: Subscription | undefined;
}

/** Those who wait for one rate, first come first served. */
interface Line {
  readonly rate: Rate;
  readonly queue: Fifo<Waiter>;
  /** Those of the queue that have not gone. */
  count: number;
  /** Whether it is served at a known time, or now. */
  isServed: boolean;
}

/**
 * Limits how many chats begin in a second: of a tenant in all, of a user, of a session.
 *
 * A request waits for the first rate that has no room for it, behind those that wait there already. A counter that is broken or slow is replaced by one of
 * this process at a tenth, and asked again after a second.
 *
 * @throws EngineError OPTION_INVALID
 */
export function createRateLimits(options: RateLimitsOptions = {}): RateLimits {
  const { rates = {}, maxWaiting = 100, maxWaitMs = 2_000, now = Date.now } = options;
  const { tenant = 1_000, user = 10, session = 5 } = rates;
  for (const [name, value] of Object.entries({ tenant, user, session, maxWaiting, maxWaitMs })) {
    requireWhole('createRateLimits', name, value, 0);
  }
  const take = createTaking(options, now);
  const lines = new Map<string, Line>();
  let waiting = 0;

  const leave = (waiter: Waiter): void => {
    if (waiter.isGone) return;
    waiter.isGone = true;
    waiter.deadline?.unsubscribe();
    step(waiter, undefined);
  };
  /** Moves a waiter to another line, or out of all. */
  const step = (waiter: Waiter, line: Line | undefined): void => {
    if (waiter.line !== undefined) {
      waiter.line.count -= 1;
      waiting -= 1;
    }
    waiter.line = line;
    if (line !== undefined) {
      line.count += 1;
      waiting += 1;
    }
  };
  const settle = (waiter: Waiter, answer: Extract<RateAnswer, { isTaken: true }>): void => {
    if (waiter.isGone) return;
    leave(waiter);
    waiter.pass(stateOf(waiter.rates, answer.left));
  };
  const join = (waiter: Waiter, rate: Rate, waitMs: number): void => {
    if (waiter.isGone) return;
    const line = lines.get(rate.key) ?? { rate, queue: new Fifo<Waiter>(), count: 0, isServed: false };
    if (line.count >= maxWaiting) {
      leave(waiter);
      waiter.refuse(tooMany(line, `${line.count} wait already`));
      return;
    }
    lines.set(rate.key, line);
    step(waiter, line);
    line.queue.push(waiter);
    waiter.deadline ??= timer(maxWaitMs).subscribe(() => {
      const { line: current = line } = waiter;
      leave(waiter);
      waiter.refuse(tooMany(current, `it has waited for ${maxWaitMs} ms`));
    });
    if (!line.isServed) serveAfter(line, waitMs);
  };
  const serveAfter = (line: Line, ms: number): void => {
    line.isServed = true;
    timer(ms).subscribe(() => serve(line));
  };
  /** Lets those pass for whom there is room now, in their order. */
  const serve = (line: Line): void => {
    const { queue } = line;
    while (queue.size > 0 && queue.oldest.line !== line) queue.take();
    if (queue.size === 0) {
      lines.delete(line.rate.key);
      return;
    }
    const waiter = queue.oldest;
    take(waiter.rates).subscribe((answer) => {
      const refused = answer.isTaken ? undefined : waiter.rates[answer.refused];
      if (!answer.isTaken && refused?.key === line.rate.key) {
        serveAfter(line, Math.max(1, answer.waitMs));
        return;
      }
      if (queue.size > 0 && queue.oldest === waiter) queue.take();
      if (answer.isTaken) settle(waiter, answer);
      else if (refused !== undefined && !waiter.isGone) {
        step(waiter, undefined);
        join(waiter, refused, answer.waitMs);
      }
      serve(line);
    });
  };
  const enter = (waiter: Waiter): Subscription | undefined => {
    const before = waiter.rates.find(({ key }) => lines.has(key));
    if (before !== undefined) {
      join(waiter, before, 0);
      return undefined;
    }
    return take(waiter.rates).subscribe((answer) => {
      if (answer.isTaken) settle(waiter, answer);
      else join(waiter, waiter.rates[answer.refused] as Rate, answer.waitMs);
    });
  };

  return {
    admit: (caller) =>
      new Observable((subscriber) => {
        const waiter: Waiter = {
          rates: ratesOf(caller, { tenant, user, session }),
          pass(state) {
            subscriber.next(state);
            subscriber.complete();
          },
          refuse: (error) => subscriber.error(error),
          line: undefined,
          isGone: false,
          deadline: undefined,
        };
        subscriber.add(() => leave(waiter));
        subscriber.add(enter(waiter));
      }),
    get waiting() {
      return waiting;
    },
  };
}

/** The rates of a request, the narrowest first: what it waits for is what it does most of. */
function ratesOf({ tenant, user, session }: RateCaller, most: Required<RatesPerSecond>): readonly Rate[] {
  const own = (kind: Rate['kind'], what: string, id: string | undefined, count: number | undefined): Rate[] =>
    id === undefined || !count ? [] : [{ kind, key: `${what}:${ownedKey(tenant, id)}`, most: count }];
  return [
    ...own('second', 'session', session, most.session),
    ...own('second', 'user', user, most.user),
    ...own('bucket', 'tenant', '', most.tenant),
  ];
}

/** Asks the shared counter, or while that is broken the one of this process at a tenth. */
function createTaking({ counter, log }: RateLimitsOptions, now: () => number) {
  const local = createLocalRates(now);
  let brokenUntil = 0;
  let isBroken = false;
  const tenth = (rates: readonly Rate[]): RateAnswer =>
    local.take(rates.map((rate) => ({ ...rate, most: Math.max(1, Math.floor(rate.most * LOCAL_SHARE)) })));
  return (rates: readonly Rate[]): Observable<RateAnswer> => {
    if (counter === undefined) return of(local.take(rates));
    if (now() < brokenUntil) return of(tenth(rates));
    return fromAbortable(async () => {
      const answer = await counter.take(rates);
      isBroken = false;
      return answer;
    }).pipe(
      timeout({ first: ANSWER_MS }),
      catchError((error: unknown) => {
        brokenUntil = now() + BROKEN_MS;
        if (!isBroken) log?.warn({ err: error }, 'chats cannot be counted together; each server lets a tenth through');
        isBroken = true;
        return of(tenth(rates));
      }),
    );
  };
}

function stateOf(rates: readonly Rate[], left: readonly number[]): RateState | undefined {
  const least = Math.min(...left);
  const rate = rates[left.indexOf(least)];
  return rate && { limit: rate.most, remaining: least, resetSeconds: 1 };
}

function tooMany({ rate, count }: Line, why: string): EngineError {
  const [what] = rate.key.split(':', 1);
  const seconds = Math.max(1, Math.ceil(count / rate.most));
  return new EngineError(
    'RATE_LIMITED',
    `Too many requests: ${rate.most} a second are allowed for one ${what}, and ${why}. Try again in ${seconds} s.`,
    {
      retryable: true,
      details: {
        httpStatus: 429,
        retryAfterSeconds: seconds,
        rateLimit: { limit: rate.most, remaining: 0, resetSeconds: seconds } satisfies RateState,
      },
    },
  );
}
