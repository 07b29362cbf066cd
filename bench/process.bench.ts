/** What a process costs that lives long: `npm run bench -- process`. */
import { setTimeout as pause } from 'node:timers/promises';
import { lastValueFrom, Observable, timer } from 'rxjs';
import { planOf } from '../src/graph/build.js';
import { type NodeEvent, settled } from '../src/graph/node-events.js';
import { run } from '../src/graph/run.js';
import type { Row } from './measure.js';

const SOAK_RUNS = 10_000;

/** Compiled code comes and goes, which is some hundred KB in all; a run that leaks anything leaves more than this. */
const NO_LEAK_BYTES = 64;

/** Runs with promises, timers, streams and cuts, many times over; then nothing of them may be left. Takes some seconds. */
export async function benchProcess(): Promise<readonly Row[]> {
  let open = 0;
  const streaming = new Observable<NodeEvent>((subscriber) => {
    open += 1;
    const wait = timer(0).subscribe(() => subscriber.next(settled({})));
    return () => {
      open -= 1;
      wait.unsubscribe();
    };
  });
  const plan = planOf({ first: () => ({}), later: async () => ({}), streaming: () => streaming, last: () => ({}) });
  const batch = async (from: number, to: number) => {
    const runs: Promise<unknown>[] = [];
    for (let at = from; at < to; at += 1) {
      // Every tenth run is cut off while its stream is open.
      if (at % 10 === 0) run(plan, { input: null }).subscribe().unsubscribe();
      else runs.push(lastValueFrom(run(plan, { input: null }, { timeoutMs: 60_000 })));
    }
    await Promise.all(runs);
  };
  await batch(0, 1_000);
  const before = await settledHeap();
  const resources = process.getActiveResourcesInfo().length;
  for (let from = 0; from < SOAK_RUNS; from += 500) await batch(from, from + 500);
  const after = await settledHeap();
  const left = open + Math.max(0, process.getActiveResourcesInfo().length - resources);
  const name = `${SOAK_RUNS.toLocaleString('en')} runs`;
  return [
    { name: `${name}: streams, timers and sockets left`, value: left, unit: 'left', bar: 0, aim: 0 },
    {
      name: `${name}: heap left by a finished run`,
      value: (after - before) / SOAK_RUNS,
      unit: 'bytes',
      bar: NO_LEAK_BYTES,
      aim: NO_LEAK_BYTES,
    },
  ];
}

async function settledHeap(): Promise<number> {
  await pause(20);
  for (let at = 0; at < 3; at += 1) globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
