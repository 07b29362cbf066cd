import { type MonoTypeOperatorFunction, Observable, type Subscriber } from 'rxjs';
import { EngineError } from '../errors.js';
import { Fifo } from '../operators/fifo.js';
import { requireWhole } from '../operators/invalid-option.js';
import type { ChatModel } from './chat-model.js';

/** Waiters that gave up and may stay in the queue before it is swept. */
const SWEEP_AFTER = 1024;

/** What one of several parties may have of the seats, and of the places in the queue. */
const SHARE = 3 / 4;

/** How much a {@link Limiter} lets through. */
export interface LimiterOptions {
  /** Subscriptions that may run at once; at least 1. @default 10 */
  readonly maxConcurrent?: number;
  /** Subscriptions that may wait; a further one fails with `LIMIT_REACHED`. At least 0. @default 10000 */
  readonly maxWaiting?: number;
  /** What the error of that one says. @default a sentence about model calls */
  readonly whenFull?: string;
}

/** Seats shared by every stream that {@link Limiter.limit} was applied to. */
export interface Limiter {
  /** The operator. `party`: who subscribes, such as a tenant; parties take turns. @default one party for all */
  limit<T>(party?: string): MonoTypeOperatorFunction<T>;
  /** Subscriptions that run now. */
  readonly running: number;
  /** Subscriptions that wait now. */
  readonly waiting: number;
}

/** A subscription in the queue; `start` is undefined once it has begun or gone away. */
interface Waiter {
  start: (() => void) | undefined;
}

/** Those who share the seats, while they have one or wait for one. */
interface Party {
  queue: Fifo<Waiter>;
  running: number;
  waiting: number;
}

/**
 * Lets only so many subscriptions run at once, over all streams that share the limiter; the others wait in order of arrival.
 *
 * ```text
 * maxConcurrent 1
 * first      --a--b|
 * second            --c--d|
 * sub second -------^------!      (subscribed when the first released its seat)
 * result 2   ---------c--d|
 * ```
 *
 * A seat is free again after the source is torn down, so connections never exceed the limit. With a free seat the source is
 * subscribed synchronously. Unsubscribing while waiting leaves the queue and the source untouched.
 *
 * Of several parties each has its own queue, and they take turns. From the second one on, none has more than three quarters of the seats
 * (but one, where that is less), nor of the places in the queue: so what one of them does not give back is never all of several.
 *
 * @throws EngineError `OPTION_INVALID` at construction.
 */
export function createLimiter(options: LimiterOptions = {}): Limiter {
  const { maxConcurrent = 10, maxWaiting = 10_000, whenFull = modelsFull(maxConcurrent, maxWaiting) } = options;
  requireWhole('createLimiter', 'maxConcurrent', maxConcurrent, 1);
  requireWhole('createLimiter', 'maxWaiting', maxWaiting, 0);

  const parties = new Map<string, Party>();
  /** Names of the parties of which some wait; the one whose turn was last is the last. */
  const turns = new Set<string>();
  let first: string | undefined;
  let hasSeveral = false;
  let running = 0;
  let waiting = 0;
  let isAdmitting = false;

  const partyOf = (name: string): Party => {
    first ??= name;
    hasSeveral ||= name !== first;
    const known = parties.get(name);
    if (known !== undefined) return known;
    const party = { queue: new Fifo<Waiter>(), running: 0, waiting: 0 };
    parties.set(name, party);
    return party;
  };
  const isWithin = (own: number, most: number): boolean =>
    own < (hasSeveral ? Math.max(1, Math.floor(most * SHARE)) : most);
  const forget = (name: string, party: Party): void => {
    if (party.waiting === 0) turns.delete(name);
    if (party.waiting === 0 && party.running === 0) parties.delete(name);
  };

  /** The next waiter, of the party whose turn it is and that may have another seat. Few parties have all that they may. */
  const next = (): (() => void) | undefined => {
    for (const name of turns) {
      const party = parties.get(name) as Party;
      if (!isWithin(party.running, maxConcurrent)) continue;
      let { start } = party.queue.take();
      while (start === undefined) ({ start } = party.queue.take());
      waiting -= 1;
      party.waiting -= 1;
      turns.delete(name);
      if (party.waiting > 0) turns.add(name);
      return start;
    }
    return undefined;
  };

  /** Seats waiters. A loop and not a recursion: a synchronous source gives its seat back while it is being seated. */
  const admit = (): void => {
    if (isAdmitting) return;
    isAdmitting = true;
    while (running < maxConcurrent && waiting > 0) {
      const start = next();
      if (start === undefined) break;
      start();
    }
    isAdmitting = false;
  };

  const run = <T>(name: string, source: Observable<T>, subscriber: Subscriber<T>): void => {
    const party = partyOf(name);
    running += 1;
    party.running += 1;
    source.subscribe(subscriber);
    // Added after the source's own teardown, hence run after it.
    subscriber.add(() => {
      running -= 1;
      party.running -= 1;
      forget(name, party);
      admit();
    });
  };

  const enqueue = (name: string, party: Party, start: () => void): Waiter => {
    // Waiters that gave up still have a slot; without this they would accumulate behind a stuck model.
    if (party.queue.size - party.waiting > Math.max(SWEEP_AFTER, party.waiting)) party.queue = sweep(party.queue);
    const waiter: Waiter = { start };
    party.queue.push(waiter);
    party.waiting += 1;
    waiting += 1;
    turns.add(name);
    return waiter;
  };

  return {
    limit:
      (name = '') =>
      (source) =>
        new Observable((subscriber) => {
          const party = partyOf(name);
          // In order of arrival: a new subscription starts at once only when none waits that may start.
          const isFirst = waiting === 0 || (party.waiting === 0 && !isAdmitting);
          if (isFirst && running < maxConcurrent && isWithin(party.running, maxConcurrent)) {
            run(name, source, subscriber);
            return;
          }
          if (waiting >= maxWaiting || !isWithin(party.waiting, maxWaiting)) {
            forget(name, party);
            subscriber.error(new EngineError('LIMIT_REACHED', whenFull, { retryable: true }));
            return;
          }
          const waiter = enqueue(name, party, () => {
            waiter.start = undefined;
            run(name, source, subscriber);
          });
          subscriber.add(() => {
            if (waiter.start === undefined) return;
            waiter.start = undefined;
            waiting -= 1;
            party.waiting -= 1;
            forget(name, party);
          });
        }),
    get running() {
      return running;
    },
    get waiting() {
      return waiting;
    },
  };
}

/** Gives a model a limiter's seats: one for the length of each call. @param party whose calls they are */
export function withLimit(model: ChatModel, limiter: Limiter, party?: string): ChatModel {
  return { chat: (request) => model.chat(request).pipe(limiter.limit(party)) };
}

function sweep(queue: Fifo<Waiter>): Fifo<Waiter> {
  const swept = new Fifo<Waiter>();
  while (queue.size > 0) {
    const waiter = queue.take();
    if (waiter.start !== undefined) swept.push(waiter);
  }
  return swept;
}

function modelsFull(maxConcurrent: number, maxWaiting: number): string {
  return `${maxConcurrent} model calls are running and ${maxWaiting} are waiting; try again later, or raise MAX_CONCURRENT_CHATS.`;
}
