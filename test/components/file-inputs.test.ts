import { describe, expect, it } from 'vitest';
import { readFileValue } from '../../src/components/file-inputs.js';
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

  it('keeps a file that is given as a data URL', async () => {
    expect(await readFileValue('data:image/png;base64,AQL/', {})).toBe('data:image/png;base64,AQL/');
  });

  it.each<readonly [string, Json, unknown, string]>([
    [
      'a file of another kind',
      'f',
      storeOf({ id: 'f', name: 'a.pdf', mimeType: 'application/pdf', text: '' }),
      'BAD_REQUEST',
    ],
    ['a value that is no file', { name: 'a.txt' }, storeOf(), 'BAD_REQUEST'],
    ['a number', 5, storeOf(), 'BAD_REQUEST'],
    ['a file that does not exist', { id: 'gone' }, storeOf(), 'NOT_FOUND'],
    ['a run without a file store', { id: 'f' }, {}, 'CONFIG_INVALID'],
    ['a run without services', { id: 'f' }, undefined, 'CONFIG_INVALID'],
  ])('refuses %s', async (_name, value, services, code) => {
    await expect(readFileValue(value, services)).rejects.toMatchObject({ name: 'EngineError', code });
  });
});
