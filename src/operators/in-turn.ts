import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import type { LoopTurns } from './loop-turns.js';

/**
 * Subscribes to its source once it is the turn of this subscriber, so that the beginnings of many do not hold the event loop until the last has begun.
 *
 * ```text
 * subscribed   ^
 * turn         ---x
 * source          a-b|
 * result       ---a-b|
 * ```
 *
 * What the source does when it is subscribed to is the piece of work that takes the turn; what follows it is not held. A subscriber that leaves before its turn never
 * subscribes to the source.
 *
 * @param turns undefined: subscribes at once
 */
export function inTurn<T>(turns: Pick<LoopTurns, 'do'> | undefined): MonoTypeOperatorFunction<T> {
  return (source) =>
    turns === undefined
      ? source
      : new Observable((subscriber) => {
          turns
            .do(async () => {
              if (!subscriber.closed) source.subscribe(subscriber);
            })
            .catch((error: unknown) => subscriber.error(error));
        });
}
