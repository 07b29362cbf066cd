import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { knowledgeDocument } from '../../../src/knowledge/knowledge-document.js';
import { fileLoader } from '../../../src/knowledge/loaders/file-loader.js';

const place = mkdtempSync(path.join(realpathSync(tmpdir()), 'runnel-loader-'));
const root = path.join(place, 'root');
mkdirSync(path.join(root, 'inner'), { recursive: true });
mkdirSync(path.join(place, 'root-beside'));
writeFileSync(path.join(root, 'a.md'), '# Title\ntext');
writeFileSync(path.join(root, 'inner/b.csv'), 'h\n1\n2\n');
writeFileSync(path.join(root, '..hidden.txt'), 'hidden');
writeFileSync(path.join(place, 'secret.txt'), 'secret');
writeFileSync(path.join(place, 'root-beside/c.txt'), 'beside');
symlinkSync(path.join(root, 'a.md'), path.join(root, 'link.md'));
symlinkSync(path.join(place, 'secret.txt'), path.join(root, 'escape.txt'));
symlinkSync(place, path.join(root, 'up'));
symlinkSync(root, path.join(place, 'alias'));
execFileSync('mkfifo', [path.join(root, 'pipe')]);
afterAll(() => rmSync(place, { recursive: true, force: true }));

describe('a loader of files', () => {
  const load = fileLoader({ root });

  it('reads a file below its folder by the parser for its ending', async () => {
    expect(await load('a.md')).toEqual([
      {
        id: 'a.md',
        text: '# Title\ntext',
        metadata: { source: 'a.md', fileName: 'a.md', extension: 'md', title: 'Title' },
      },
    ]);
    expect((await load('inner/b.csv')).map(({ id, text }) => [id, text])).toEqual([
      ['inner/b.csv#0', 'h: 1'],
      ['inner/b.csv#1', 'h: 2'],
    ]);
    expect([load.stepName, load.stepKind]).toEqual(['fileLoader', 'loader']);
  });

  it.each([
    ['an absolute path', path.join(root, 'a.md'), 'a.md'],
    ['a path that goes out and in again', '../root/inner/../a.md', 'a.md'],
    ['a link that stays below the folder', 'link.md', 'link.md'],
    ['a name that begins with dots', '..hidden.txt', '..hidden.txt'],
  ])('takes %s', async (_what, uri, source) => {
    const [document] = await load(uri);
    expect([document?.id, document?.metadata.source]).toEqual([source, source]);
  });

  it('takes an absolute path through a link to its folder', async () => {
    const [document] = await fileLoader({ root: path.join(place, 'alias') })(path.join(place, 'alias/a.md'));
    expect(document?.id).toBe('a.md');
  });

  it.each([
    ['a path out of the folder', '../secret.txt', 'FORBIDDEN'],
    ['an absolute path elsewhere', path.join(place, 'secret.txt'), 'FORBIDDEN'],
    ['a folder whose name begins like its own', '../root-beside/c.txt', 'FORBIDDEN'],
    ['a link out of the folder', 'escape.txt', 'FORBIDDEN'],
    ['a path through a linked folder', 'up/secret.txt', 'FORBIDDEN'],
    ['the folder itself', '.', 'FORBIDDEN'],
    ['a folder below', 'inner', 'FILE_UNREADABLE'],
    ['a named pipe', 'pipe', 'FILE_UNREADABLE'],
    ['what is not there', 'gone.md', 'FILE_UNKNOWN'],
    ['an empty path', '', 'FILE_UNKNOWN'],
    ['a path with a zero in it', 'a.md\0', 'FILE_UNKNOWN'],
    ['what is no path', 7 as never, 'FILE_UNKNOWN'],
  ])('refuses %s', async (_what, uri, code) => {
    await expect(load(uri)).rejects.toMatchObject({ code });
  });

  it('says nothing about what lies outside', async () => {
    const there = await load('../secret.txt').catch((error: Error) => error.message.replace('secret', 'X'));
    const notThere = await load('../nothing.txt').catch((error: Error) => error.message.replace('nothing', 'X'));
    expect(there).toBe(notThere);
  });

  it('reads no more bytes than it may', async () => {
    await expect(fileLoader({ root, maxBytes: 11 })('a.md')).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
    expect(await fileLoader({ root, maxBytes: 12 })('a.md')).toHaveLength(1);
  });

  it('gives the parser bytes, path and the options of the call', async () => {
    const given: unknown[] = [];
    const own = fileLoader({
      root,
      parser: async ({ bytes, uri }, options) => {
        given.push(Buffer.from(bytes).toString(), uri, options);
        return [knowledgeDocument({ text: 'x' })];
      },
    });
    const { signal } = new AbortController();
    await own('a.md', { signal, metadata: { n: 1 } });
    expect(given).toEqual(['# Title\ntext', 'a.md', { signal, metadata: { n: 1 } }]);
  });

  it('stops when it is told', async () => {
    await expect(load('a.md', { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
  });

  it('refuses a folder that is none, when it is made or when it is first used', async () => {
    expect(() => fileLoader({ root: '' })).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
    await expect(fileLoader({ root: path.join(place, 'gone') })('a')).rejects.toMatchObject({ code: 'FILE_UNKNOWN' });
  });
});
