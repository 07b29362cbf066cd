import { EngineError } from '../../../errors.js';

export interface Slots {
  /**
   * Resolves with the way to give the slot back, first come, first served. Rejects when `signal` is aborted meanwhile.
   *
   * @throws EngineError LIMIT_REACHED when too many wait, SANDBOX_FAILED after `close`.
   */
  take(signal: AbortSignal): Promise<() => void>;
  /** Refuses everybody who waits or comes later. */
  close(): void;
}

/** Lets at most `maxActive` scripts run, and `maxWaiting` wait. */
export function createSlots(maxActive: number, maxWaiting: number): Slots {
  const waiting = new Set<{ readonly start: () => void; readonly refuse: (error: unknown) => void }>();
  const state = { active: 0, isClosed: false };

  const giveBack = (): (() => void) => {
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      state.active -= 1;
      const [next] = waiting;
      if (next !== undefined && !state.isClosed) next.start();
    };
  };

  return {
    take: (signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        if (state.isClosed) throw closed();
        if (state.active >= maxActive && waiting.size >= maxWaiting) throw full(maxWaiting);
        const leave = (): void => {
          waiting.delete(entry);
          signal.removeEventListener('abort', abort);
        };
        const abort = (): void => {
          leave();
          reject(signal.reason as Error);
        };
        const entry = {
          start: () => {
            leave();
            state.active += 1;
            resolve(giveBack());
          },
          refuse: (error: unknown) => {
            leave();
            reject(error as Error);
          },
        };
        if (state.active < maxActive) {
          entry.start();
          return;
        }
        waiting.add(entry);
        signal.addEventListener('abort', abort, { once: true });
      }),
    close() {
      state.isClosed = true;
      for (const { refuse } of [...waiting]) refuse(closed());
    },
  };
}

function closed(): EngineError {
  return new EngineError('SANDBOX_FAILED', 'The sandbox for code was closed.');
}

function full(maxWaiting: number): EngineError {
  return new EngineError('LIMIT_REACHED', `${maxWaiting} scripts wait to be run already; try again later.`, {
    retryable: true,
  });
}
