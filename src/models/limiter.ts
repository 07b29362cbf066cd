import { type MonoTypeOperatorFunction, Observable, type Subscriber } from 'rxjs';
import { EngineError } from '../errors.js';
import { Fifo } from '../operators/fifo.js';
import { requireWhole } from '../operators/invalid-option.js';
import type { ChatModel } from './chat-model.js';

/** Waiters that gave up and may stay in the queue before it is swept. */
const SWEEP_AFTER = 1024;

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
  /** The operator. */
  limit<T>(): MonoTypeOperatorFunction<T>;
  /** Subscriptions that run now. */
  readonly running: number;
  /** Subscriptions that wait now. */
  readonly waiting: number;
}

/** A subscription in the queue; `start` is undefined once it has begun or gone away. */
interface Waiter {
  start: (() => void) | undefined;
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
 * @throws EngineError `OPTION_INVALID` at construction.
 */
export function createLimiter(options: LimiterOptions = {}): Limiter {
  const { maxConcurrent = 10, maxWaiting = 10_000, whenFull = modelsFull(maxConcurrent, maxWaiting) } = options;
  requireWhole('createLimiter', 'maxConcurrent', maxConcurrent, 1);
  requireWhole('createLimiter', 'maxWaiting', maxWaiting, 0);

  let queue = new Fifo<Waiter>();
  let running = 0;
  let waiting = 0;
  let isAdmitting = false;

  /** Seats waiters. A loop and not a recursion: a synchronous source gives its seat back while it is being seated. */
  const admit = (): void => {
    if (isAdmitting) return;
    isAdmitting = true;
    while (running < maxConcurrent && waiting > 0) {
      const start = queue.take().start;
      if (start === undefined) continue;
      waiting -= 1;
      start();
    }
    isAdmitting = false;
  };

  const leave = (): void => {
    running -= 1;
    admit();
  };

  const run = <T>(source: Observable<T>, subscriber: Subscriber<T>): void => {
    running += 1;
    source.subscribe(subscriber);
    // Added after the source's own teardown, hence run after it.
    subscriber.add(leave);
  };

  const enqueue = (start: () => void): Waiter => {
    // Waiters that gave up still have a slot; without this they would accumulate behind a stuck model.
    if (queue.size - waiting > Math.max(SWEEP_AFTER, waiting)) queue = sweep(queue);
    const waiter: Waiter = { start };
    queue.push(waiter);
    waiting += 1;
    return waiter;
  };

  return {
    limit: () => (source) =>
      new Observable((subscriber) => {
        // In order of arrival: a new subscription starts at once only when none waits.
        if (running < maxConcurrent && waiting === 0) {
          run(source, subscriber);
          return;
        }
        if (waiting >= maxWaiting) {
          subscriber.error(new EngineError('LIMIT_REACHED', whenFull, { retryable: true }));
          return;
        }
        const waiter = enqueue(() => {
          waiter.start = undefined;
          run(source, subscriber);
        });
        subscriber.add(() => {
          if (waiter.start === undefined) return;
          waiter.start = undefined;
          waiting -= 1;
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

/** Gives a model a limiter's seats: one for the length of each call. */
export function withLimit(model: ChatModel, limiter: Limiter): ChatModel {
  return { chat: (request) => model.chat(request).pipe(limiter.limit()) };
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
