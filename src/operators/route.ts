import {
  connect,
  merge,
  Observable,
  type ObservableInput,
  type ObservedValueOf,
  type OperatorFunction,
  partition,
} from 'rxjs';

/** Inferred whole, as TypeScript loses the value type of a lambda's result when asked for `ObservableInput<R>`. */
type Input = ObservableInput<unknown>;

/** Where {@link route} sends values: a stream of each kind in, a stream of results out. */
export interface Routes<A, B, R extends Input, S extends Input> {
  readonly matched: (matched$: Observable<A>) => R;
  readonly rest: (rest$: Observable<B>) => S;
}

/**
 * Sends each value down one of two streams and merges what comes out, over one subscription to the source.
 *
 * ```text
 * source    --1--2--3--4--|
 * matched   -----2-----4--|     (even)
 * rest      --1-----3-----|
 * result    --1--B--3--D--|     (matched: to letters; rest: as it is)
 * ```
 *
 * `partition` alone subscribes to its source twice, which runs a cold source twice and gives a synchronous one away to the
 * first half; inside `connect` it does neither. What the routes emit synchronously keeps the order of the source.
 *
 * A failure of the source or of either route is the failure of the result, and ends the others. A route that completes early
 * ignores the values that are still meant for it.
 *
 * @param isMatch says which way a value goes. It must be pure: it is asked twice for each value, once by each stream.
 */
export function route<T, A extends T, R extends Input, S extends Input>(
  isMatch: (value: T) => value is A,
  routes: Routes<A, Exclude<T, A>, R, S>,
): OperatorFunction<T, ObservedValueOf<R> | ObservedValueOf<S>>;
export function route<T, R extends Input, S extends Input>(
  isMatch: (value: T) => boolean,
  routes: Routes<T, T, R, S>,
): OperatorFunction<T, ObservedValueOf<R> | ObservedValueOf<S>>;
export function route<T>(
  isMatch: (value: T) => boolean,
  routes: Routes<never, never, Input, Input>,
): OperatorFunction<T, unknown> {
  return (source) =>
    new Observable((destination) => {
      // `connect` owns its subscription only once `subscribe` has returned: too late to stop a synchronous source.
      const source$ = new Observable<T>((feed) => {
        destination.add(feed);
        source.subscribe(feed);
      });
      return source$
        .pipe(
          connect((shared$) => {
            const [matched$, rest$] = partition(shared$, (value) => isMatch(value));
            // `never`, because the overloads differ in what the routes accept; each has checked its own.
            return merge(routes.matched(matched$ as Observable<never>), routes.rest(rest$ as Observable<never>));
          }),
        )
        .subscribe(destination);
    });
}
