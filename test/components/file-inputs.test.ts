import { describe, expect, it } from 'vitest';
import { readFileValue, readFileValues } from '../../src/components/file-inputs.js';
import type { StoredFile } from '../../src/components/services.js';
import type { Json } from '../../src/json.js';
import { storeOf } from './file-store.js';

const read = (name: string, mimeType: string, text: string): Promise<Json> =>
  readFileValue({ id: 'f', name, mime_type: mimeType }, storeOf({ id: 'f', name, mimeType, text }));

describe('readFileValue', () => {
  it.each([
    ['a.txt', 'text/plain'],
    ['a.txt', 'text/plain; charset=utf-8'],
    ['a.md', 'application/octet-stream'],
    ['a.MD', ''],
    ['a', 'application/json'],
    ['a', 'application/ld+json'],
    ['a.csv', 'application/vnd.ms-excel'],
  ])('reads %s of type %j as text', async (name, mimeType) => {
    expect(await read(name, mimeType, 'grüße')).toBe('grüße');
  });

  it('takes a byte order mark away', async () => {
    expect(await read('a.txt', 'text/plain', '\uFEFFx')).toBe('x');
  });

  it('gives an image as a data URL', async () => {
    const bytes = new Uint8Array([1, 2, 255]);
    const services = storeOf({ id: 'f', name: 'a.png', mimeType: 'image/PNG', bytes });
    expect(await readFileValue('f', services)).toBe('data:image/png;base64,AQL/');
  });

  it('keeps an image that is given as a data URL', async () => {
    expect(await readFileValue('data:image/png;base64,AQL/', {})).toBe('data:image/png;base64,AQL/');
  });

  it('reads any other data URL like a file', async () => {
    expect(await readFileValue('data:text/html,<h1>Hi</h1>', {})).toBe('# Hi');
  });

  it('finds a file by file_id, too', async () => {
    const services = storeOf({ id: 'f', name: 'a.txt', mimeType: '', text: 'x' });
    expect(await readFileValue({ file_id: 'f', filename: 'b.txt' }, services)).toBe('x');
  });

  it('cuts a long text and says so', async () => {
    const services = storeOf({ id: 'f', name: 'a.txt', mimeType: '', text: 'hello' });
    const text = await readFileValue('f', services, { maxCharacters: 2 });
    expect(text).toBe('he\n\n[The rest of "a.txt" is left out after 2 characters.]');
  });

  it.each<readonly [string, Json, unknown, string]>([
    ['a broken PDF', 'f', storeOf({ id: 'f', name: 'a', mimeType: 'application/pdf', text: '' }), 'FILE_UNREADABLE'],
    ['a value that is no file', { name: 'a.txt' }, storeOf(), 'BAD_REQUEST'],
    ['a number', 5, storeOf(), 'BAD_REQUEST'],
    ['a file that does not exist', { id: 'gone' }, storeOf(), 'FILE_UNKNOWN'],
    ['a run without a file store', { id: 'f' }, {}, 'CONFIG_INVALID'],
    ['a run without services', { id: 'f' }, undefined, 'CONFIG_INVALID'],
  ])('refuses %s', async (_name, value, services, code) => {
    await expect(readFileValue(value, services)).rejects.toMatchObject({ name: 'EngineError', code });
  });
});

describe('readFileValues', () => {
  /** A store whose files come when they are let go, and what was asked of it. */
  const slowStore = () => {
    const asked: string[] = [];
    const waiting = new Map<string, (file: StoredFile | undefined) => void>();
    const read = (id: string): Promise<StoredFile | undefined> =>
      new Promise((resolve) => {
        asked.push(id);
        waiting.set(id, resolve);
      });
    const letGo = async (id: string, text?: string): Promise<void> => {
      waiting.get(id)?.(
        text === undefined ? undefined : { id, name: id, mimeType: 'text/plain', bytes: Buffer.from(text) },
      );
      await new Promise((resolve) => setImmediate(resolve));
    };
    return { asked, letGo, services: { files: { read, save: async () => '' } } };
  };
  const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

  it('reads two at a time and keeps the order', async () => {
    const { asked, letGo, services } = slowStore();
    const contents = readFileValues(ids, services);
    expect(asked).toEqual(ids.slice(0, 2));
    await letGo('b', 'B');
    expect(asked).toEqual(ids.slice(0, 3));
    for (const id of ['c', 'd', 'e', 'f', 'g', 'a']) await letGo(id, id.toUpperCase());
    expect(await contents).toEqual(['A', 'B', 'C', 'D', 'E', 'F', 'G']);
  });

  it('fails with the first error and reads nothing more', async () => {
    const { asked, letGo, services } = slowStore();
    const contents = readFileValues(ids, services);
    const failure = expect(contents).rejects.toMatchObject({ code: 'FILE_UNKNOWN' });
    await letGo('b');
    await failure;
    await letGo('a', 'A');
    expect(asked).toEqual(ids.slice(0, 2));
  });

  it('refuses more than ten before it reads one', async () => {
    const { asked, services } = slowStore();
    const many = Array.from({ length: 11 }, (_, index) => `f${index}`);
    const message = '11 files are given; at most 10 are read at once (RUNNEL_TURN_FILES).';
    await expect(readFileValues(many, services)).rejects.toMatchObject({ code: 'BAD_REQUEST', message });
    const one = readFileValues(['a', 'b'], { ...services, maxFiles: 1 });
    await expect(one).rejects.toThrow('2 files are given; at most 1 ');
    expect(asked).toEqual([]);
  });

  it('reads no more once its signal is aborted', async () => {
    const { asked, letGo, services } = slowStore();
    const controller = new AbortController();
    const contents = expect(readFileValues(ids, services, { signal: controller.signal })).rejects.toThrow('stop');
    controller.abort(new Error('stop'));
    await contents;
    await letGo('a', 'A');
    expect(asked).toEqual(ids.slice(0, 2));
  });

  it('gives nothing for nothing', async () => {
    expect(await readFileValues([], undefined)).toEqual([]);
  });
});
