import { Observable, type OperatorFunction } from 'rxjs';
import { Fifo } from './fifo.js';

/** How far the work may run ahead. */
export interface Pace {
  /** Values that are worked on at once; at least 1. */
  readonly concurrency: number;
  /** Values that may be begun before the one whose results are due has ended; at least 1. */
  readonly ahead: number;
}

/**
 * Maps values as `concatMap` does, but works ahead: the results of a value come when it has ended, in the order of the values.
 *
 * ```text
 * source         abc--|
 * project(a)     ------(x|)
 * project(b)      --(y|)
 * project(c)         --(z|)          (concurrency 2)
 * result         ------(xyz|)
 * ```
 *
 * At most `ahead` values have results that wait; the values themselves wait without a bound, as their source brings them.
 */
export function mapInOrder<T, R>(project: (value: T) => Observable<R>, pace: Pace): OperatorFunction<T, R> {
  return (source) =>
    new Observable((subscriber) => {
      const waiting = new Fifo<T>();
      const early = new Map<number, readonly R[]>();
      let begun = 0;
      let due = 0;
      let active = 0;
      let isSourceEnded = false;
      let isMoving = false;

      const begin = (value: T): void => {
        const index = begun;
        const results: R[] = [];
        begun += 1;
        active += 1;
        const inner = project(value).subscribe({
          next: (result) => results.push(result),
          error: (error: unknown) => subscriber.error(error),
          complete: () => {
            active -= 1;
            early.set(index, results);
            move();
          },
        });
        subscriber.add(inner);
      };
      const step = (): boolean => {
        const results = early.get(due);
        if (results !== undefined) {
          early.delete(due);
          due += 1;
          for (const result of results) subscriber.next(result);
          return true;
        }
        if (waiting.size === 0 || active >= pace.concurrency || begun - due >= pace.ahead) return false;
        begin(waiting.take());
        return true;
      };
      /** A loop, so that work that is done at once does not grow the stack. */
      const move = (): void => {
        if (isMoving) return;
        isMoving = true;
        while (!subscriber.closed && step());
        isMoving = false;
        if (isSourceEnded && active === 0 && waiting.size === 0) subscriber.complete();
      };

      subscriber.add(
        source.subscribe({
          next: (value) => {
            waiting.push(value);
            move();
          },
          error: (error: unknown) => subscriber.error(error),
          complete: () => {
            isSourceEnded = true;
            move();
          },
        }),
      );
    });
}
