import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { describe } from 'vitest';
import { freePort } from '../../../support/server-process.js';

/** A real Redis that belongs to the tests; it keeps what it confirmed, however it ends. */
export interface RedisServer {
  readonly url: string;
  /** Ends it as a crash would. */
  kill(): Promise<void>;
  /** Starts it again with what it kept; resolves when it answers. */
  start(): Promise<void>;
  /** Halts it, so that it answers nothing and its connections stay. */
  halt(): void;
  /** Lets it continue. */
  resume(): void;
  /** Ends it for good. */
  dispose(): Promise<void>;
}

const MISSING = 'no redis-server here: run "apt-get install -y redis-server"';

const hasServer = spawnSync('redis-server', ['--version']).status === 0;

/** A group of tests that need any Redis; without one they are reported as skipped, with the reason in their name. */
export function describeRedis(name: string, define: () => void): void {
  if (hasServer || process.env.REDIS_URL !== undefined) describe(name, define);
  else describe.skip(`${name} (${MISSING}, or set REDIS_URL to a server)`, define);
}

/** The same for tests that need a Redis of their own, to end it or to have it empty. */
export function describeOwnRedis(name: string, define: () => void): void {
  if (hasServer) describe(name, define);
  else describe.skip(`${name} (${MISSING})`, define);
}

/** The Redis of `REDIS_URL`, or one of the tests' own. */
export async function anyRedis(): Promise<{ readonly url: string; dispose(): Promise<void> }> {
  const url = process.env.REDIS_URL;
  return url === undefined ? startRedisServer() : { url, dispose: async () => {} };
}

export async function startRedisServer(): Promise<RedisServer> {
  if (!hasServer) throw new Error(MISSING);
  const folder = mkdtempSync(path.join(tmpdir(), 'runnel-redis-'));
  const port = await freePort();
  let server: ChildProcess | undefined;
  const kill = async (): Promise<void> => {
    const running = server;
    server = undefined;
    if (running === undefined || running.exitCode !== null) return;
    const exited = once(running, 'exit');
    running.kill('SIGKILL');
    await exited;
  };
  const start = async (): Promise<void> => {
    const options = [
      '--bind',
      '127.0.0.1',
      '--dir',
      folder,
      '--save',
      '',
      '--appendonly',
      'yes',
      '--appendfsync',
      'always',
    ];
    server = spawn('redis-server', ['--port', String(port), ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
    await answers(server);
  };
  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    kill,
    start,
    halt: () => void server?.kill('SIGSTOP'),
    resume: () => void server?.kill('SIGCONT'),
    async dispose() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function answers(server: ChildProcess): Promise<void> {
  const lines = createInterface({ input: server.stdout as NodeJS.ReadableStream });
  for await (const line of lines) {
    if (!line.includes('Ready to accept connections')) continue;
    // Nobody reads on, and a full pipe would stop the server.
    server.stdout?.resume();
    return;
  }
  throw new Error(`redis-server ended at its start with code ${server.exitCode}`);
}
