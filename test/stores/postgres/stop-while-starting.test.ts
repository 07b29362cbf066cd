import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';

it.each(['SIGTERM', 'SIGINT'] as const)('the embedded database ends on %s while it is being made', async (signal) => {
  const folder = await temporaryFolder();
  const main = fileURLToPath(new URL('../../../src/stores/postgres/embedded/main.ts', import.meta.url));
  const child = fork(main, [folder, path.join(folder, 'database.sock'), String(process.pid)], {
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exit = once(child, 'exit');
  expect((await once(child, 'message'))[0]).toEqual({ type: 'preparing' });
  child.kill(signal);
  expect(await exit).toEqual([null, signal]);
});
