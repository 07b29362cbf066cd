/** Threads of this process, as Node itself reports them. */
import type { Worker } from 'node:worker_threads';
import { afterAll } from 'vitest';

const alive = new Set<Worker>();
const state = { started: 0, isWatching: false };
const waiting: { readonly count: number; readonly found: Worker[]; readonly done: (workers: Worker[]) => void }[] = [];

const take = (worker: Worker): void => {
  state.started += 1;
  alive.add(worker);
  worker.once('exit', () => alive.delete(worker));
  for (const one of waiting.splice(0)) {
    one.found.push(worker);
    if (one.found.length >= one.count) one.done(one.found);
    else waiting.push(one);
  }
};

/** Threads that are there now. */
export function countThreads(): number {
  watch();
  return alive.size;
}

/** Threads that were started since somebody first asked. */
export function countStarted(): number {
  watch();
  return state.started;
}

/** Resolves with the next threads that start. */
export function nextThreads(count: number): Promise<Worker[]> {
  watch();
  return new Promise((done) => waiting.push({ count, found: [], done }));
}

function watch(): void {
  if (state.isWatching) return;
  state.isWatching = true;
  process.on('worker', take);
  afterAll(() => void process.off('worker', take));
}
