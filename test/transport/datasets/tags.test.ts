/** Tags of chunks over HTTP, as RAGFlow's clients list, take out and rename them. */
import { describe, expect, it } from 'vitest';
import { ACME, OTHER, startDatasets } from './support/dataset-server.js';

/** A dataset of three chunks with tags. */
async function tagged() {
  const server = await startDatasets();
  const { ask, dataset, upload } = server;
  const id = await dataset();
  const { data } = await upload(id, { 'a.txt': 'one' });
  const chunks = `/datasets/${id}/documents/${data[0].id}/chunks`;
  for (const [content, tag_kwd] of [
    ['A pump.', ['water', 'steel']],
    ['A valve.', ['water']],
    ['A cat.', []],
  ] as const) {
    expect((await ask('POST', chunks, { content, tag_kwd })).code).toBe(0);
  }
  const tags = async () => (await ask('GET', `/datasets/${id}/tags`)).data;
  const find = async (question: string) =>
    (await server.base.search('acme', { question, datasetIds: [id] }, NEVER)).hits;
  return { ...server, id, tags, find };
}

const NEVER = new AbortController().signal;

describe('the tags of a dataset', () => {
  it('are counted, of one dataset and of several', async () => {
    const { ask, dataset, id, tags } = await tagged();
    expect(await tags()).toEqual([
      ['water', 2],
      ['steel', 1],
    ]);
    const other = await dataset('two');
    expect((await ask('GET', `/datasets/tags/aggregation?dataset_ids=${id},${other}`)).data).toEqual([
      { value: 'water', count: 2 },
      { value: 'steel', count: 1 },
    ]);
    expect((await ask('GET', `/datasets/${other}/tags`)).data).toEqual([]);
  });

  it('are taken out, and the chunks are found as before', async () => {
    const { ask, id, tags, find } = await tagged();
    expect(await ask('DELETE', `/datasets/${id}/tags`, { tags: ['water', 'none'] })).toMatchObject({
      code: 0,
      data: true,
    });
    expect(await tags()).toEqual([['steel', 1]]);
    expect((await find('pump'))[0]?.chunk).toMatchObject({ text: 'A pump.', tags: ['steel'] });
  });

  it('are renamed; a chunk that has the new name keeps it once', async () => {
    const { ask, id, tags } = await tagged();
    expect((await ask('PUT', `/datasets/${id}/tags`, { from_tag: 'steel', to_tag: 'water' })).code).toBe(0);
    expect(await tags()).toEqual([['water', 2]]);
  });

  it.each([
    ['DELETE', {}, 102, 'Lack of tags in request body'],
    ['DELETE', { tags: 'water' }, 101, 'tags must be a list of strings'],
    ['PUT', { from_tag: 'a' }, 102, 'Lack of from_tag or to_tag in request body'],
    ['PUT', { from_tag: 1, to_tag: 'b' }, 101, 'from_tag and to_tag must be strings'],
    ['PUT', { from_tag: '', to_tag: ' ' }, 101, 'from_tag and to_tag must not be empty'],
  ])('are left by %s with %j', async (method, body, code, message) => {
    const { ask, id, tags } = await tagged();
    expect(await ask(method, `/datasets/${id}/tags`, body)).toMatchObject({ code, message });
    expect(await tags()).toHaveLength(2);
  });

  it.each([['/datasets/tags/aggregation'], ['/datasets/metadata/flattened']])(
    'are not told to another tenant by %s',
    async (path) => {
      const { ask, id } = await tagged();
      expect((await ask('GET', path)).code).toBe(102);
      expect((await ask('GET', `${path}?dataset_ids=${id}`, undefined, ACME)).code).toBe(0);
      const refused = await ask('GET', `${path}?dataset_ids=${id}`, undefined, OTHER);
      expect(refused).toMatchObject({ code: 102, message: expect.not.stringContaining('water') });
      const unknown = await ask('GET', `${path}?dataset_ids=${'0'.repeat(32)}`, undefined, OTHER);
      expect(refused.message.replace(id, '')).toBe(unknown.message.replace('0'.repeat(32), ''));
    },
  );
});
