/** What a process costs that lives long, and one that starts: `npm run bench -- process`. The program is the built one (`npm run build`). */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { lastValueFrom, Observable, timer } from 'rxjs';
import { chain } from '../src/graph/build.js';
import { type NodeEvent, settled } from '../src/graph/node-events.js';
import { run } from '../src/graph/run.js';
import { milliseconds, type Row } from './measure.js';

const PROGRAM = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const CANVAS = fileURLToPath(new URL('../examples/hello/canvas.json', import.meta.url));
const SOAK_RUNS = 10_000;

/** Compiled code comes and goes, which is some hundred KB in all; a run that leaks anything leaves more than this. */
const NO_LEAK_BYTES = 64;

/** Measures a soak in this process, then the program; takes about half a minute. */
export async function benchProcess(): Promise<readonly Row[]> {
  const rows = await soak();
  if (!existsSync(PROGRAM)) {
    console.warn('No dist/cli/main.js: `npm run build` first to see what the program costs.');
    return rows;
  }
  return [...rows, await coldStart(), ...(await idleServer())];
}

/** Runs with promises, timers, streams and cuts, many times over; then nothing of them may be left. */
async function soak(): Promise<Row[]> {
  let open = 0;
  const streaming = new Observable<NodeEvent>((subscriber) => {
    open += 1;
    const wait = timer(0).subscribe(() => subscriber.next(settled({})));
    return () => {
      open -= 1;
      wait.unsubscribe();
    };
  });
  const plan = chain({ first: () => ({}), later: async () => ({}), streaming: () => streaming, last: () => ({}) });
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

async function coldStart(): Promise<Row> {
  const once = () => promisify(execFile)(process.execPath, [PROGRAM, 'run', CANVAS, '--query', 'hello']);
  return { name: 'runnel run, cold', value: (await milliseconds(once)) / 1_000, unit: 's', bar: 0.6, aim: 0.3 };
}

/** Memory and start of a server that nobody uses. */
async function idleServer(): Promise<Row[]> {
  const environment = { ...process.env, RUNNEL_PORT: '0' };
  const startedAt = performance.now();
  const server = spawn(process.execPath, [PROGRAM, 'serve'], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  try {
    const said = createInterface({ input: server.stdout });
    await Promise.race([once(said, 'line'), once(createInterface({ input: server.stderr }), 'line')]);
    const startSeconds = (performance.now() - startedAt) / 1_000;
    await pause(2_000);
    const rows: Row[] = [{ name: 'runnel serve, until it says its address', value: startSeconds, unit: 's', bar: 2 }];
    const resident = /VmRSS:\s+(\d+)/.exec(statusOf(server.pid))?.[1];
    if (resident !== undefined) {
      rows.push({ name: 'memory of an idle server', value: Number(resident) / 1_024, unit: 'MB', bar: 150 });
    }
    return rows;
  } finally {
    server.kill();
    await once(server, 'exit');
  }
}

/** Linux tells what another process holds; elsewhere the row is left out. */
function statusOf(pid: number | undefined): string {
  const file = `/proc/${pid}/status`;
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
