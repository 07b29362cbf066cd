/** `runnel serve` as a process of its own, to be killed and started again. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { prepareDatabase } from '../../../scripts/prepare-database.js';
import { temporaryFolder } from '../../stores/support/temporary-folder.js';

const ROOT = path.resolve(import.meta.dirname, '../../..');

/** Milliseconds after which a process's runs may be taken over. */
const LEASE_MS = 1_000;

export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  /** What it wrote to its log. */
  readonly log: () => string;
  /** Ends it as a crash would. */
  kill(): Promise<void>;
  /** Tells it to stop. */
  stop(): Promise<void>;
}

/** What several processes have in common. */
export type ServerEnvironment = Readonly<Record<string, string>>;

/** Settings of a server with a data folder of its own. */
export async function environment(settings: ServerEnvironment = {}): Promise<ServerEnvironment> {
  return {
    PATH: process.env.PATH ?? '',
    RUNNEL_PORT: '0',
    RUNNEL_DATA_DIR: await temporaryFolder(),
    RUNNEL_ALLOW_PRIVATE_NETWORK: 'true',
    RUNNEL_LEASE_MS: String(LEASE_MS),
    RUNNEL_DETACH_GRACE_MS: '0',
    RUNNEL_REQUESTS_PER_MINUTE: '1000000',
    ...settings,
  };
}

/** Starts a server; resolves when it says where it listens. `RUNNEL_TEST_MAIN` names a built program to use instead of the sources. */
export async function startProcess(env: ServerEnvironment): Promise<ServerProcess> {
  const built = process.env.RUNNEL_TEST_MAIN;
  // Made here, so that no process under test has to.
  if (built === undefined) await prepareDatabase();
  const main = built === undefined ? ['--import', 'tsx', 'src/cli/main.ts'] : [built];
  if (built !== undefined && !existsSync(path.resolve(ROOT, built))) throw new Error(`There is no ${built}.`);
  const child = spawn(process.execPath, [...main, 'serve'], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => end(child, 'SIGKILL'));
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => {
    log = (log + chunk.toString()).slice(-64 * 1024);
  });
  const url = await new Promise<string>((resolve, reject) => {
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
      const found = /Runnel listens on (\S+)/.exec(out)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`The server ended with ${code}: ${log}`)));
  });
  return {
    url,
    pid: child.pid as number,
    log: () => log,
    kill: () => end(child, 'SIGKILL'),
    stop: () => end(child, 'SIGTERM'),
  };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

/** Calls the API and gives the answer; a body makes it a POST. */
export async function call(
  url: string,
  body?: object,
  method = body === undefined ? 'GET' : 'POST',
  headers: Record<string, string> = {},
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
): Promise<any> {
  const response = await fetch(url, {
    method,
    ...(body === undefined
      ? { headers }
      : { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }),
  });
  return response.json();
}
