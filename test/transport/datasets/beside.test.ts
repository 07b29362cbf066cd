/** The chunks that stand before and after some of a document. */
import { describe, expect, it } from 'vitest';
import { startDatasets } from './support/dataset-server.js';

type Chunk = { readonly id: string };

/** A document of many chunks, and one that a user wrote. */
async function withChunks() {
  const server = await startDatasets();
  const id = await server.dataset('parts', { chunk_method: 'naive', parser_config: { chunk_token_num: 16 } });
  const text = Array.from({ length: 10 }, (_, line) => `Pump number ${line} moves water uphill through pipe ${line}.`);
  const document = await server.ingest(id, 'a.txt', text.join('\n'));
  const path = `/datasets/${id}/documents/${document}`;
  await server.ask('POST', `${path}/chunks`, { content: 'A note of a reader.' });
  const { chunks } = (await server.ask('GET', `${path}/chunks?page_size=100`)).data;
  const ids = (chunks as readonly Chunk[]).map((chunk) => chunk.id);
  const written = ids.at(-1) ?? '';
  const beside = async (...of: readonly string[]) => {
    const { data } = await server.ask('GET', `${path}/beside?chunk_ids=${of.join(',')}`);
    return [data.before, data.after].map((side: readonly Chunk[]) => side.map((chunk) => chunk.id));
  };
  return { ...server, path, ids: ids.slice(0, -1), written, beside };
}

describe('chunks beside others', () => {
  it('are up to three on each side, in their order, without what users wrote', async () => {
    const { ids, beside } = await withChunks();
    expect(ids.length).toBeGreaterThanOrEqual(8);
    expect(await beside(ids[4] ?? '', ids[3] ?? '')).toEqual([ids.slice(0, 3), ids.slice(5, 8)]);
    expect(await beside(ids[0] ?? '')).toEqual([[], ids.slice(1, 4)]);
    expect(await beside(ids.at(-1) ?? '')).toEqual([ids.slice(-4, -1), []]);
  });

  it('leave out what was deleted, and are none of what stands nowhere', async () => {
    const { ids, path, ask, beside, written } = await withChunks();
    await ask('DELETE', `${path}/chunks`, { chunk_ids: [ids[3]] });
    expect(await beside(ids[4] ?? '')).toEqual([ids.slice(0, 3), ids.slice(5, 8)]);
    expect(await beside(written)).toEqual([[], []]);
    expect(await beside('nowhere')).toEqual([[], []]);
  });

  it('need the ids of some', async () => {
    const { ask, path } = await withChunks();
    const message = expect.stringContaining('chunk_ids must contain 1 to');
    expect(await ask('GET', `${path}/beside`)).toMatchObject({ code: 101, message });
  });
});
