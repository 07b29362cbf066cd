/**
 * How long a cancel takes from one process to another over Redis: `npx tsx bench/redis.bench.ts`.
 *
 * A child process watches tasks; this one requests their cancel. Both read the clock of the machine, so the numbers are those of the whole
 * way. With publish and subscribe the bar is a 99th percentile of 50 ms, by the flag alone 600 ms. Needs redis-server, or REDIS_URL.
 */

import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { SILENT_LOG } from '../src/logger.js';
import { createRedis } from '../src/stores/redis/redis.js';
import { createRedisStores } from '../src/stores/redis/redis-stores.js';
import { anyRedis } from '../test/stores/redis/support/redis-server.js';

/** One measurement, in milliseconds. */
export interface LatencyRow {
  readonly name: string;
  readonly cancels: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

type Way = 'published' | 'flag';

/** What the child says: that it watches, or which task it saw cancelled and when. */
type Report = { readonly watching: true } | { readonly task: string; readonly at: string };

const CANCELS = 400;

/** Time over which the cancels are spread, so that they meet the poll at every phase. */
const SPREAD_MS = 4_000;

/** Measures both ways; takes about ten seconds. */
export async function benchRedis(): Promise<readonly LatencyRow[]> {
  const server = await anyRedis();
  try {
    return [await measure(server.url, 'published'), await measure(server.url, 'flag')];
  } finally {
    await server.dispose();
  }
}

async function measure(url: string, way: Way): Promise<LatencyRow> {
  const tasks = Array.from({ length: CANCELS }, () => randomUUID());
  const requestedAt = new Map<string, bigint>();
  const latencies: number[] = [];
  const child = fork(fileURLToPath(import.meta.url), ['watch', url, way], { execArgv: ['--import', 'tsx'] });
  const seen = new Promise<void>((resolve) => {
    child.on('message', (report: Report) => {
      if ('watching' in report) return;
      latencies.push(Number(BigInt(report.at) - (requestedAt.get(report.task) ?? 0n)) / 1e6);
      if (latencies.length === CANCELS) resolve();
    });
  });
  const watching = once(child, 'message');
  child.send(tasks);
  await watching;
  const { stores, close } = open(url, way);
  // Connected and with its script known, as a server at work is.
  await stores.signals.requestCancel(randomUUID());
  for (const task of tasks) {
    await pause((SPREAD_MS / CANCELS) * 2 * Math.random());
    requestedAt.set(task, process.hrtime.bigint());
    await stores.signals.requestCancel(task);
  }
  await seen;
  await close();
  const exited = once(child, 'exit');
  child.disconnect();
  await exited;
  return rowOf(way === 'published' ? 'publish and subscribe' : 'flag alone', latencies);
}

function rowOf(name: string, latencies: readonly number[]): LatencyRow {
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = (part: number): number =>
    Number((sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN).toFixed(2));
  return { name, cancels: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}

function open(
  url: string,
  way: Way,
): { readonly stores: ReturnType<typeof createRedisStores>; close(): Promise<void> } {
  const log = { ...SILENT_LOG, warn: console.warn };
  const redis = createRedis({ url, log });
  return {
    stores: createRedisStores(redis, { receivesCancels: way === 'published' }),
    close: redis.close,
  };
}

/** The child: watches the tasks it is sent until its parent lets it go. */
async function watch(url: string, way: Way): Promise<void> {
  const { stores, close } = open(url, way);
  const report = (message: Report): void => void process.send?.(message);
  const [tasks] = (await once(process, 'message')) as [readonly string[]];
  for (const task of tasks) {
    stores.signals.cancelOf(task).subscribe(() => report({ task, at: String(process.hrtime.bigint()) }));
  }
  // Its own cancel comes back when everything before it is set up.
  const probe = randomUUID();
  stores.signals.cancelOf(probe).subscribe(() => report({ watching: true }));
  await stores.signals.requestCancel(probe);
  await once(process, 'disconnect');
  await close();
}

const [script, role, url, way] = process.argv.slice(1);
const isMain = script !== undefined && import.meta.url === pathToFileURL(script).href;
if (isMain && role === 'watch') await watch(String(url), way as Way);
else if (isMain) console.table(await benchRedis());
