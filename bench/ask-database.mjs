/** A thread that asks the embedded database the smallest question again and again, and tells how long each answer took. */
import { setTimeout as pause } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import postgres from 'postgres';

const { path, everyMs } = workerData;
const sql = postgres({
  path,
  host: 'localhost',
  user: 'postgres',
  database: 'postgres',
  max: 1,
  fetch_types: false,
  onnotice: () => {},
});
let waits = [];
parentPort.on('message', () => {
  parentPort.postMessage(waits);
  waits = [];
});
for (;;) {
  const startedAt = performance.now();
  await sql`select 1`;
  waits.push(performance.now() - startedAt);
  await pause(everyMs);
}
