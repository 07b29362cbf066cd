import { mkdir, readdir, rename, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readIn, writeIn } from '../../../../src/agents/middleware/files/folder-files.js';
import { bestHolding, type Holding, holdFolder } from '../../../../src/agents/middleware/files/held-folder.js';
import { makeFolder, removeFolder } from '../../../stores/support/temporary-folder.js';

const KINDS: readonly Holding[] = (await bestHolding()) === 'descriptor' ? ['descriptor', 'path'] : ['path'];

describe.each(KINDS)('a folder that is held by its %s', (holding) => {
  let top: string;
  let root: string;
  beforeEach(async () => {
    top = await makeFolder();
    root = path.join(top, 'space');
    await mkdir(path.join(root, 'a', 'b'), { recursive: true });
    await mkdir(path.join(top, 'secret'));
    await writeFile(path.join(top, 'secret', 'note.txt'), 'theirs');
    await writeFile(path.join(root, 'a', 'b', 'note.txt'), 'ours');
  });
  afterEach(() => removeFolder(top));

  const hold = (names: readonly string[]) =>
    holdFolder({ root, names, wanted: `${names.join('/')}/note.txt` }, holding);
  /** Puts a link to a folder outside in the place of one that is held. */
  const swap = async (): Promise<void> => {
    await rename(path.join(root, 'a', 'b'), path.join(top, 'moved'));
    await symlink(path.join(top, 'secret'), path.join(root, 'a', 'b'));
  };

  it('never reads by way of a link that was put there meanwhile', async () => {
    const folder = await hold(['a', 'b']);
    await swap();
    const read = readIn(folder, 'note.txt', 'a/b/note.txt', 100).then((bytes) => Buffer.from(bytes).toString());
    if (holding === 'descriptor') expect(await read).toBe('ours');
    else await expect(read).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await folder.close();
  });

  it('never writes by way of such a link', async () => {
    const folder = await hold(['a', 'b']);
    await swap();
    const written = writeIn(folder, 'new.txt', 'a/b/new.txt', Buffer.from('x'));
    if (holding === 'descriptor') await written;
    else await expect(written).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await folder.close();
    expect(await readdir(path.join(top, 'secret'))).toEqual(['note.txt']);
  });

  it('refuses a link, a file and nothing on the way', async () => {
    await symlink(path.join(top, 'secret'), path.join(root, 'link'));
    await writeFile(path.join(root, 'file'), '');
    await expect(hold(['link'])).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(hold(['file', 'x'])).rejects.toMatchObject({
      code: 'FILE_UNREADABLE',
      message: '"file" is a file and no folder.',
    });
    await expect(hold(['a', 'nothing'])).rejects.toMatchObject({ code: 'FILE_UNKNOWN' });
    expect(await readdir(path.join(root, 'a'))).toEqual(['b']);
  });
});
