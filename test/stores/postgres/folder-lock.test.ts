import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { lockFolder } from '../../../src/stores/postgres/embedded/folder-lock.js';
import { isAlive, processMark } from '../../../src/stores/postgres/embedded/process-mark.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const OWN = { parent: process.pid };

/** A process that does nothing until it is killed. */
function idleProcess() {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

async function deadPid(): Promise<number> {
  const child = idleProcess();
  child.kill('SIGKILL');
  await once(child, 'exit');
  return child.pid as number;
}

async function holdBy(folder: string, number: number, self: object, parent: object): Promise<void> {
  await writeFile(path.join(folder, `database.lock.${number}`), JSON.stringify({ self, parent }));
}

describe('the lock of a folder', () => {
  it('is given once, and again when it was given back', async () => {
    const folder = await temporaryFolder();
    const lock = await lockFolder(folder, OWN);
    await expect(lockFolder(folder, OWN)).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(lockFolder(folder, OWN)).rejects.toThrow(String(process.pid));
    await lock.release();
    await (await lockFolder(folder, OWN)).release();
  });

  it('says what is wrong with a folder that is none, and what to do', async () => {
    const file = path.join(await temporaryFolder(), 'file');
    await writeFile(file, '');
    for (const folder of [file, path.join(file, 'below')]) {
      const locking = lockFolder(folder, OWN);
      await expect(locking).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
      await expect(locking).rejects.toThrow(`The data folder ${folder} cannot be used: E`);
      await expect(locking).rejects.toThrow('Set RUNNEL_DATA_DIR');
    }
  });

  it('is given to one of many that ask at once', async () => {
    const folder = await temporaryFolder();
    const all = await Promise.allSettled(Array.from({ length: 8 }, () => lockFolder(folder, OWN)));
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('is not held by a process that died', async () => {
    const folder = await temporaryFolder();
    const pid = await deadPid();
    await holdBy(folder, 3, { pid }, { pid });
    await lockFolder(folder, OWN);
    expect((await readdir(folder)).sort()).toEqual(['database.lock.4']);
  });

  it('is not held by a process that has the id of one that died', async () => {
    const folder = await temporaryFolder();
    const mark = { pid: process.pid, startedAt: '1' };
    await holdBy(folder, 1, mark, mark);
    await lockFolder(folder, OWN);
  });

  it.each(['', '{}', '{"self":', 'null'])('is not held by a file with %j', async (contents) => {
    const folder = await temporaryFolder();
    await writeFile(path.join(folder, 'database.lock.1'), contents);
    await lockFolder(folder, OWN);
  });

  it('is waited for while a process ends whose parent died', async () => {
    const folder = await temporaryFolder();
    const child = idleProcess();
    await holdBy(folder, 1, processMark(child.pid as number), { pid: await deadPid() });
    const locked = lockFolder(folder, OWN);
    child.kill('SIGKILL');
    await locked;
  });

  it('is taken from a process whose parent died and that does not end', async () => {
    const folder = await temporaryFolder();
    const child = idleProcess();
    await once(child, 'spawn');
    await holdBy(folder, 1, processMark(child.pid as number), { pid: await deadPid() });
    await lockFolder(folder, { ...OWN, patienceMs: 100 });
    expect(isAlive({ pid: child.pid as number })).toBe(false);
  });
});
