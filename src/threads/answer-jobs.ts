import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { EngineError } from '../errors.js';
import type { ThreadAnswer } from './threads.js';

/** Niceness of a thread with jobs: the event loop, and with it every other run, goes first where processors are scarce. */
const NICENESS = 10;

/** Does the jobs of a thread, one after another, and posts what came of each; `problemOf` gives the reason in what is no EngineError. */
export function answerJobs<R>(work: (request: R) => unknown, problemOf: (thrown: unknown) => string): void {
  yieldToOthers();
  const answer = async (request: R): Promise<ThreadAnswer> => {
    try {
      return { value: await work(request) };
    } catch (thrown) {
      if (!EngineError.is(thrown)) return { problem: problemOf(thrown) };
      const { code, message, details, retryable } = thrown;
      return { error: { code, message, details, retryable } };
    }
  };
  parentPort?.on('message', (request: R) => {
    void answer(request).then((given) => parentPort?.postMessage(given));
  });
}

/** Only Linux has a priority for each thread; elsewhere it would be that of the process. */
function yieldToOthers(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(NICENESS);
  } catch {
    // Not allowed everywhere, and only a courtesy.
  }
}
