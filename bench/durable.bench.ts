/**
 * How long a cancel takes from one server to a run of another, and how soon a server is ready: `npx tsx bench/durable.bench.ts`.
 *
 * Two servers share a Redis and a Postgres. A client follows a run of the first; the cancel goes to the second, or is only the flag in
 * Redis, as RAGFlow's tools set it. What counts is the time until the client has read that the run is over. Bars: a 99th percentile of
 * 50 ms, and 600 ms by the flag alone. Needs `npm run build`, redis-server and Postgres.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { SILENT_LOG } from '../src/logger.js';
import { createRedis } from '../src/stores/redis/redis.js';
import { startRedisServer } from '../test/stores/redis/support/redis-server.js';
import { startPostgres } from '../test/stores/support/postgres-server.js';
import { documentOf } from '../test/transport/support/documents.js';

/** One measurement, in milliseconds. */
export interface DurableRow {
  readonly name: string;
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly barMs: number;
}

const CANCELS = 200;
const STARTS = 5;

/** Waits for ever at a server that does not answer. */
const WAITING = (url: string) =>
  documentOf({ begin: ['Begin', ['Invoke:Wait']], 'Invoke:Wait': ['Invoke', [], { url, timeout: 600 }] });

/** Measures all; takes about two minutes. */
export async function benchDurable(): Promise<readonly DurableRow[]> {
  return [...(await benchStarts()), ...(await benchCancels())];
}

async function benchStarts(): Promise<readonly DurableRow[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'runnel-bench-'));
  const first: number[] = [];
  const again: number[] = [];
  try {
    for (let at = 0; at < STARTS; at += 1) {
      const env = { RUNNEL_DATA_DIR: path.join(folder, String(at)) };
      for (const times of [first, again]) {
        const startedAt = performance.now();
        const server = await startServer(env);
        times.push(performance.now() - startedAt);
        await server.stop();
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
  return [rowOf('first start, embedded database', first, 2_000), rowOf('start, embedded database', again, 2_000)];
}

async function benchCancels(): Promise<readonly DurableRow[]> {
  const [redis, postgres] = await Promise.all([startRedisServer(), startPostgres()]);
  const folder = await mkdtemp(path.join(tmpdir(), 'runnel-bench-'));
  const silent = spawn(process.execPath, ['-e', SILENT_SERVER], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = (await once(silent.stdout, 'data')) as [Buffer];
  const env = { RUNNEL_DATA_DIR: folder, REDIS_URL: redis.url, DATABASE_URL: await postgres.createDatabase() };
  const [first, second] = [await startServer(env), await startServer(env)];
  const flags = createRedis({ url: redis.url, log: SILENT_LOG });
  try {
    await flags.ready();
    const agent = await createAgent(first.url, `http://127.0.0.1:${String(port).trim()}/`);
    const asked = await measure(first.url, agent, async ({ run }) => {
      await fetch(`${second.url}/api/v1/agents/${agent}/runs/${run}/cancel`, { method: 'POST' });
    });
    const flagged = await measure(first.url, agent, async ({ session }) => {
      await flags.commands.send('SET', [`${session}-cancel`, 'x', 'PX', 60_000]);
    });
    return [rowOf('cancel through another server', asked, 50), rowOf('cancel by the flag alone', flagged, 600)];
  } finally {
    await flags.close();
    await Promise.all([first.stop(), second.stop()]);
    silent.kill('SIGKILL');
    await redis.dispose();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Never answers; ends with whoever started it. */
const SILENT_SERVER = `
  const server = require('node:http').createServer(() => {}).listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

type Cancel = (which: { readonly run: string; readonly session: string }) => Promise<void>;

async function measure(url: string, agent: string, cancel: Cancel): Promise<number[]> {
  const times: number[] = [];
  while (times.length < CANCELS) {
    const response = await fetch(`${url}/api/v1/agents/${agent}/stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'x' }),
    });
    const run = response.headers.get('x-run-id') as string;
    let text = '';
    let startedAt: number | undefined;
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString();
      if (startedAt === undefined && text.includes('"component_id":"Invoke:Wait"')) {
        // Spread, so that it meets the poll at every phase.
        await pause(Math.random() * 500);
        startedAt = performance.now();
        void cancel({ run, session: /"session_id":"([^"]+)"/.exec(text)?.[1] as string });
      }
    }
    times.push(performance.now() - (startedAt as number));
  }
  return times;
}

function rowOf(name: string, times: readonly number[], barMs: number): DurableRow {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number): number => Math.round(sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN);
  return { name, count: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), barMs };
}

async function createAgent(url: string, silent: string): Promise<string> {
  const response = await fetch(`${url}/api/v1/agents`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ title: 'Waits', dsl: WAITING(silent) }),
  });
  const { data } = (await response.json()) as { readonly data: { readonly id: string } };
  return data.id;
}

async function startServer(
  env: Readonly<Record<string, string>>,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const child: ChildProcess = spawn(process.execPath, ['dist/cli/main.js', 'serve'], {
    env: {
      ...process.env,
      RUNNEL_PORT: '0',
      RUNNEL_ALLOW_PRIVATE_NETWORK: 'true',
      RUNNEL_SHUTDOWN_GRACE_MS: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      out += chunk.toString();
      const found = /Runnel listens on (\S+)/.exec(out)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`The server ended with ${code}.`)));
  });
  return {
    url,
    async stop() {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    },
  };
}

const [script] = process.argv.slice(1);
if (script !== undefined && import.meta.url === pathToFileURL(script).href) console.table(await benchDurable());
