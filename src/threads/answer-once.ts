import { parentPort, workerData } from 'node:worker_threads';
import type { ThreadAnswer } from './run-in-thread.js';

/** Does the one job of a thread and posts what came of it; `problemOf` gives the reason in anything thrown. */
export async function answerOnce<R, T>(
  work: (request: R) => T | Promise<T>,
  problemOf: (thrown: unknown) => string,
): Promise<void> {
  let answer: ThreadAnswer<T>;
  try {
    answer = { value: await work(workerData as R) };
  } catch (error) {
    answer = { problem: problemOf(error) };
  }
  parentPort?.postMessage(answer);
}
