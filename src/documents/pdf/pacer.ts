import { setImmediate as nextTurn } from 'node:timers/promises';

/** Longest stretch of work without a rest, in milliseconds. */
const STRETCH_MS = 12;

/** Lets long work give way to others, and end when nobody wants its result any more. */
export interface Pacer {
  /** Whether it is time to {@link rest}. */
  isDue(): boolean;
  /** Gives way once. Errors: the reason of the signal. */
  rest(): Promise<void>;
}

/** Makes the pacer of one piece of work. */
export function createPacer(signal?: AbortSignal): Pacer {
  let since = performance.now();
  return {
    isDue: () => performance.now() - since > STRETCH_MS,
    async rest() {
      await nextTurn();
      signal?.throwIfAborted();
      since = performance.now();
    },
  };
}
