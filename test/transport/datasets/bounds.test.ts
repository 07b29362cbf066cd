/** What one request about datasets may ask for at most, and clients that leave before they are answered. */
import { Observable, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { wordMarker } from '../../../src/transport/datasets/mark-words.js';
import { ACME, startDatasets } from './support/dataset-server.js';

const many = (count: number) => Array.from({ length: count }, (_, at) => at.toString(16).padStart(32, '0'));

describe('a request', () => {
  it.each([
    ['DELETE', '/datasets', { ids: many(10_001) }, 'List should have at most 10000 items'],
    ['DELETE', '/datasets/ID/documents', { ids: many(10_001) }, 'List should have at most 10000 items'],
    ['POST', '/datasets/ID/chunks', { document_ids: many(10_001) }, 'must contain at most 10000 IDs; received 10001'],
    ['POST', '/datasets/ID/documents/batch-update-status', { doc_ids: many(10_001), status: 1 }, 'at most 10000 IDs'],
    ['POST', '/documents/ingest', { doc_ids: many(10_001), run: 1 }, 'at most 10000 IDs'],
    ['POST', '/datasets/ID/metadata/update', { selector: { document_ids: many(10_001) } }, 'at most 10000 IDs'],
    ['POST', '/datasets/ID/metadata/update', { updates: many(1_001) }, 'at most 1000 items together'],
    ['DELETE', '/datasets/ID/tags', { tags: many(1_001) }, 'at most 1000 strings'],
    ['PUT', '/datasets/ID/tags', { from_tag: 'a', to_tag: 'b'.repeat(1_001) }, 'at most 1000 characters'],
  ])('%s %s with too much is refused', async (method, path, body, message) => {
    const { ask, dataset } = await startDatasets({ parses: false });
    const answer = await ask(method, path.replace('ID', await dataset()), body);
    expect(answer).toMatchObject({ code: 101, message: expect.stringContaining(message) });
  });

  it('that makes metadata or settings too large is refused, also by and by', async () => {
    const { ask, dataset, upload } = await startDatasets({ parses: false });
    const id = await dataset();
    const [{ id: document }] = (await upload(id, { 'a.txt': 'x' })).data;
    const refused = (what: string) => ({ code: 101, message: expect.stringContaining(`The ${what}`) });
    const large = 'x'.repeat(140_000);
    const changed = { selector: { document_ids: [document] }, updates: [{ key: 'a', value: large }] };
    expect(await ask('POST', `/datasets/${id}/metadata/update`, changed)).toMatchObject(refused('metadata'));
    const own = `/datasets/${id}/documents/${document}`;
    expect(await ask('PATCH', own, { meta_fields: { a: large } })).toMatchObject(refused('metadata'));
    expect(await ask('PUT', `${own}/metadata/config`, { metadata: large })).toMatchObject(refused('settings'));
    const more = (name: string) =>
      ask('PUT', `/datasets/${id}`, { parser_config: { ext: { [name]: large.slice(-60_000) } } });
    expect([(await more('a')).code, (await more('b')).code]).toEqual([0, 0]);
    expect(await more('c')).toMatchObject(refused('settings of the dataset'));
  });

  it('for chunks with too many words is refused', async () => {
    const { ask, dataset, upload } = await startDatasets({ parses: false });
    const id = await dataset();
    const [{ id: document }] = (await upload(id, { 'a.txt': 'x' })).data;
    const body = { content: 'x', questions: ['q'.repeat(65_537)] };
    const answer = await ask('POST', `/datasets/${id}/documents/${document}/chunks`, body);
    expect(answer).toMatchObject({ code: 101, message: expect.stringContaining('65536 characters in all') });
  });
});

describe('a page of chunks', () => {
  it('has as many as fit into 4 MiB, and says how many do not; one that is larger than that comes alone', async () => {
    const { ask, base, dataset, upload } = await startDatasets({ parses: false });
    const id = await dataset();
    const [{ id: document }] = (await upload(id, { 'a.txt': 'x' })).data;
    const path = `/datasets/${id}/documents/${document}/chunks`;
    for (const letter of ['a', 'b', 'c', 'd', 'e'])
      expect((await ask('POST', path, { content: letter.repeat(1_000_000) })).code).toBe(0);
    const page = await ask('GET', path);
    expect(page).toMatchObject({ code: 0, left_out: 1, message: expect.stringContaining('left out for their size') });
    expect(page.data.total).toBe(5);
    expect(page.data.chunks).toHaveLength(4);
    const rest = await ask('GET', `${path}?page=3&page_size=2`);
    expect(rest.left_out).toBeUndefined();
    const letters = [...page.data.chunks, ...rest.data.chunks].map(({ content }: { content: string }) => content[0]);
    expect(letters.sort()).toEqual(['a', 'b', 'c', 'd', 'e']);
    const long = '\u82f9'.repeat(1_600_000);
    const list = base.chunks.list.bind(base.chunks);
    Object.assign(base.chunks, {
      list: async (tenant: string, query: Parameters<typeof list>[1]) => {
        const { items, total } = await list(tenant, query);
        const grown = items.map((chunk) => ({ ...chunk, text: long }));
        return { items: (query.maxBytes ?? 0) < long.length * 3 ? [] : grown, total };
      },
    });
    const large = await ask('GET', path);
    expect([large.data.chunks.length, large.left_out]).toEqual([1, 4]);
  });
});

describe('the words of a question', () => {
  it('are looked for in its beginning, and mean nothing else', () => {
    const mark = wordMarker(`a.c pump 水泵${' x'.repeat(10_000)} valve`);
    expect(mark('abc Pump, valve; 水泵 <b>')).toBe('abc <em>Pump</em>, valve; <em>水泵</em> <b>');
    expect(wordMarker('?!')('a?!')).toBe('a?!');
    expect(wordMarker('are run')('We declare runs: 泵run')).toBe('We declare <em>run</em>s: 泵<em>run</em>');
  });
});

describe('a client that leaves', () => {
  it('ends the search that it waited for, which is no fault', async () => {
    const { base, dataset, url, errors, ask } = await startDatasets({ parses: false });
    const id = await dataset();
    const client = new AbortController();
    const ended = new Promise((resolve) => {
      Object.assign(base, {
        search: (_tenant: string, _query: object, signal: AbortSignal) =>
          new Promise((_, reject) => {
            signal.addEventListener('abort', () => {
              reject(signal.reason);
              resolve(undefined);
            });
            client.abort();
          }),
      });
    });
    const body = JSON.stringify({ question: 'x', dataset_ids: [id] });
    const headers = { ...ACME, 'content-type': 'application/json' };
    await expect(
      fetch(`${url}/api/v1/retrieval`, { method: 'POST', headers, body, signal: client.signal }),
    ).rejects.toThrow();
    await ended;
    await ask('GET', '/datasets');
    expect(errors).toEqual([]);
  });

  it('ends the fetching of a page, which counts as an upload until then', async () => {
    const client = new AbortController();
    let ended = (): void => {};
    const left = new Promise<void>((resolve) => {
      ended = resolve;
    });
    const page = { status: 200, contentType: 'text/html', url: 'http://a.test/', bytes: new TextEncoder().encode('x') };
    const hanging$ = new Observable<never>(() => {
      begun();
      return ended;
    });
    let begun = (): void => {};
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const fetches = [hanging$, of(page)];
    const { dataset, ask, url, errors } = await startDatasets({
      parses: false,
      env: { RUNNEL_UPLOAD_BYTES: '1000000', RUNNEL_UPLOADS_BYTES: '2500000' },
      services: { http: { fetch: () => fetches.shift() } },
    });
    const path = `/datasets/${await dataset()}/documents?type=web`;
    const body = { name: 'page', url: 'http://a.test/' };
    const first = fetch(`${url}/api/v1${path}`, {
      method: 'POST',
      headers: { ...ACME, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: client.signal,
    });
    await isBegun;
    // One of several tenants has half of the room.
    expect(await ask('POST', path, body)).toMatchObject({ message: expect.stringContaining('Too much at once') });
    client.abort();
    await expect(first).rejects.toThrow();
    await left;
    expect(await ask('POST', path, body)).toMatchObject({ code: 0, data: { name: 'page.html' } });
    expect(errors).toEqual([]);
  });
});
