import { from, toArray } from 'rxjs';
import { firstValue, fromAbortable } from '../operators/from-abortable.js';
import { mapInOrder } from '../operators/map-in-order.js';

/** How calls are made side by side. */
export interface SideBySide {
  /** Calls at once; at least 1. */
  readonly concurrency: number;
  /** Ends all calls. @default none */
  readonly signal?: AbortSignal | undefined;
}

/**
 * What a call gives for each of some values, in the order of the values; the calls are made side by side.
 *
 * The first failure is the failure of all: the signals of the other calls are raised, and calls that wait are not made.
 */
export async function sideBySide<T, R>(
  values: readonly T[],
  call: (value: T, signal: AbortSignal) => Promise<R>,
  { concurrency, signal }: SideBySide,
): Promise<R[]> {
  signal?.throwIfAborted();
  if (values.length === 0) return [];
  const results$ = from(values).pipe(
    mapInOrder((value) => fromAbortable((own) => call(value, own)), { concurrency, ahead: values.length }),
    toArray(),
  );
  return await firstValue(results$, signal);
}
