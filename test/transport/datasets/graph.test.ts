import { describe, expect, it } from 'vitest';
import { OTHER, startDatasets } from './support/dataset-server.js';

const TEXTS: Readonly<Record<string, string>> = {
  'Orion.md': 'Orion uses Kafka. Orion was written by Ada Lenz.',
  'Ada Lenz.md': 'Ada Lenz lives in Port Soller. She also wrote the Lyra Scheduler.',
  'Port Soller.md': 'Port Soller is a town by the sea. The Lyra Scheduler depends on Redis.',
};

async function startGraph() {
  const server = await startDatasets();
  const id = await server.dataset();
  for (const [name, text] of Object.entries(TEXTS)) await server.ingest(id, name, text);
  const path = `/datasets/${id}`;
  const build = async (body: object = {}): Promise<void> => {
    const { data } = await server.ask('POST', `${path}/graph`, body);
    expect(data).toMatchObject({ state: 'RUNNING' });
    await expect.poll(async () => (await server.ask('GET', `${path}/graph/build`)).data.state, POLL).toBe('DONE');
  };
  return { ...server, id, path, build };
}

/** What only ends a test that hangs. */
const POLL = { timeout: 60_000, interval: 20 };

describe('the graph of a dataset', () => {
  it('tells its cost first, is built, and says how far it is', async () => {
    const { ask, path, build } = await startGraph();
    expect((await ask('GET', `${path}/graph/cost`)).data).toMatchObject({ chunks: 3, calls: 0, money: 0 });
    expect(await ask('GET', `${path}/graph/cost?reports=perhaps`)).toMatchObject({
      code: 101,
      message: expect.stringContaining('reports'),
    });
    expect(await ask('GET', `${path}/graph/cost?sample=perhaps`)).toMatchObject({ code: 101 });
    // Rules are not sampled.
    expect((await ask('GET', `${path}/graph/cost?sample=true`)).data).toMatchObject({ sampled: null });
    expect(await ask('GET', `${path}/graph/build`)).toMatchObject({ code: 102 });
    expect(await ask('POST', `${path}/graph`, { chunks: ['none'] })).toMatchObject({
      code: 101,
      message: expect.stringContaining('has no chunk "none"'),
    });
    await build();
    expect((await ask('GET', `${path}/graph/build`)).data).toMatchObject({
      done: { links: 3, rules: 3 },
      missing: [],
      spent: { calls: 0 },
    });
    expect((await ask('GET', `${path}/graph/cost`)).data).toMatchObject({ chunks: 0 });
  });

  it('is searched: each passage with the reason why it is there', async () => {
    const { ask, path, build } = await startGraph();
    const question = 'Who is Ada Lenz?';
    expect(await ask('POST', `${path}/graph/search`, { question })).toMatchObject({ code: 102 });
    await build();
    const { data } = await ask('POST', `${path}/graph/search`, { question, limit: 2 });
    expect(data.hits[0]).toMatchObject({ document_keyword: 'Ada Lenz.md', score: 1 });
    expect(data.hits[0].why.entities).toContain('Ada Lenz');
    expect(data.hits).toHaveLength(2);
    const body = { kind: 'path', question: 'how', between: ['Orion', 'Port Soller'] };
    const way = (await ask('POST', `${path}/graph/search`, body)).data;
    expect(way.paths[0].length).toBeGreaterThan(0);
    for (const kind of ['global', 'drift', 'rank']) {
      const found = (await ask('POST', `${path}/graph/search`, { kind, question: 'Which towns does Orion know?' }))
        .data;
      expect(found.hits.length, kind).toBeGreaterThan(0);
    }
  });

  it('is drawn around an entity, at places that stay the same, and in the form of RAGFlow', async () => {
    const { ask, path, build } = await startGraph();
    await build();
    const { data } = await ask('GET', `${path}/graph?around=ada%20lenz&depth=1&limit=10`);
    expect(data.nodes[0]).toMatchObject({ name: 'Ada Lenz' });
    expect(data.graph.nodes.map((node: { id: string }) => node.id)).toContain('Orion');
    expect((await ask('GET', `${path}/graph?around=ada%20lenz&depth=1&limit=10`)).data).toEqual(data);
    expect((await ask('GET', `${path}/knowledge_graph`)).data.graph).toEqual(data.graph);
    expect((await ask('GET', `${path}/trace_graphrag`)).data).toMatchObject({ progress: 1 });
    expect(await ask('DELETE', `${path}/knowledge_graph`)).toMatchObject({ data: true });
    expect((await ask('GET', `${path}/graph`)).data).toEqual({ graph: {}, mind_map: {} });
    expect((await ask('POST', `${path}/run_graphrag`)).data.graphrag_task_id).toMatch(/^[0-9a-f]{32}$/);
  });

  it('is deleted in the form of RAGFlow also while it is built, and is not built without documents', async () => {
    const { ask, path, dataset } = await startGraph();
    expect((await ask('POST', `${path}/index?type=graph`)).data.task_id).toMatch(/^[0-9a-f]{32}$/);
    expect(await ask('DELETE', `${path}/graph`)).toMatchObject({ code: 0, data: true });
    expect((await ask('GET', `${path}/index?type=graph`)).data).toEqual({});
    const empty = await dataset();
    expect(await ask('POST', `/datasets/${empty}/index?type=graph`)).toMatchObject({
      code: 102,
      message: `No documents in Dataset ${empty}`,
    });
  });

  it('takes names for one and keeps them apart, until that is undone', async () => {
    const { ask, path, build } = await startGraph();
    await build();
    const around = async (): Promise<string[]> =>
      (await ask('GET', `${path}/graph?around=kafka&depth=0`)).data.nodes.map(({ name }: { name: string }) => name);
    expect(await around()).toEqual(['Kafka']);
    const { id } = (await ask('POST', `${path}/graph/merge`, { names: ['Kafka', 'Orion'] })).data;
    expect(await around()).toEqual(['Orion']);
    expect((await ask('GET', `${path}/graph/merges`)).data.decisions).toMatchObject([{ id, kind: 'same', by: 'user' }]);
    expect(await ask('DELETE', `${path}/graph/decisions/${id}`)).toMatchObject({ data: true });
    expect(await around()).toEqual(['Kafka']);
    expect(await ask('DELETE', `${path}/graph/decisions/${id}`)).toMatchObject({ code: 102 });
    expect(await ask('POST', `${path}/graph/merge`, { names: ['Kafka'] })).toMatchObject({ code: 101 });
  });

  it('fills places of a retrieval behind the second', async () => {
    const { ask, id, build } = await startGraph();
    const body = {
      question: 'Which town does the writer of Orion live in?',
      dataset_ids: [id],
      similarity_threshold: 0,
    };
    const plain = (await ask('POST', '/retrieval', body)).data.chunks.map((chunk: { id: string }) => chunk.id);
    await build();
    const { chunks } = (await ask('POST', '/retrieval', { ...body, use_kg: true })).data;
    expect(chunks.slice(0, 2).map((chunk: { id: string }) => chunk.id)).toEqual(plain.slice(0, 2));
    expect(chunks.length).toBeGreaterThanOrEqual(plain.length);
  });

  it('is none of another tenant', async () => {
    const { ask, path, build } = await startGraph();
    await build();
    for (const [method, where, body] of [
      ['GET', '/graph', undefined],
      ['GET', '/graph/cost', undefined],
      ['POST', '/graph', {}],
      ['POST', '/graph/search', { question: 'Orion' }],
      ['POST', '/graph/merge', { names: ['a', 'b'] }],
      ['DELETE', '/knowledge_graph', undefined],
    ] as const) {
      expect(await ask(method, `${path}${where}`, body, OTHER), where).toMatchObject({ code: 102 });
    }
  });
});
