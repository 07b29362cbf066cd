/** The databases of servers under test, with their processor time as the system counts it. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import postgres from 'postgres';
import { freePort, serverUser, whenSaid } from '../../test/support/server-process.js';

export const STORES = ['embedded', 'postgres', 'redis'] as const;
export type StoreName = (typeof STORES)[number];

/** What a server under test stores in. */
export interface Databases {
  /** Environment of one more server, with a database of its own. */
  environment(): Promise<Record<string, string>>;
  /** Microseconds of processor time until now, of all servers' databases but embedded ones. */
  microseconds(): number;
  /** Bytes that they have written to their logs until now. */
  written(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts what `store` needs: nothing, Postgres, or Postgres and Redis, as they are installed, durable as by default. */
export async function startDatabases(store: StoreName): Promise<Databases> {
  if (store === 'embedded') {
    return { environment: async () => ({}), microseconds: () => 0, written: async () => 0, stop: async () => {} };
  }
  const sql = await startPostgres();
  const redis = store === 'redis' ? await startRedis() : undefined;
  let count = 0;
  return {
    async environment() {
      count += 1;
      const DATABASE_URL = await sql.createDatabase(`bench_${count}`);
      return redis === undefined ? { DATABASE_URL } : { DATABASE_URL, REDIS_URL: `${redis.url}/${count}` };
    },
    microseconds: () => processMicroseconds(sql.pid) + (redis === undefined ? 0 : processMicroseconds(redis.pid)),
    written: async () => (await sql.written()) + ((await redis?.written()) ?? 0),
    async stop() {
      await redis?.stop();
      await sql.stop();
    },
  };
}

async function startPostgres() {
  const root = '/usr/lib/postgresql';
  const [version] = readdirSync(root).sort((one, other) => Number(other) - Number(one));
  const bin = path.join(root, String(version), 'bin');
  const folder = await mkdtemp(path.join(tmpdir(), 'runnel-bench-'));
  const user = serverUser('postgres');
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  const data = path.join(folder, 'data');
  const made = spawnSync(
    path.join(bin, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync', '--encoding=UTF8', '--locale=C'],
    { ...user, cwd: folder, encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const port = await freePort();
  const child = spawn(path.join(bin, 'postgres'), ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder], {
    ...user,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await whenSaid(child, 'database system is ready to accept connections');
  const urlOf = (name: string): string => `postgres://postgres@127.0.0.1:${port}/${name}`;
  const admin = postgres(urlOf('postgres'), { max: 1 });
  return {
    pid: child.pid as number,
    async written() {
      const [row] = await admin<{ bytes: number }[]>`select (pg_current_wal_lsn() - '0/0')::float8 as bytes`;
      return row?.bytes ?? 0;
    },
    async createDatabase(name: string) {
      await admin`create database ${admin(name)}`;
      return urlOf(name);
    },
    async stop() {
      await admin.end();
      const gone = once(child, 'exit');
      child.kill('SIGQUIT');
      await gone;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A log that is rewritten is shorter afterwards, and what was written could not be counted. */
const KEEP_LOG = ['--auto-aof-rewrite-percentage', '0'];

async function startRedis() {
  const folder = await mkdtemp(path.join(tmpdir(), 'runnel-bench-'));
  const port = await freePort();
  const child = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'yes', ...KEEP_LOG],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.includes('Ready to accept connections')) break;
  }
  child.stdout.resume();
  const admin = new Redis(`redis://127.0.0.1:${port}`);
  return {
    async written() {
      return Number(/aof_current_size:(\d+)/.exec(await admin.info('persistence'))?.[1] ?? 0);
    },
    url: `redis://127.0.0.1:${port}`,
    pid: child.pid as number,
    async stop() {
      admin.disconnect();
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Microseconds per clock tick of Linux. */
const TICK = 10_000;

/** Processor time of a process and its children, those that have ended as well. Linux only; elsewhere 0. */
export function processMicroseconds(pid: number): number {
  const own = statOf(pid);
  if (own === undefined) return 0;
  return own * TICK + childrenOf(pid).reduce((sum, child) => sum + processMicroseconds(child), 0);
}

export function childrenOf(pid: number): readonly number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return text === '' ? [] : text.split(' ').map(Number);
  } catch {
    return [];
  }
}

/** User and system time of a process and of its children that have ended. */
function statOf(pid: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0);
  } catch {
    return undefined;
  }
}
