/** The thread of JavaScript: one fresh interpreter per script, until the host has had enough of the thread. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { ThreadSetup } from '../messages.js';
import { createThreadSide } from '../thread-side.js';
import { runScript } from './run-script.js';

const setup = workerData as ThreadSetup;
const side = createThreadSide(parentPort as MessagePort, setup);

for (;;) {
  const job = side.waitForJob();
  const { ending, ...about } = await runScript(job, setup, side);
  side.end(ending, about);
}
