/** A thread that reads one page and ends. */
import { parentPort, workerData } from 'node:worker_threads';
import type { ThreadAnswer } from '../../threads/run-in-thread.js';
import type { Page, PageRequest } from './page.js';
import { parsePage } from './parse-page.js';

function answer(request: PageRequest): ThreadAnswer<Page> {
  try {
    return { value: parsePage(request) };
  } catch (error) {
    if (error instanceof RangeError) return { problem: 'its elements are nested too deeply' };
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

parentPort?.postMessage(answer(workerData as PageRequest));
