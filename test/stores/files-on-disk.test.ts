import { mkdir, open as openFile, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import type { DraftFiles } from '../../src/stores/file-draft.js';
import { createFilesOnDisk, type FileEntry, type FileIndex } from '../../src/stores/files-on-disk.js';
import { temporaryFolder } from './support/temporary-folder.js';

/** An index in memory; `fail` is thrown by the next `put`. */
function createIndex() {
  const entries = new Map<string, FileEntry>();
  const state: { fail: unknown } = { fail: undefined };
  const index: FileIndex = {
    async put(tenant, given) {
      if (state.fail !== undefined) throw state.fail;
      const before = given.flatMap(({ id }) => entries.get(`${tenant}/${id}`)?.path ?? []);
      for (const entry of given) entries.set(`${tenant}/${entry.id}`, entry);
      return before;
    },
    async delete(tenant, id) {
      const entry = entries.get(`${tenant}/${id}`);
      entries.delete(`${tenant}/${id}`);
      return entry;
    },
    deleteExpired: async () => [],
    requireRoom: async () => {},
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

  it.each(['ENOSPC', 'EDQUOT'])('say that the disk is full (%s), and leave nothing behind', async (code) => {
    const folder = await temporaryFolder();
    const { index, entries } = createIndex();
    const full = Object.assign(new Error(`${code}: no space left on device, write`), { code });
    const open: DraftFiles['open'] = async (file) => {
      const handle = await openFile(file, 'wx');
      return {
        write: () => Promise.reject(full),
        sync: () => handle.sync(),
        close: () => handle.close(),
      };
    };
    const files = createFilesOnDisk({ folder, index, draftFiles: { open } });
    const refused = { code: 'LIMIT_REACHED', details: { httpStatus: 507 }, message: expect.stringContaining('disk') };
    await expect(files.save('t', FILE)).rejects.toMatchObject(refused);
    expect(await filesIn(folder)).toEqual([]);
    expect(entries.size).toBe(0);
  });

  it('are written while they come, hashed, and found only when they are stored', async () => {
    const folder = await temporaryFolder();
    const { index, entries } = createIndex();
    const files = createFilesOnDisk({ folder, index });
    const draft = files.draft();
    await draft.write(Buffer.from('he'));
    expect((await filesIn(folder)).map((name) => path.extname(name))).toEqual(['.draft']);
    await draft.write(Buffer.from('llo'));
    const { bytes: _, ...about } = FILE;
    await files.saveDrafts('t', [{ about, draft }]);
    await draft.discard();
    expect(entries.get('t/f')).toMatchObject({
      size: 5,
      sha256: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
    });
    expect(Buffer.from((await files.find('t', 'f'))?.bytes ?? []).toString()).toBe('hello');
    expect(await files.delete('t', 'f')).toBe(true);
    expect(await filesIn(folder)).toEqual([]);
  });

  it('leave nothing behind when they are discarded, and are swept when their process was lost', async () => {
    const folder = await temporaryFolder();
    const files = createFilesOnDisk({ folder, index: createIndex().index });
    const [discarded, lost, empty] = [files.draft(), files.draft(), files.draft()];
    await discarded.write(Buffer.from('x'));
    await lost.write(Buffer.from('y'));
    await discarded.discard();
    await empty.discard();
    expect(await filesIn(folder)).toHaveLength(1);
    expect(await files.sweep(Date.now() + 1_000)).toBe(1);
    expect(await filesIn(folder)).toEqual([]);
    await lost.discard();
  });
});
