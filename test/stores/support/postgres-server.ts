/** A real Postgres server for tests: the one at `DATABASE_URL`, or one that is started from the binaries of the machine. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chown } from 'node:fs/promises';
import path from 'node:path';
import postgres from 'postgres';
import { describe } from 'vitest';
import { freePort, serverUser, whenSaid } from '../../support/server-process.js';
import { makeFolder, removeFolder } from './temporary-folder.js';

export interface PostgresServer {
  /** URL of a new, empty database. */
  createDatabase(): Promise<string>;
  /** Kills the server with all its processes, as a crash would; undefined for a server that is not ours. */
  readonly crash: (() => Promise<void>) | undefined;
  /** Starts it again after a crash. */
  readonly restart: (() => Promise<void>) | undefined;
  /** Halts all its processes, so that it answers nothing and its connections stay; undefined for a server that is not ours. */
  readonly halt: (() => Promise<void>) | undefined;
  /** Lets them continue. */
  readonly resume: (() => Promise<void>) | undefined;
  /** Stops the server, or drops the databases that were made in one that is not ours. */
  stop(): Promise<void>;
}

const MISSING = 'no Postgres here: run "apt-get install -y postgresql", or set DATABASE_URL to a server';

/** Whether there is a server to test with. */
export const hasPostgres = process.env.DATABASE_URL !== undefined || binaries() !== undefined;

/** A group of tests that need a server; without one they are reported as skipped, with the reason in their name. */
export function describePostgres(name: string, define: () => void): void {
  if (hasPostgres) describe(name, define);
  else describe.skip(`${name} (${MISSING})`, define);
}

export async function startPostgres(): Promise<PostgresServer> {
  const { DATABASE_URL } = process.env;
  return DATABASE_URL === undefined ? startOwn() : useGiven(DATABASE_URL);
}

/** Newest first; Debian keeps every version in a folder of its own. */
function binaries(): string | undefined {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => path.join(root, version, 'bin')),
    ...(process.env.PATH ?? '').split(':'),
  ];
  return folders.find((folder) => ['initdb', 'postgres'].every((name) => existsSync(path.join(folder, name))));
}

async function startOwn(): Promise<PostgresServer> {
  const bin = binaries() as string;
  const folder = await makeFolder();
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
  const args = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder, '-F'];
  const start = async (): Promise<ChildProcess> => {
    const child = spawn(path.join(bin, 'postgres'), args, {
      ...user,
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await whenSaid(child, 'database system is ready to accept connections');
    return child;
  };
  let child = await start();
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  };
  const signalAll = async (signal: NodeJS.Signals): Promise<void> => {
    const { pid } = child;
    if (pid === undefined) return;
    for (const one of [pid, ...childrenOf(pid)]) process.kill(one, signal);
  };
  const urlOf = (name: string): string => `postgres://postgres@127.0.0.1:${port}/${name}`;
  return {
    createDatabase: () => createDatabase(urlOf),
    // Immediate shutdown: no checkpoint, no goodbye to clients, recovery at the next start; but no orphans either.
    crash: () => end('SIGQUIT'),
    restart: async () => {
      child = await start();
    },
    halt: () => signalAll('SIGSTOP'),
    resume: () => signalAll('SIGCONT'),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) await end('SIGQUIT');
      await removeFolder(folder);
    },
  };
}

/** Of Linux alone. */
function childrenOf(pid: number): readonly number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split(' ').map(Number) : [];
}

function useGiven(given: string): PostgresServer {
  const names: string[] = [];
  const urlOf = (name: string): string => {
    const url = new URL(given);
    if (name !== 'postgres') {
      names.push(name);
      url.pathname = `/${name}`;
    }
    return url.href;
  };
  return {
    createDatabase: () => createDatabase(urlOf),
    crash: undefined,
    restart: undefined,
    halt: undefined,
    resume: undefined,
    async stop() {
      const sql = postgres(given, { max: 1, onnotice: () => {} });
      for (const name of names) await sql`drop database if exists ${sql(name)}`;
      await sql.end();
    },
  };
}

async function createDatabase(urlOf: (name: string) => string): Promise<string> {
  const name = `runnel_test_${randomUUID().replaceAll('-', '')}`;
  const sql = postgres(urlOf('postgres'), { max: 1 });
  await sql`create database ${sql(name)}`;
  await sql.end();
  return urlOf(name);
}
