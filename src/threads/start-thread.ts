import { type ResourceLimits, Worker } from 'node:worker_threads';

export interface ThreadOptions {
  /** What the thread finds in `workerData`. */
  readonly data: unknown;
  /** Bounds of its JavaScript heap and stack, in megabytes; an interpreter's memory is beside them. */
  readonly limits: ResourceLimits;
}

/**
 * Starts a thread without environment and standard streams.
 *
 * `file` is the URL of the thread's module without its ending.
 */
export function startThread(file: URL, { data, limits }: ThreadOptions): Worker {
  return new Worker(entryOf(file), {
    workerData: data,
    env: {},
    argv: [],
    execArgv: [],
    stdin: false,
    stdout: true,
    stderr: true,
    resourceLimits: limits,
  });
}

/** When run from sources, as in tests, the loader is registered in the thread, which does not inherit it. */
function entryOf(file: URL): URL {
  const isSource = import.meta.url.endsWith('.ts');
  if (!isSource) return new URL(`${file.href}.js`);
  const url = JSON.stringify(`${file.href}.ts`);
  const start = `import { register } from 'node:module'; register('tsx/esm', ${url}, { data: {} }); await import(${url});`;
  return new URL(`data:text/javascript,${encodeURIComponent(start)}`);
}
