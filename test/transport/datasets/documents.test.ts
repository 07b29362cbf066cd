/** Documents, chunks and retrieval over HTTP. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createEgressClient } from '../../../src/adapters/egress/egress-client.js';
import { OTHER, startDatasets, whenEnded } from './support/dataset-server.js';

const TEXT = 'The grinder of the press turns at 900 rounds. A pump moves water uphill.';

describe('documents', () => {
  it('are uploaded several at once, parsed, found, and given back', async () => {
    const { ask, upload, dataset, base, call } = await startDatasets();
    const id = await dataset();
    const { code, data } = await upload(id, { 'a.txt': TEXT, 'b.md': '# Pumps' });
    expect([code, data.map(({ name }: { name: string }) => name)]).toEqual([0, ['a.txt', 'b.md']]);
    const [first] = data;
    expect(first).toMatchObject({
      dataset_id: id,
      run: 'UNSTART',
      status: '1',
      size: TEXT.length,
      type: 'doc',
      chunk_count: 0,
    });
    const ended = whenEnded(base, first.id);
    expect(await ask('POST', `/datasets/${id}/chunks`, { document_ids: [first.id] })).toEqual({
      code: 0,
      message: 'success',
    });
    await ended;
    const { docs, total } = (await ask('GET', `/datasets/${id}/documents?id=${first.id}`)).data;
    expect([total, docs[0].run, docs[0].progress]).toEqual([1, 'DONE', 1]);
    expect(docs[0].progress_msg).toContain('Task done');
    const found = await ask('POST', '/retrieval', { question: 'grinder', dataset_ids: [id], highlight: true });
    expect(found.data.chunks[0]).toMatchObject({ document_id: first.id, document_keyword: 'a.txt', dataset_id: id });
    expect(found.data.chunks[0].highlight).toContain('<em>grinder</em>');
    expect(found.data.doc_aggs).toEqual([{ doc_name: 'a.txt', doc_id: first.id, count: found.data.total }]);
    const file = await call('GET', `/api/v1/datasets/${id}/documents/${first.id}`, undefined, {
      authorization: 'Bearer one-of-acme-long-key',
    });
    expect(file.body).toBe(TEXT);
    expect(file.headers.get('content-disposition')).toContain('attachment');
  });

  it('are found by parts of their chunks, which are given whole and once', async () => {
    const { ask, dataset, upload, base } = await startDatasets();
    const parent_child = { use_parent_child: true, children_delimiter: '\n' };
    const id = await dataset('parts', { parser_config: { parent_child } });
    const text = 'A grinder mills beans.\nIts grinder wheels are steel.';
    const [{ id: document }] = (await upload(id, { 'a.txt': text })).data;
    const ended = whenEnded(base, document);
    await ask('POST', `/datasets/${id}/chunks`, { document_ids: [document] });
    await ended;
    const { total, chunks } = (
      await ask('POST', '/retrieval', { question: 'grinder wheels', dataset_ids: [id], similarity_threshold: 0 })
    ).data;
    expect([total, chunks[0].content, chunks[0].start, chunks[0].end]).toEqual([1, text, 0, text.length]);
    expect(chunks[0].matches.map((one: { start: number; end: number }) => text.slice(one.start, one.end))).toEqual([
      'Its grinder wheels are steel.',
      'A grinder mills beans.',
    ]);
  });

  it('of the same name get a number, and others are refused by their endings', async () => {
    const { upload, dataset } = await startDatasets({ parses: false });
    const id = await dataset();
    await upload(id, { 'a.txt': 'x' });
    expect((await upload(id, { 'a.txt': 'y' })).data[0].name).toBe('a(1).txt');
    const message = 'a.exe: This type of file has not been supported yet!';
    expect(await upload(id, { 'a.exe': 'x' })).toMatchObject({ code: 500, message });
    expect(await upload(id, { 'a.exe': 'x', 'b.txt': 'x' })).toMatchObject({
      code: 500,
      message,
      data: [{ name: 'b.txt' }],
    });
  });

  it('need a file', async () => {
    const { ask, dataset, upload, url } = await startDatasets({ parses: false });
    const id = await dataset();
    expect(await ask('POST', `/datasets/${id}/documents`)).toMatchObject({ code: 101, message: 'No file part!' });
    const headers = { authorization: 'Bearer one-of-acme-long-key', 'content-type': 'multipart/form-data; boundary=B' };
    const body = '--B\r\nContent-Disposition: form-data; name="file"; filename=""\r\n\r\nx\r\n--B--\r\n';
    const unnamed = await fetch(`${url}/api/v1/datasets/${id}/documents`, { method: 'POST', headers, body });
    expect(await unnamed.json()).toMatchObject({ code: 101, message: 'No file selected!' });
    expect(await upload('none', { 'a.txt': 'x' })).toMatchObject({
      code: 102,
      message: "Can't find the dataset with ID none!",
    });
    expect(await ask('POST', `/datasets/${id}/documents?type=x`)).toMatchObject({ code: 101 });
  });

  it('that are too large are refused before they are stored', async () => {
    const { upload, dataset, base } = await startDatasets({ parses: false, env: { RUNNEL_UPLOAD_BYTES: '1024' } });
    const id = await dataset();
    expect(await upload(id, { 'a.txt': 'x'.repeat(2_000) })).toMatchObject({ code: 101 });
    const page = { datasetIds: [id], offset: 0, limit: 1, orderBy: 'name', descending: false } as const;
    expect((await base.documents.list('acme', page)).total).toBe(0);
  });

  it('of the web are refused where their address leads inside, also behind a redirect, and leave nothing', async () => {
    // Addresses of machines' metadata are inside even where private networks may be reached.
    const moved = createServer((_, response) =>
      response.writeHead(302, { location: 'http://169.254.169.254/x' }).end(),
    );
    moved.listen(0, '127.0.0.1');
    await once(moved, 'listening');
    onTestFinished(() => void moved.close());
    const url = `http://127.0.0.1:${(moved.address() as AddressInfo).port}/page.html`;
    for (const allowPrivateNetwork of [false, true]) {
      const services = { http: createEgressClient({ allowPrivateNetwork }) };
      const { ask, dataset } = await startDatasets({ parses: false, services });
      const id = await dataset();
      const { code, message } = await ask('POST', `/datasets/${id}/documents?type=web`, { name: 'page', url });
      expect(code).not.toBe(0);
      expect(message).toContain(allowPrivateNetwork ? '169.254.169.254' : '127.0.0.1');
      expect((await ask('GET', `/datasets/${id}/documents`)).data.total).toBe(0);
    }
  });

  it('can be empty, and are named once', async () => {
    const { ask, dataset } = await startDatasets({ parses: false });
    const path = `/datasets/${await dataset()}/documents?type=empty`;
    expect((await ask('POST', path, { name: 'a.txt' })).data).toMatchObject({
      name: 'a.txt',
      type: 'virtual',
      size: 0,
    });
    expect(await ask('POST', path, { name: 'a.txt' })).toMatchObject({
      code: 102,
      message: 'Duplicated document name in the same dataset.',
    });
    expect(await ask('POST', path, { name: ' ' })).toMatchObject({ code: 101, message: "File name can't be empty." });
  });

  it.each([
    [{ name: 0 }, 102, 'Field: <name> - Message: <Input should be a valid string> - Value: <0>'],
    [{ name: null }, 102, 'Field: <name> - Message: <Input should be a valid string> - Value: <None>'],
    [{ name: 'b.md' }, 101, "The extension of file can't be changed"],
    [{ chunk_method: '' }, 102, '`chunk_method` (empty string) is not valid'],
    [{ chunk_method: 'x' }, 102, "Field: <chunk_method> - Message: <`chunk_method` x doesn't exist> - Value: <x>"],
    [{ meta_fields: [] }, 102, 'Field: <meta_fields> - Message: <Input should be a valid dictionary> - Value: <[]>'],
    [
      { meta_fields: { a: { b: 1 } } },
      102,
      "Field: <meta_fields> - Message: <The type is not supported: {'b': 1}> - Value: <{'a': {'b': 1}}>",
    ],
    [{ chunk_count: 1 }, 102, "can't change `chunk_count`"],
    [{ progress: 2 }, 102, 'Field: <progress> - Message: <Input should be less than or equal to 1> - Value: <2.0>'],
  ])('are not changed by %j', async (body, code, message) => {
    const { ask, upload, dataset } = await startDatasets({ parses: false });
    const id = await dataset();
    const { data } = await upload(id, { 'a.txt': 'x' });
    expect(await ask('PATCH', `/datasets/${id}/documents/${data[0].id}`, body)).toMatchObject({ code, message });
  });

  it('are listed by what is known of them', async () => {
    const { ask, upload, dataset } = await startDatasets({ parses: false });
    const id = await dataset();
    const { data } = await upload(id, { 'a.txt': 'x', 'b.txt': 'y' });
    await ask('PATCH', `/datasets/${id}/documents/${data[0].id}`, {
      meta_fields: { author: 'alice', tags: ['x', 'y'] },
    });
    const names = async (query: string) => {
      const answer = await ask('GET', `/datasets/${id}/documents?${query}`);
      return answer.code === 0 ? answer.data.docs.map(({ name }: { name: string }) => name) : answer.message;
    };
    expect(await names('orderby=name&desc=False')).toEqual(['a.txt', 'b.txt']);
    expect(await names('run=UNSTART&run=3&keywords=A')).toEqual(['a.txt']);
    expect(await names(`metadata=${encodeURIComponent('{"tags": ["y"]}')}`)).toEqual(['a.txt']);
    expect(await names('return_empty_metadata=true')).toEqual(['b.txt']);
    expect(await names('create_time_from=9999999999000')).toEqual([]);
    expect(await names('run=x')).toBe('Invalid filter run status conditions: x');
    expect(await names('orderby=x')).toBe('invalid orderby field: x');
    expect(await names('metadata_condition=[1]')).toBe('metadata_condition must be an object.');
    expect(await names('id=none')).toBe("you don't own the document none");
  });

  it('are deleted, all or none of those that are named', async () => {
    const { ask, upload, dataset } = await startDatasets({ parses: false });
    const id = await dataset();
    const { data } = await upload(id, { 'a.txt': 'x', 'b.txt': 'y' });
    const path = `/datasets/${id}/documents`;
    expect(await ask('DELETE', path, {})).toMatchObject({
      code: 102,
      message: expect.stringContaining('should either provide doc ids'),
    });
    expect(await ask('DELETE', path, { ids: [data[0].id, 'none'] })).toMatchObject({ code: 102 });
    expect(await ask('DELETE', path, { ids: [data[0].id] })).toMatchObject({ code: 0, data: { deleted: 1 } });
    expect(await ask('DELETE', path, { delete_all: true })).toMatchObject({ code: 0, data: { deleted: 1 } });
    expect((await ask('GET', path)).data).toEqual({ total: 0, docs: [] });
  });
});

describe('chunks', () => {
  it('are written, read, changed, hidden and deleted', async () => {
    const { ask, dataset, ingest } = await startDatasets();
    const id = await dataset();
    const document = await ingest(id, 'a.txt', TEXT);
    const path = `/datasets/${id}/documents/${document}/chunks`;
    const { chunk } = (
      await ask('POST', path, { content: 'a valve', important_keywords: ['v'], questions: [' q ', ''] })
    ).data;
    expect(chunk).toMatchObject({
      content: 'a valve',
      dataset_id: id,
      document_id: document,
      important_keywords: ['v'],
      questions: ['q'],
    });
    expect(await ask('PATCH', `${path}/${chunk.id}`, { content: 'a lever' })).toEqual({ code: 0, message: 'success' });
    expect((await ask('GET', `${path}/${chunk.id}`)).data).toMatchObject({
      id: chunk.id,
      content_with_weight: 'a lever',
      available_int: 1,
    });
    expect(await ask('PATCH', path, { chunk_ids: [chunk.id], available: false })).toMatchObject({
      code: 0,
      data: true,
    });
    expect((await ask('GET', `${path}?available=false`)).data.chunks).toHaveLength(1);
    expect((await ask('GET', path)).data).toMatchObject({ total: 2, doc: { chunk_count: 2 } });
    expect(await ask('DELETE', path, { chunk_ids: [chunk.id, chunk.id] })).toMatchObject({
      code: 0,
      data: { success_count: 1 },
    });
    expect(await ask('DELETE', path, { chunk_ids: [chunk.id] })).toMatchObject({
      code: 102,
      message: 'rm_chunk deleted chunks 0, expect 1',
    });
    expect(await ask('GET', `${path}/${chunk.id}`)).toEqual({ code: 102, message: 'Chunk not found!', data: false });
  });

  it.each([
    [{ content: ' ' }, 102, '`content` is required'],
    [{ content: 'x', questions: 'q' }, 102, '`questions` is required to be a list'],
    [{ content: 'x', tag_kwd: [1] }, 102, '`tag_kwd` must be a list of strings'],
  ])('are not written of %j', async (body, code, message) => {
    const { ask, upload, dataset } = await startDatasets({ parses: false });
    const id = await dataset();
    const { data } = await upload(id, { 'a.txt': 'x' });
    expect(await ask('POST', `/datasets/${id}/documents/${data[0].id}/chunks`, body)).toMatchObject({ code, message });
  });
});

describe('retrieval', () => {
  it.each([
    [{ question: 'x' }, 102, '`dataset_ids` is required.'],
    [{ question: 'x', dataset_ids: 'a' }, 102, '`dataset_ids` should be a list'],
    [{ question: 'x', dataset_ids: ['none'] }, 102, "You don't own the dataset none."],
    [{ dataset_ids: ['ID'] }, 102, '`question` is required.'],
    [{ question: 'x', dataset_ids: ['ID'], page: null }, 100, expect.stringContaining('TypeError')],
    [{ question: 'x', dataset_ids: ['ID'], top_k: -1 }, 102, '`top_k` must be greater than 0'],
    [{ question: 'x', dataset_ids: ['ID'], highlight: 'x' }, 102, '`highlight` should be a boolean'],
    [{ question: 'x', dataset_ids: ['ID'], document_ids: ['none'] }, 102, "The datasets don't own the document none"],
    [{ question: 'x', dataset_ids: ['ID'], use_kg: 'x' }, 102, '`use_kg` should be a boolean'],
  ])('is refused for %j', async (body, code, message) => {
    const { ask, dataset } = await startDatasets({ parses: false });
    const id = await dataset();
    const own = JSON.parse(JSON.stringify(body).replaceAll('"ID"', JSON.stringify(id)));
    expect(await ask('POST', '/retrieval', own)).toMatchObject({ code, message });
  });

  it('finds nothing of another tenant, and says the same as of nothing', async () => {
    const { ask, dataset, ingest } = await startDatasets();
    const id = await dataset();
    await ingest(id, 'a.txt', TEXT);
    const body = { question: 'grinder', dataset_ids: [id] };
    expect(await ask('POST', '/retrieval', body, OTHER)).toEqual({
      code: 102,
      message: `You don't own the dataset ${id}.`,
    });
    expect((await ask('POST', `/datasets/${id}/search`, { question: 'grinder' })).data.chunks[0]).toMatchObject({
      kb_id: id,
    });
  });
});
