import { Worker } from 'node:worker_threads';
import type { ThreadSetup } from './messages.js';

/** Megabytes of JavaScript heap of a thread; the interpreter's memory is beside it and bounded by itself. */
const HEAP = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };

/**
 * Starts the thread of an interpreter, with no environment and nothing to read or print to.
 *
 * `file` is the URL of the thread's module without its ending.
 */
export function startThread(file: URL, setup: ThreadSetup): Worker {
  return new Worker(entryOf(file), {
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

/** From the sources, as tests run it, the compiler's loader comes along; a thread does not inherit it. */
function entryOf(file: URL): URL {
  const isSource = import.meta.url.endsWith('.ts');
  if (!isSource) return new URL(`${file.href}.js`);
  const url = JSON.stringify(`${file.href}.ts`);
  const start = `import { register } from 'node:module'; register('tsx/esm', ${url}, { data: {} }); await import(${url});`;
  return new URL(`data:text/javascript,${encodeURIComponent(start)}`);
}
