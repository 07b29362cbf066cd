import { parentPort } from 'node:worker_threads';
import { EngineError } from '../errors.js';
import type { ThreadAnswer } from './threads.js';

/** The thread's own way out of a job. */
export interface ThreadEnd {
  /** Says why the job cannot be done, and ends the thread at once. */
  giveUp(problem: string): never;
}

/** Does the jobs of a thread, one after another, and posts what came of each; `problemOf` gives the reason in what is no EngineError. */
export function answerJobs<R>(work: (request: R) => unknown, problemOf: (thrown: unknown) => string): ThreadEnd {
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
  return {
    giveUp(problem) {
      parentPort?.postMessage({ problem, isLast: true } satisfies ThreadAnswer);
      process.exit();
    },
  };
}
