import { setTimeout as delay } from 'node:timers/promises';
import { EngineError } from '../errors.js';

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;

export interface RetryOptions {
  /** Ends the trying; the last error is thrown then. */
  readonly signal: AbortSignal;
  /** Hears of the first failure. */
  readonly onWait: (error: unknown) => void;
}

/**
 * Does `work` until it succeeds or fails for good: what must be kept waits for a store that is away, however long that takes.
 *
 * @throws what `work` throws that is not retryable, or anything once the signal is aborted.
 */
export async function retryWhileAway<T>(work: () => Promise<T>, { signal, onWait }: RetryOptions): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, 2 * pauseMs)) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || !EngineError.is(error) || !error.retryable) throw error;
      if (pauseMs === FIRST_PAUSE_MS) onWait(error);
      await delay(pauseMs, undefined, { signal }).catch(() => {});
    }
  }
}
