import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { syncFolder } from '../../../src/knowledge/base/sync-folder.js';
import { temporaryFolder } from '../../stores/support/temporary-folder.js';
import { newBase, TENANT } from './support/new-base.js';

async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await temporaryFolder();
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), content);
  }
  return folder;
}

describe('a dataset that follows a folder', () => {
  it('has its files, and those of its folders, but nothing hidden and no links', async () => {
    const folder = await folderWith({ 'a.txt': 'one', 'deep/b.md': 'two', '.git/config': 'x', 'deep/.env': 'x' });
    await symlink('/etc', path.join(folder, 'link'));
    const { base, start, dataset, ended, found } = newBase();
    start();
    const id = await dataset();
    const { files, queued } = await syncFolder(base, { tenant: TENANT, datasetId: id, path: folder });
    expect(files.map(({ name, outcome }) => [name, outcome])).toEqual([
      ['a.txt', 'new'],
      ['deep/b.md', 'new'],
    ]);
    for (const one of queued) await ended(one);
    expect(await found(id, 'two')).toEqual(['deep/b.md: two']);
  });

  it('leaves out pictures that lie beside documents, and takes one that is named', async () => {
    const folder = await folderWith({ 'a.md': 'one', 'pictures/a.png': 'x' });
    const { base, dataset } = newBase();
    const id = await dataset();
    const given = { tenant: TENANT, datasetId: id };
    const { files } = await syncFolder(base, { ...given, path: folder });
    expect(files).toMatchObject([
      { name: 'a.md', outcome: 'new' },
      { name: 'pictures/a.png', outcome: 'skipped', reason: expect.stringContaining('picture') },
    ]);
    expect((await syncFolder(base, { ...given, path: path.join(folder, 'pictures/a.png') })).files).toMatchObject([
      { name: 'a.png', outcome: 'new' },
    ]);
  });

  it('takes what has changed, leaves the rest, and drops what is gone', async () => {
    const folder = await folderWith({ 'a.txt': 'one', 'b.txt': 'two', 'c.txt': 'three' });
    const { base, start, dataset, ended, found, indexes } = newBase();
    start();
    const id = await dataset();
    const sync = () => syncFolder(base, { tenant: TENANT, datasetId: id, path: folder, deletesGone: true });
    for (const one of (await sync()).queued) await ended(one);
    await base.documents.add(TENANT, id, { name: 'own.txt', content: [new TextEncoder().encode('mine')] });
    await writeFile(path.join(folder, 'b.txt'), 'changed');
    await rm(path.join(folder, 'c.txt'));
    const added = indexes.added();
    const { files, queued, deleted } = await sync();
    expect(files.map(({ name, outcome }) => [name, outcome])).toEqual([
      ['a.txt', 'unchanged'],
      ['b.txt', 'replaced'],
    ]);
    expect(deleted).toEqual(['c.txt']);
    for (const one of queued) await ended(one);
    expect(indexes.added()).toBe(added + 1);
    expect([await found(id, 'changed'), await found(id, 'three')]).toEqual([['b.txt: changed'], []]);
    expect((await base.datasets.find(TENANT, id))?.counts.documents).toBe(3);
    expect(await sync()).toMatchObject({ queued: [], deleted: [] });
  });

  it('may be one file, and refuses what is not there or too many files', async () => {
    const folder = await folderWith({ 'a.txt': 'one', 'b.txt': 'two' });
    const { base, dataset } = newBase();
    const id = await dataset();
    const given = { tenant: TENANT, datasetId: id };
    const { files } = await syncFolder(base, { ...given, path: path.join(folder, 'a.txt') });
    expect(files).toMatchObject([{ name: 'a.txt', outcome: 'new' }]);
    await expect(syncFolder(base, { ...given, path: path.join(folder, 'none') })).rejects.toMatchObject({
      code: 'USAGE',
    });
    await expect(syncFolder(base, { ...given, path: folder, maxFiles: 1 })).rejects.toMatchObject({
      code: 'LIMIT_REACHED',
    });
  });
});
