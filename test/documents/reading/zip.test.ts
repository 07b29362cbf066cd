import { buffer } from 'node:stream/consumers';
import { zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { openZip, requireUnpackedSize, type Zip } from '../../../src/documents/reading/zip.js';
import { type ZipPart, zipOf } from './zip-of.js';

const textOf = async (zip: Zip, path: string, signal?: AbortSignal): Promise<string> => {
  const entry = zip.entries.get(path);
  if (entry === undefined) throw new Error(`no ${path} in ${[...zip.entries.keys()]}`);
  return new TextDecoder().decode(await buffer(zip.stream(entry, signal)));
};
const readOne = (part: Partial<ZipPart>): Promise<string> =>
  textOf(openZip(zipOf({ path: 'a', content: 'hello', ...part }), 'x.zip'), 'a');

describe('openZip', () => {
  it('reads deflated and stored files, in any folder', async () => {
    const parts = [
      { path: 'a/é.txt', content: 'one'.repeat(50_000) },
      { path: 'b', content: 'two', isStored: true },
    ];
    const zip = openZip(zipOf(...parts), 'x.zip');
    expect([...zip.entries.keys()]).toEqual(['a/é.txt', 'b']);
    expect(await textOf(zip, 'a/é.txt')).toBe('one'.repeat(50_000));
    expect(await textOf(zip, 'b')).toBe('two');
  });

  it('reads an archive that stands behind other bytes', async () => {
    const bytes = Buffer.concat([Buffer.from('#!/bin/sh\n'), zipOf({ path: 'a', content: 'x' })]);
    expect(await textOf(openZip(bytes, 'x.zip'), 'a')).toBe('x');
  });

  it('takes backslashes and leading slashes of paths for what they mean', () => {
    const zip = openZip(zipOf({ path: '/xl\\workbook.xml', content: '' }), 'x.zip');
    expect([...zip.entries.keys()]).toEqual(['xl/workbook.xml']);
  });

  it.each([0, 9] as const)('reads what fflate writes at level %i', async (level) => {
    const zip = openZip(zipSync({ 'ä/b': Buffer.from('one'.repeat(1000)) }, { level }), 'x.zip');
    expect(await textOf(zip, 'ä/b')).toBe('one'.repeat(1000));
  });

  it.each<readonly [string, Partial<ZipPart>, RegExp]>([
    ['larger than declared', { content: 'x'.repeat(1e6), declaredSize: 10 }, /larger than declared/],
    ['shorter than declared', { declaredSize: 10 }, /shorter than declared/],
    ['no deflated data', { content: 'hello, hello', isStored: true, method: 8 }, /no usable zip archive/],
    ['encrypted', { isEncrypted: true }, /protected by a password/],
    ['packed in an unknown way', { method: 99 }, /packed with method 99/],
  ])('refuses a file that is %s', async (_name, part, message) => {
    const read = async () => await readOne(part);
    await expect(read()).rejects.toMatchObject({ code: 'FILE_UNREADABLE', message: expect.stringMatching(message) });
  });

  it.each([
    ['empty', Buffer.alloc(0)],
    ['no archive', Buffer.from('hello')],
    ['cut off at the end', zipOf({ path: 'a', content: 'hello' }).subarray(0, -10)],
    ['cut off at the start', zipOf({ path: 'a', content: 'hello' }).subarray(20)],
  ])('refuses what is %s', async (_name, bytes) => {
    const read = async () => await textOf(openZip(bytes, 'x.zip'), 'a');
    await expect(read()).rejects.toMatchObject({
      code: 'FILE_UNREADABLE',
      message: expect.stringContaining('"x.zip"'),
    });
  });

  it('stops unpacking when it is told to', async () => {
    const zip = openZip(zipOf({ path: 'a', content: 'x'.repeat(1e6) }), 'x.zip');
    await expect(textOf(zip, 'a', AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('requireUnpackedSize', () => {
  it('refuses a bomb before it is unpacked', () => {
    const { entries } = openZip(zipOf({ path: 'a', content: 'x'.repeat(3_000_000) }), 'x.zip');
    expect(() => requireUnpackedSize(entries.values(), 1_048_576, 'x.zip')).toThrow(
      /unpacks to 2\.9 MiB; at most 1 MiB/,
    );
    expect(() => requireUnpackedSize(entries.values(), 3_000_000, 'x.zip')).not.toThrow();
  });
});
