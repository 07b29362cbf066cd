/** A thread that reads one document and ends. */
import { parentPort, workerData } from 'node:worker_threads';
import type { ThreadAnswer } from '../threads/run-in-thread.js';
import type { Section } from './content.js';
import { reasonOf } from './failure.js';
import type { MarkdownRequest } from './index.js';
import { readMarkdown } from './read-markdown.js';

async function answer({ markdown, page }: MarkdownRequest): Promise<ThreadAnswer<readonly Section[]>> {
  try {
    return { value: await readMarkdown(markdown, page) };
  } catch (error) {
    return { problem: reasonOf(error) };
  }
}

parentPort?.postMessage(await answer(workerData as MarkdownRequest));
