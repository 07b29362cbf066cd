import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import { createFilesOnDisk, type FileEntry, type FileIndex } from '../../src/stores/files-on-disk.js';
import { temporaryFolder } from './support/temporary-folder.js';

/** An index in memory; `fail` is thrown by the next `put`. */
function createIndex() {
  const entries = new Map<string, FileEntry>();
  const state: { fail: unknown } = { fail: undefined };
  const index: FileIndex = {
    async put(tenant, entry) {
      if (state.fail !== undefined) throw state.fail;
      const before = entries.get(`${tenant}/${entry.id}`)?.path;
      entries.set(`${tenant}/${entry.id}`, entry);
      return before;
    },
    find: async (tenant, id) => entries.get(`${tenant}/${id}`),
    unknownPaths: async (paths) => paths.filter((name) => [...entries.values()].every((entry) => entry.path !== name)),
  };
  return { index, state, entries };
}

const FILE = { id: 'f', name: 'report.txt', mimeType: 'text/plain', bytes: Uint8Array.of(1, 2, 3), createdAt: 1 };

async function filesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  return names.filter((name) => name.includes('/'));
}

describe('files on disk', () => {
  it('are not found any more when they have expired', async () => {
    const files = createFilesOnDisk({ folder: await temporaryFolder(), index: createIndex().index });
    await files.save('t', { ...FILE, id: 'old', expiresAt: Date.now() - 1 });
    await files.save('t', { ...FILE, id: 'young', expiresAt: Date.now() + 60_000 });
    expect(await files.find('t', 'old')).toBeUndefined();
    expect(await files.find('t', 'young')).toMatchObject({ name: 'report.txt' });
  });

  it('leave nothing of what they replace', async () => {
    const folder = await temporaryFolder();
    const files = createFilesOnDisk({ folder, index: createIndex().index });
    await files.save('t', FILE);
    await files.save('t', { ...FILE, bytes: Uint8Array.of(4) });
    expect(await filesIn(folder)).toHaveLength(1);
  });

  it('leave nothing of what the index refuses', async () => {
    const folder = await temporaryFolder();
    const { index, state } = createIndex();
    state.fail = new EngineError('BAD_REQUEST', 'no');
    await expect(createFilesOnDisk({ folder, index }).save('t', FILE)).rejects.toBe(state.fail);
    expect(await filesIn(folder)).toEqual([]);
  });

  it('keep the bytes when nobody knows whether the index took them', async () => {
    const folder = await temporaryFolder();
    const { index, state } = createIndex();
    state.fail = new EngineError('INTERNAL', 'lost', { retryable: true });
    const files = createFilesOnDisk({ folder, index });
    await expect(files.save('t', FILE)).rejects.toBe(state.fail);
    expect(await filesIn(folder)).toHaveLength(1);
    expect(await files.sweep(Date.now() + 1_000)).toBe(1);
    expect(await filesIn(folder)).toEqual([]);
  });

  it('leave alone what others put beside them', async () => {
    const folder = await temporaryFolder();
    const other = path.join(folder, 'f'.repeat(32));
    await mkdir(other);
    await writeFile(path.join(other, 'report.txt'), 'x');
    expect(await createFilesOnDisk({ folder, index: createIndex().index }).sweep(Date.now() + 1_000)).toBe(0);
    expect(await filesIn(folder)).toHaveLength(1);
  });

  it.each([
    ['gone', (file: string) => rm(file)],
    ['cut short', (file: string) => writeFile(file, 'x')],
  ])('say so when bytes are %s', async (_name, damage) => {
    const folder = await temporaryFolder();
    const { index, entries } = createIndex();
    const files = createFilesOnDisk({ folder, index });
    await files.save('t', FILE);
    await damage(path.join(folder, entries.get('t/f')?.path as string));
    await expect(files.find('t', 'f')).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
  });

  it('refuse a file that is too large', async () => {
    const files = createFilesOnDisk({ folder: await temporaryFolder(), index: createIndex().index, maxFileBytes: 2 });
    await expect(files.save('t', FILE)).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
  });
});
