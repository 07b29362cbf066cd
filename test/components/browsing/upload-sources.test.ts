import { lastValueFrom, NEVER, of, throwError, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { EgressClient, EgressRequest, EgressResponse } from '../../../src/adapters/egress/egress-client.js';
import { isUpload, loadUploads } from '../../../src/components/browsing/files.js';
import { EngineError } from '../../../src/errors.js';
import type { Json } from '../../../src/json.js';
import { storeOf } from '../file-store.js';
import { activationOf } from '../text-activation.js';

const HEADERS: Readonly<Record<string, Record<string, string>>> = {
  'http://a.example/x/plain.txt?key=1': {},
  'http://a.example/named': {
    'content-disposition': 'attachment; filename="no.txt"; filename*=UTF-8\'\'na%C3%AFve.txt',
  },
  'http://a.example/hostile': { 'content-disposition': 'attachment; filename="../../etc/passwd"' },
  'http://a.example/with,comma': {},
};

function http(asked: EgressRequest[]): EgressClient {
  return {
    fetch: (request) => {
      asked.push(request);
      const headers = HEADERS[request.url];
      if (headers === undefined) return throwError(() => new EngineError('URL_BLOCKED', 'That is not allowed.'));
      const bytes = new Uint8Array(1);
      const answer: EgressResponse = { status: 200, headers, contentType: '', url: request.url, bytes, text: () => '' };
      return of(answer);
    },
    connect: () => NEVER,
    close: () => {},
  };
}

async function load(sources: Json, variables: Record<string, Json> = {}) {
  const asked: EgressRequest[] = [];
  const file = (id: string) => ({ id, name: `${id}.txt`, mimeType: 'text/plain', text: id });
  const services = { ...storeOf(file('f1'), file('f2')), http: http(asked) };
  const loaded = await lastValueFrom(loadUploads(sources, activationOf({ variables, services })).pipe(toArray()));
  return {
    names: loaded.filter(isUpload).map(({ name }) => name),
    warnings: loaded.flatMap((one) => (isUpload(one) ? [] : [String(one.data.message)])),
    asked,
  };
}

describe('files to upload', () => {
  it.each<[string, Json, Record<string, Json>, string[]]>([
    ['an id', 'f1', {}, ['f1.txt']],
    ['ids between commas', 'f1, f2', {}, ['f1.txt', 'f2.txt']],
    ['a list as text', '["f1", {"file_id": "f2"}]', {}, ['f1.txt', 'f2.txt']],
    ['one file twice', ['f1', { id: 'f1' }], {}, ['f1.txt']],
    ['a reference to objects', '{sys.files}', { 'sys.files': [{ id: 'f2' }] }, ['f2.txt']],
    ['references in a list', [{ value: '{sys.files}' }], { 'sys.files': 'f1' }, ['f1.txt']],
    ['a value that looks like a reference', '{sys.query}', { 'sys.query': '{sys.files}', 'sys.files': 'f1' }, []],
    ['URLs', 'http://a.example/x/plain.txt?key=1 http://a.example/named', {}, ['plain.txt', 'naïve.txt']],
    ['a URL with a comma', 'http://a.example/with,comma', {}, ['with,comma']],
    ['a name that leads elsewhere', 'http://a.example/hostile', {}, ['etc passwd']],
    ['nothing', [null, '', {}, true], {}, []],
  ])('are found in %s', async (_what, sources, variables, names) => {
    expect((await load(sources, variables)).names).toEqual(names);
  });

  it('are left out with a warning when they cannot be had, and bounded', async () => {
    const { names, warnings, asked } = await load(['gone', 'http://b.example/secret?token=hush', 'f1']);

    expect(names).toEqual(['f1.txt']);
    expect(warnings).toEqual([
      'A file to upload was left out ("gone"): There is no file "gone"; upload it before it is used.',
      'A file to upload was left out (a URL): That is not allowed.',
    ]);
    expect(asked).toEqual([{ url: 'http://b.example/secret?token=hush', maxBytes: 104_857_600, timeoutMs: 30_000 }]);
  });

  it('are twenty at most', async () => {
    const many = Array.from({ length: 25 }, (_, at) => `f${at}`);
    const { warnings } = await load(many);
    expect(warnings[0]).toBe('5 files to upload were left out: 20 are the most.');
  });
});
