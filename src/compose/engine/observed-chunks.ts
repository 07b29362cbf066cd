/** A stream that an observer is given: what it does with it cannot reach the run. */
import {
  Observable,
  type Operator,
  of,
  type Observer as RxObserver,
  Subject,
  Subscriber,
  type Subscription,
} from 'rxjs';

/** Called with what failed in an observer. */
export type ObserverFailed = (error: unknown) => void;

/**
 * The chunks of a step for one observer, from the subscription on. Without a subscriber a chunk costs a look at an empty list.
 *
 * ```text
 * step        a--b--c--x
 * observer    a--b--c--x       (subscribed at once)
 * observer    ------c--x       (later)
 * ```
 */
export class ChunkCopy<T> {
  readonly chunks$: Observable<T>;
  readonly #chunks = new Subject<T>();
  readonly #guard: Guard;

  constructor(failed: ObserverFailed) {
    this.#guard = { failed, end: undefined };
    this.chunks$ = new GuardedChunks<T>(this.#guard, (subscriber) => this.#chunks.subscribe(subscriber));
  }

  next(chunk: T): void {
    if (this.#chunks.observed) this.#chunks.next(chunk);
  }

  complete(): void {
    this.#chunks.complete();
  }

  error(error: unknown): void {
    this.#guard.end = { error };
    this.#chunks.error(error);
  }
}

/** A value as a stream of one chunk, guarded in the same way. */
export function oneChunk<T>(value: T, failed: ObserverFailed): Observable<T> {
  return new GuardedChunks<T>({ failed, end: undefined }, (subscriber) => of(value).subscribe(subscriber));
}

interface Guard {
  readonly failed: ObserverFailed;
  /** What the stream itself ended with: no failure of the observer. */
  end: { readonly error: unknown } | undefined;
}

/**
 * Whatever a handler throws, and an operator's error that has no handler, goes to `failed` instead of ending the process. What operators make
 * of it is guarded in the same way, for RxJS makes their results with `lift`.
 */
class GuardedChunks<T> extends Observable<T> {
  readonly #guard: Guard;

  constructor(guard: Guard, subscribe?: (subscriber: Subscriber<T>) => Subscription) {
    super(subscribe);
    this.#guard = guard;
  }

  override lift<R>(operator?: Operator<T, R>): Observable<R> {
    const lifted = new GuardedChunks<R>(this.#guard);
    lifted.source = this;
    lifted.operator = operator as never;
    return lifted;
  }

  override subscribe(
    observer?: Partial<RxObserver<T>> | ((value: T) => void) | null,
    error?: ((error: unknown) => void) | null,
    complete?: (() => void) | null,
  ): Subscription {
    // A subscriber made by an operator leads to a subscription that is guarded itself.
    if (observer instanceof Subscriber) return super.subscribe(observer);
    if (typeof observer === 'object' && observer !== null) return super.subscribe(guarded(this.#guard, observer));
    const given = { ...(observer && { next: observer }), ...(error && { error }), ...(complete && { complete }) };
    return super.subscribe(guarded(this.#guard, given));
  }
}

function guarded<T>(guard: Guard, given: Partial<RxObserver<T>>): RxObserver<T> {
  const attempt = (handler: () => void): void => {
    try {
      handler();
    } catch (error) {
      guard.failed(error);
    }
  };
  return {
    next: (value) => attempt(() => given.next?.(value)),
    error: (error: unknown) => {
      if (given.error !== undefined) attempt(() => given.error?.(error));
      else if (error !== guard.end?.error) guard.failed(error);
    },
    complete: () => attempt(() => given.complete?.()),
  };
}
