import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { prepareDatabase } from '../../scripts/prepare-database.js';
import { environment } from './support/server-process.js';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** Starts `runnel serve --restart`; its servers one after another, by their address and process. */
async function serveAndRestart() {
  await prepareDatabase();
  const args = ['--import', 'tsx', 'src/cli/main.ts', 'serve', '--restart'];
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: await environment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let out = '';
  let wake = (): void => {};
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
    wake();
  });
  let err = '';
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  /** The address of the server that was started as the given one, from 1. */
  const address = async (number: number): Promise<string> => {
    for (;;) {
      const found = [...out.matchAll(/Runnel listens on (\S+)/g)][number - 1]?.[1];
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  /** Processes of the servers that were started so far. */
  const pids = (): number[] => [...err.matchAll(/"server":(\d+)/g)].map(([, pid]) => Number(pid));
  return { child, address, pids, err: () => err };
}

it('starts a server that was killed again, and stops it', async () => {
  const { child, address, pids, err } = await serveAndRestart();
  await address(1);
  process.kill(pids()[0] as number, 'SIGKILL');
  const url = await address(2);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect(new Set([child.pid, ...pids()]).size).toBe(3);
  expect(err()).toContain('"signal":"SIGKILL","pauseMs":2000');
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
  await expect(fetch(url)).rejects.toThrow();
});

it('ends the server when the process that keeps it alive is killed', async () => {
  const { child, address } = await serveAndRestart();
  const url = await address(1);
  child.kill('SIGKILL');
  // Standard output is open for as long as the server lives.
  await once(child, 'close');
  await expect(fetch(url)).rejects.toThrow();
});
