/** A thread that asks the embedded database the smallest question again and again. It tells how long each answer took, and what the database did meanwhile. */
import { setTimeout as pause } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import postgres from 'postgres';
import { mainThreadMs } from './processor-time.js';

const { path, pid, everyMs } = workerData as { readonly path: string; readonly pid: number; readonly everyMs: number };
const sql = postgres({
  ...{ path, host: 'localhost', user: 'postgres', database: 'postgres' },
  ...{ max: 1, fetch_types: false, onnotice: () => {} },
});
let waits: { readonly waitedMs: number; readonly workedMs: number }[] = [];
parentPort?.on('message', () => {
  parentPort?.postMessage(waits);
  waits = [];
});
for (;;) {
  const [startedAt, workedMs] = [performance.now(), mainThreadMs(pid)];
  await sql`select 1`;
  waits.push({ waitedMs: performance.now() - startedAt, workedMs: mainThreadMs(pid) - workedMs });
  await pause(everyMs);
}
