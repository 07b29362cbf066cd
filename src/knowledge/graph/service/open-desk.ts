/** Where graphs are held: in a thread of their own, or in this one. */
import { EngineError } from '../../../errors.js';
import { type JobThread, startJobThread } from '../../../threads/threads.js';
import type { DeskAnswers, DeskRequest } from './graph-desk.js';

/** Holds graphs and answers questions about them, one at a time. */
export interface GraphDesk {
  answer<D extends DeskRequest['do']>(request: Extract<DeskRequest, { do: D }>): Promise<DeskAnswers[D]>;
  /** Forgets all graphs, and ends the thread. */
  close(): Promise<void>;
}

const THREAD = new URL('./graph-thread', import.meta.url);
const NEVER = new AbortController().signal;

/** What the thread may take: memory for graphs, and time for one answer, in milliseconds. */
const LIMITS = { heapBytes: 1_024 * 1_048_576, timeoutMs: 120_000 };
/** Milliseconds after which a thread that was not asked is ended; it is loaded anew when it is asked again. */
const IDLE_MS = 10 * 60_000;
/** Requests that wait. */
const MAX_WAITING = 1_000;

/**
 * Opens a desk in a thread, which is started by the first request and ended after ten minutes without one.
 *
 * Errors: LIMIT_REACHED for graphs that need more memory or time than a thread has, and for too many requests at once.
 */
export function openThreadDesk(): GraphDesk {
  let thread: JobThread | undefined;
  let line: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  let idle: NodeJS.Timeout | undefined;
  const end = async (): Promise<void> => {
    clearTimeout(idle);
    const ended = thread;
    thread = undefined;
    await ended?.end();
  };
  const ask = async (data: DeskRequest): Promise<unknown> => {
    clearTimeout(idle);
    thread ??= startJobThread(THREAD, LIMITS);
    try {
      return await thread.run({ file: THREAD, message: () => ({ data }), unable }, NEVER);
    } finally {
      if (thread?.isUsable === false) await end();
      idle = setTimeout(() => void end(), IDLE_MS);
      idle.unref();
    }
  };
  return {
    answer<D extends DeskRequest['do']>(request: Extract<DeskRequest, { do: D }>) {
      if (waiting >= MAX_WAITING) return Promise.reject(unable(`${MAX_WAITING} questions wait for them already`));
      waiting += 1;
      const answered = line
        .then(() => ask(request))
        .finally(() => {
          waiting -= 1;
        });
      line = answered.catch(() => undefined);
      return answered as Promise<DeskAnswers[D]>;
    },
    close: end,
  };
}

function unable(why: string): EngineError {
  return new EngineError('LIMIT_REACHED', `Graphs of datasets cannot be searched now: ${why}.`, { retryable: true });
}
