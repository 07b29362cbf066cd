import { Worker } from 'node:worker_threads';
import { threadEntry } from '../../threads/thread-entry.js';
import type { ThreadSetup } from './messages.js';

/** Megabytes of JavaScript heap of a thread; the interpreter's memory is beside it and bounded by itself. */
const HEAP = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };

/**
 * Starts the thread of an interpreter, with no environment and nothing to read or print to.
 *
 * `file` is the URL of the thread's module without its ending.
 */
export function startThread(file: URL, setup: ThreadSetup): Worker {
  return new Worker(threadEntry(file), {
    workerData: setup,
    env: {},
    argv: [],
    execArgv: [],
    stdin: false,
    stdout: true,
    stderr: true,
    resourceLimits: HEAP,
  });
}
