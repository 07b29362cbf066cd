import { existsSync } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../src/stores/make-folder.js';
import { lockFolder } from '../../src/stores/postgres/embedded/folder-lock.js';
import { temporaryFolder } from './support/temporary-folder.js';

describe('making a folder', () => {
  it('makes those it lies in, for this user alone, however many do so at once', async () => {
    const parent = path.join(await temporaryFolder(), 'a');
    const folder = path.join(parent, 'b', 'c');
    await Promise.all([makeFolder(folder), makeFolder(folder), makeFolder(parent)]);
    await makeFolder(folder);
    expect((await stat(parent)).mode & 0o777).toBe(0o700);
    expect((await stat(folder)).isDirectory()).toBe(true);
  });

  it('fails where there is a file', async () => {
    const file = path.join(await temporaryFolder(), 'file');
    await writeFile(file, '');
    await expect(makeFolder(file)).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(makeFolder(path.join(file, 'folder'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  });

  it.skipIf(!existsSync('/proc/self'))(
    'on Linux fails where the system makes no folders, and the data folder says so',
    async () => {
      await expect(makeFolder('/proc/nope')).rejects.toMatchObject({ code: 'ENOENT' });
      await expect(makeFolder('/proc/nope/deeper')).rejects.toMatchObject({ code: 'ENOENT' });
      await expect(lockFolder('/proc/nope', { parent: process.pid })).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining('RUNNEL_DATA_DIR'),
      });
    },
  );
});
