/** One suite over every kind of file space, and what only folders of the machine can do wrong. */
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FileSpace, folderFiles, memoryFiles } from '../../../../src/entries/agents.js';

const code = (name: string) => expect.objectContaining({ code: name });

let root = '';
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'runnel-files-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const limits = { maxFileBytes: 2_000_000, maxFiles: 50 };

describe.each([
  ['memoryFiles', () => memoryFiles(limits)],
  ['folderFiles', () => folderFiles({ root, ...limits })],
] as [string, () => FileSpace][])('%s', (_, make) => {
  let space: FileSpace;
  beforeEach(async () => {
    space = make();
    await space.write('notes.md', 'one\ntwo\nthree\n');
    await space.write('src/a/deep.ts', 'const a = 1;\nconst b = 2;\n');
    await space.write('src/b.ts', 'CONST\n');
  });

  it('lists one folder, by name, with sizes', async () => {
    expect(await space.list()).toEqual({
      found: [
        { path: 'notes.md', type: 'file', bytes: 14 },
        { path: 'src', type: 'folder', bytes: 0 },
      ],
      isCut: false,
    });
    expect((await space.list('./src/')).found.map((entry) => entry.path)).toEqual(['src/a', 'src/b.ts']);
    await expect(space.list('nowhere')).rejects.toEqual(code('FILE_UNKNOWN'));
    await expect(space.list('notes.md')).rejects.toEqual(code('FILE_UNREADABLE'));
  });

  it('reads ranges of lines, and says how many there are', async () => {
    expect(await space.read('notes.md')).toEqual({ lines: ['one', 'two', 'three'], offset: 0, totalLines: 3 });
    expect(await space.read('notes.md', { offset: 1, limit: 1 })).toEqual({ lines: ['two'], offset: 1, totalLines: 3 });
    expect((await space.read('notes.md', { offset: 9 })).lines).toEqual([]);
    await expect(space.read('none')).rejects.toEqual(code('FILE_UNKNOWN'));
    await expect(space.read('src')).rejects.toEqual(code('FILE_UNREADABLE'));
    await expect(space.read('.')).rejects.toEqual(code('FILE_UNREADABLE'));
  });

  it('keeps bytes as they are, and refuses to read them as text', async () => {
    const bytes = Uint8Array.from([137, 80, 0, 255]);
    await space.write('p.png', bytes);
    expect([...(await space.readBytes('p.png'))]).toEqual([...bytes]);
    await expect(space.read('p.png')).rejects.toEqual(code('FILE_UNREADABLE'));
  });

  it('edits the one place of a text, refuses none and several, and changes all when told to', async () => {
    expect(await space.edit('notes.md', { find: 'two', replace: '$& 2' })).toBe(1);
    expect((await space.read('notes.md')).lines).toEqual(['one', '$& 2', 'three']);
    await expect(space.edit('notes.md', { find: 'none', replace: '' })).rejects.toEqual(code('TOOL_ARGUMENTS'));
    await expect(space.edit('notes.md', { find: '', replace: 'x' })).rejects.toEqual(code('TOOL_ARGUMENTS'));
    await expect(space.edit('src/a/deep.ts', { find: 'const', replace: 'let' })).rejects.toEqual(
      expect.objectContaining({ code: 'TOOL_ARGUMENTS', message: expect.stringContaining('2 places') }),
    );
    expect(await space.edit('src/a/deep.ts', { find: 'const', replace: 'let', all: true })).toBe(2);
    expect((await space.read('src/a/deep.ts')).lines).toEqual(['let a = 1;', 'let b = 2;']);
  });

  it('loses no edit of several at once', async () => {
    await space.write('many', Array.from({ length: 20 }, (_, index) => `<${index}>`).join('\n'));
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => space.edit('many', { find: `<${index}>`, replace: `[${index}]` })),
    );
    expect((await space.read('many')).lines).toEqual(Array.from({ length: 20 }, (_, index) => `[${index}]`));
  });

  it.each([
    ['*.md', ['notes.md']],
    ['**/*.ts', ['src/a/deep.ts', 'src/b.ts']],
    ['src/*', ['src/b.ts']],
    ['src/**', ['src/a/deep.ts', 'src/b.ts']],
    ['**/{b,notes}.{ts,md}', ['notes.md', 'src/b.ts']],
    ['src/?.ts', ['src/b.ts']],
    ['notes.m.', []],
  ])('finds files by %s', async (pattern, paths) => {
    expect(await space.glob(pattern)).toEqual({ found: paths, isCut: false });
  });

  it('finds files and lines below a folder', async () => {
    expect((await space.glob('*.ts', { folder: 'src' })).found).toEqual(['src/b.ts']);
    expect((await space.grep('const', { folder: 'src/a' })).found).toHaveLength(2);
  });

  it('searches lines, in some files, with and without case', async () => {
    expect(await space.grep('^const b')).toEqual({
      found: [{ path: 'src/a/deep.ts', line: 2, text: 'const b = 2;' }],
      isCut: false,
    });
    expect((await space.grep('const', { ignoreCase: true })).found).toHaveLength(3);
    expect((await space.grep('o', { glob: '*.md' })).found.map(({ line }) => line)).toEqual([1, 2]);
  });

  it('answers patterns that keep other engines busy for ever, and refuses those it cannot read', async () => {
    await space.write('long', `${'a'.repeat(5_000)}!`);
    expect((await space.grep('^(a+)+$', { glob: 'long' })).found).toEqual([]);
    expect((await space.glob(`${'**/'.repeat(30)}x`)).found).toEqual([]);
    await expect(space.grep('(a)\\1')).rejects.toEqual(code('TOOL_ARGUMENTS'));
    await expect(space.grep('a'.repeat(1_001))).rejects.toEqual(code('TOOL_ARGUMENTS'));
    await expect(space.grep('')).rejects.toEqual(code('TOOL_ARGUMENTS'));
  });

  it('says when its bounds left something out', async () => {
    await space.write('large', 'word\n'.repeat(300_000));
    expect(await space.grep('word')).toEqual({ found: [], isCut: true });
    await space.write('lines', 'word\n'.repeat(201));
    expect(await space.grep('word', { glob: 'lines' })).toMatchObject({ isCut: true });
    expect((await space.grep('word', { glob: 'lines' })).found).toHaveLength(200);
  });

  it('refuses files that are too large, written, edited and grown', async () => {
    await expect(space.write('x', 'x'.repeat(2_000_001))).rejects.toEqual(code('LIMIT_REACHED'));
    await space.write('x', 'x'.repeat(100_000));
    await expect(space.edit('x', { find: 'x', replace: 'y'.repeat(100), all: true })).rejects.toEqual(
      code('LIMIT_REACHED'),
    );
    expect((await space.readBytes('x')).length).toBe(100_000);
  });

  it('deletes files, and no folders', async () => {
    await space.delete('src/b.ts');
    await expect(space.read('src/b.ts')).rejects.toEqual(code('FILE_UNKNOWN'));
    await expect(space.delete('src/b.ts')).rejects.toEqual(code('FILE_UNKNOWN'));
    await expect(space.delete('src')).rejects.toEqual(code('FILE_UNREADABLE'));
  });

  it('keeps files and folders apart', async () => {
    await expect(space.write('src', 'x')).rejects.toEqual(code('FILE_UNREADABLE'));
    await expect(space.write('notes.md/x', 'x')).rejects.toEqual(code('FILE_UNREADABLE'));
  });

  it.each(['/etc/passwd', '../x', 'src/../../x', 'C:/x', 'a\0b', 'a\\b', 'x'.repeat(1_001)])(
    'refuses the path %j everywhere',
    async (given) => {
      for (const call of [
        space.list(given),
        space.read(given),
        space.readBytes(given),
        space.write(given, 'x'),
        space.edit(given, { find: 'a', replace: 'b' }),
        space.delete(given),
        space.glob('*', { folder: given }),
        space.grep('x', { folder: given }),
      ]) {
        await expect(call).rejects.toEqual(code('FORBIDDEN'));
      }
    },
  );

  it('stops a search whose signal is raised', async () => {
    const signal = AbortSignal.abort();
    await expect(space.grep('x', { signal })).rejects.toThrow();
    await expect(space.glob('*', { signal })).rejects.toThrow();
  });
});

