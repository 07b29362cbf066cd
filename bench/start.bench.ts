/**
 * What a start costs, beside a Node that does nothing: `npm run bench:start`. The program is the built one (`npm run build`).
 *
 * Each is started in turn with `node -e 0`, so that both meet the same load of the machine; the ratio of the medians is what counts.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { quantile, type Row } from './measure.js';

const PROGRAM = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const CANVAS = fileURLToPath(new URL('../examples/hello/canvas.json', import.meta.url));
const RUNS = 15;
const SERVERS = 5;
/** Until a server without clients has done what it does after its start. */
const SETTLED_MS = 2_000;

/** Measures the start of a run, of a server with a new database and with an old one, and the memory of both servers; about a minute. */
export async function benchStart(): Promise<readonly Row[]> {
  if (!existsSync(PROGRAM)) {
    console.warn('No dist/cli/main.js: `npm run build` first to see what a start costs.');
    return [];
  }
  const bare: number[] = [];
  const beside = async (seconds: number[], start: () => Promise<number>): Promise<void> => {
    bare.push(await run(['-e', '0']));
    seconds.push(await start());
  };
  const runs: number[] = [];
  for (let at = 0; at < RUNS; at += 1) await beside(runs, () => run([PROGRAM, 'run', CANVAS, '--query', 'hello']));
  const fresh: number[] = [];
  const again: number[] = [];
  const memory: { first: readonly number[]; again: readonly number[] } = { first: [], again: [] };
  for (let at = 0; at < SERVERS; at += 1) {
    const folder = await mkdtemp(path.join(tmpdir(), 'runnel-start-'));
    try {
      const started = async (which: 'first' | 'again'): Promise<number> => {
        const { seconds, resident } = await serve(folder);
        memory[which] = resident;
        return seconds;
      };
      await beside(fresh, () => started('first'));
      await beside(again, () => started('again'));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  const unit = quantile(bare, 0.5);
  const rows = (name: string, seconds: readonly number[], bar: number): Row[] => [
    { name, value: quantile(seconds, 0.5), unit: 's' },
    { name: `${name}, beside node -e 0`, value: quantile(seconds, 0.5) / unit, unit: 'x', bar },
  ];
  return [
    { name: 'node -e 0', value: unit, unit: 's' },
    ...rows('runnel run', runs, 4),
    ...rows('runnel serve, first start, until it answers', fresh, 15),
    ...rows('runnel serve, until it answers', again, 15),
    ...memoryRows('', memory.again),
    ...memoryRows(', first start', memory.first),
  ];
}

/** @param megabytes of the server, then of its database; none where the system does not say */
function memoryRows(which: string, megabytes: readonly number[]): readonly Row[] {
  if (megabytes.length === 0) return [];
  const rows = megabytes.map((value, at) => ({
    name: `memory of ${at === 0 ? 'an idle server' : 'its database'}${which}`,
    value,
    unit: 'MB',
  }));
  const both = megabytes.reduce((sum, one) => sum + one, 0);
  return [...rows, { name: `memory of both${which}`, value: both, unit: 'MB', bar: 200 }];
}

/** Seconds that a process takes. */
async function run(args: readonly string[]): Promise<number> {
  const startedAt = performance.now();
  await promisify(execFile)(process.execPath, args);
  return (performance.now() - startedAt) / 1_000;
}

interface Served {
  /** Until the first request was answered, which reads from the database. */
  readonly seconds: number;
  /** In megabytes, of the server and of its children, some time later; empty where the system does not say. */
  readonly resident: readonly number[];
}

async function serve(folder: string): Promise<Served> {
  const env = { ...process.env, RUNNEL_PORT: '0', RUNNEL_DATA_DIR: folder };
  const startedAt = performance.now();
  const server = spawn(process.execPath, [PROGRAM, 'serve', '--examples'], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    const url = await addressOf(server);
    await (await fetch(`${url}/api/v1/agents`)).text();
    const seconds = (performance.now() - startedAt) / 1_000;
    await pause(SETTLED_MS);
    return { seconds, resident: [server.pid as number, ...childrenOf(server.pid as number)].flatMap(residentOf) };
  } finally {
    server.kill();
    await once(server, 'exit');
  }
}

async function addressOf(server: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: server.stdout as NodeJS.ReadableStream })) {
    const url = /listens on (\S+)/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error('the server ended before it said where it listens');
}

function childrenOf(parent: number): readonly number[] {
  if (!existsSync('/proc/self/stat')) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => Number(/\) \S (\d+)/.exec(textOf(`/proc/${pid}/stat`))?.[1]) === parent);
}

function residentOf(pid: number): readonly number[] {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(textOf(`/proc/${pid}/status`))?.[1];
  return kilobytes === undefined ? [] : [Number(kilobytes) / 1_024];
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