describe('memoryFiles', () => {
  it('has a bound for all files together, and for their number', async () => {
    const space = memoryFiles({ files: { a: '12345' }, maxBytes: 8, maxFiles: 2 });
    await expect(space.write('b', '1234')).rejects.toEqual(code('LIMIT_REACHED'));
    await space.write('a', '12345678');
    await space.write('b', '');
    await expect(space.write('c', '')).rejects.toEqual(code('LIMIT_REACHED'));
  });
});

describe('folderFiles', () => {
  it('follows no link, to files or folders, inside or outside', async () => {
    const away = await mkdtemp(path.join(tmpdir(), 'runnel-away-'));
    try {
      const space = folderFiles({ root });
      await writeFile(path.join(away, 'secret'), 'secret');
      await symlink(path.join(away, 'secret'), path.join(root, 'file'));
      await symlink(away, path.join(root, 'folder'));
      for (const given of ['file', 'folder/secret', 'folder/new']) {
        await expect(space.read(given)).rejects.toEqual(code('FORBIDDEN'));
        await expect(space.write(given, 'x')).rejects.toEqual(code('FORBIDDEN'));
        await expect(space.delete(given)).rejects.toEqual(code('FORBIDDEN'));
      }
      await expect(space.list('folder')).rejects.toEqual(code('FORBIDDEN'));
      expect((await space.list()).found).toEqual([]);
      expect((await space.grep('secret')).found).toEqual([]);
      expect(await readFile(path.join(away, 'secret'), 'utf8')).toBe('secret');
    } finally {
      await rm(away, { recursive: true });
    }
  });

  it('works in a folder that is reached by a link itself', async () => {
    await mkdir(path.join(root, 'real'));
    await symlink(path.join(root, 'real'), path.join(root, 'link'));
    await folderFiles({ root: path.join(root, 'link') }).write('a/b', 'x');
    expect(await readFile(path.join(root, 'real/a/b'), 'utf8')).toBe('x');
  });

  it('leaves nothing beside the files that it wrote', async () => {
    const space = folderFiles({ root });
    await space.write('a', '1');
    await space.write('a', '2');
    expect((await space.list()).found.map((entry) => entry.path)).toEqual(['a']);
  });

  it('fails without its folder', async () => {
    const space = folderFiles({ root: path.join(root, 'none') });
    await expect(space.list()).rejects.toEqual(code('FILE_UNKNOWN'));
    await expect(space.write('a', 'x')).rejects.toEqual(code('FILE_UNKNOWN'));
  });
});
