import { describe, expect, it } from 'vitest';
import { createGraphBuilds } from '../../../../src/ingestion/graph/run-builds.js';
import type { JsonObject } from '../../../../src/json.js';
import { buildRequestSchema } from '../../../../src/knowledge/graph/build/build-options.js';
import { linksOf } from '../../../../src/knowledge/graph/contribute.js';
import type { GraphLayer } from '../../../../src/knowledge/graph/facts.js';
import { GRAPH_FORMS, type GraphForm } from '../../../../src/knowledge/graph/given/graph-forms.js';
import { createRules } from '../../../../src/knowledge/graph/rules/extract-by-rules.js';
import { seededRandom } from '../../../../src/knowledge/graph/seeded-random.js';
import { textHash } from '../../../../src/records/graph-store.js';
import { newBase, TENANT } from '../../base/support/new-base.js';

const NEVER = new AbortController().signal;
const rules = createRules();

const TEXTS: Readonly<Record<string, string>> = {
  'Orion.md': 'Orion uses Kafka. Orion was written by Ada Lenz.',
  'Ada Lenz.md': 'Ada Lenz lives in Port Soller. She also wrote the Lyra Scheduler.',
  'Kafka.md': 'Kafka does not use Redis.',
};

/** A base with documents of one chunk each, whose links and rules are read at once. */
async function open(texts: Readonly<Record<string, string>> = TEXTS) {
  const kit = newBase({ graphs: 'here' });
  kit.start();
  const dataset = await kit.dataset();
  const chunks = new Map<string, string>();
  const { store } = kit.base.parts;
  const read = async (name: string, text: string): Promise<string> => {
    const document = await kit.ingest(dataset, name, text);
    const { items } = await kit.base.chunks.list(TENANT, { documentId: document.id, offset: 0, limit: 10 });
    for (const [at, chunk] of items.entries()) {
      chunks.set(name, chunk.id);
      const own = {
        links: linksOf({ text: chunk.text, title: name, isFirst: at === 0 }, rules),
        rules: rules(chunk.text),
      };
      await store.putContributions(
        TENANT,
        dataset,
        Object.entries(own).map(([layer, body]) => ({
          ...{ chunkId: chunk.id, documentId: document.id, layer, version: '1', textHash: textHash(chunk.text) },
          body: body as unknown as JsonObject,
        })),
      );
    }
    return document.id;
  };
  for (const [name, text] of Object.entries(texts)) await read(name, text);
  const { graphs } = kit.base;
  return {
    ...kit,
    dataset,
    chunks,
    graphs,
    store,
    give: (graph: object | string, form: GraphForm = 'json') =>
      graphs.give(TENANT, dataset, form, typeof graph === 'string' ? graph : JSON.stringify(graph)),
    export: async (form: GraphForm = 'json', layers?: readonly GraphLayer[]) =>
      (await graphs.ask(TENANT, dataset, { kind: 'export', form, layers })).text,
    find: async (name: string) => (await graphs.ask(TENANT, dataset, { kind: 'find', name })).entities,
  };
}

const OWN = {
  nodes: [
    { id: 'v', name: 'Vega', type: 'engine', aliases: ['the star'], description: 'Vega comes after Orion.' },
    { id: 'o', name: 'Orion' },
  ],
  edges: [{ source: 'v', target: 'o', relation: 'replaces', weight: 2 }],
};

describe('a graph that a user gives', () => {
  it('is found by its names, and leads to the passages of its neighbours', async () => {
    const { graphs, give, dataset, find } = await open();
    expect(await give(OWN)).toEqual({ nodes: 2, edges: 1, chunks: 0 });
    expect(await find('the star')).toMatchObject([{ name: 'Vega', type: 'engine', aliases: ['the star'] }]);
    const ask = (kind: 'local' | 'path' | 'rank' | 'global', question: string) =>
      graphs.search(TENANT, { kind, question, datasetIds: [dataset] }, NEVER);
    const local = await ask('local', 'What does Vega do?');
    expect(local.entities.map(({ name }) => name)).toEqual(['Vega']);
    expect(local.hits[0]).toMatchObject({ document: { name: 'Orion.md' }, why: { steps: [{ relation: 'replaces' }] } });
    const path = await ask('path', 'How are Vega and Ada Lenz connected?');
    expect(path.paths[0]?.[0]).toMatchObject({ from: 'Vega', to: 'Orion', relation: 'replaces' });
    expect(path.hits.map(({ document }) => document.name)).toContain('Orion.md');
    expect((await ask('rank', 'What is Vega?')).hits.map(({ document }) => document.name)).toContain('Orion.md');
    const part = await graphs.ask(TENANT, dataset, { kind: 'show', around: 'vega', depth: 1, limit: 10 });
    expect(part.nodes.map(({ name, isGiven }) => [name, isGiven])).toEqual([
      ['Vega', true],
      ['Orion', true],
    ]);
    expect(part.edges).toMatchObject([{ relation: 'replaces', weight: 2, isGiven: true }]);
  });

  it('is a graph by itself, without any document', async () => {
    const { give, graphs, dataset, find } = await open({});
    expect(await graphs.has(TENANT, dataset)).toBe(false);
    await give(OWN);
    expect(await graphs.has(TENANT, dataset)).toBe(true);
    expect(await find('Vega')).toHaveLength(1);
  });

  it('is replaced as a whole, and is gone when an empty one is given or the graph is cleared', async () => {
    const { give, find, graphs, dataset, export: whole, chunks } = await open();
    const before = await whole();
    const chunk = chunks.get('Kafka.md');
    await give({ nodes: [...OWN.nodes, { id: 'k', name: 'Kappa', chunks: [chunk] }], edges: OWN.edges });
    expect([await find('Vega'), await find('Kappa')]).toMatchObject([[{ mentions: 0 }], [{ mentions: 1 }]]);
    await give({ nodes: [{ id: 'a', name: 'Altair' }], edges: [] });
    expect([await find('Vega'), await find('Kappa')]).toEqual([[], []]);
    expect(await find('Altair')).toHaveLength(1);
    await give({ nodes: [], edges: [] });
    expect(await whole()).toBe(before);
    await give(OWN);
    expect(await graphs.clear(TENANT, dataset)).toBe(true);
    expect(await graphs.has(TENANT, dataset)).toBe(false);
  });

  it('leaves nothing of a version before it in the store', async () => {
    const { give, store, dataset, chunks } = await open();
    const graph = (name: string) => ({ nodes: [{ id: name, chunks: [chunks.get('Kafka.md')] }, { id: `${name} 2` }] });
    await give(graph('One'));
    await give(graph('Two'));
    const heads = await store.contributionHeads(TENANT, dataset, undefined, 100);
    expect(heads.filter(({ layer }) => layer.startsWith('given'))).toHaveLength(1);
    expect(await store.listNotes(TENANT, dataset, 'given-begun', undefined, 10)).toHaveLength(1);
  });

  it('goes with the chunks that it names, and stays where it names none', async () => {
    const { give, find, chunks, base, dataset, graphs } = await open();
    const chunk = chunks.get('Kafka.md');
    await give({
      nodes: [
        { id: 'k', name: 'Kappa', type: 'tool', chunks: [{ id: chunk, count: 3 }], titles: [chunk] },
        OWN.nodes[0],
      ],
      edges: [{ source: 'v', target: 'k', relation: 'uses', chunks: [chunk], description: 'Vega uses Kappa.' }],
    });
    expect(await find('Kappa')).toMatchObject([{ mentions: 3, type: 'tool', description: 'Vega uses Kappa.' }]);
    const query = { kind: 'local', question: 'What is Kappa?', datasetIds: [dataset] } as const;
    expect((await graphs.search(TENANT, query, NEVER)).hits[0]?.document.name).toBe('Kafka.md');
    const [document] = (await graphs.search(TENANT, query, NEVER)).hits.map(({ document: one }) => one.id);
    await base.documents.delete(TENANT, dataset, [document ?? '']);
    expect(await find('Kappa')).toEqual([]);
    expect(await find('Vega')).toHaveLength(1);
  });

  it('says that two of its names are two, and its types and names go before those of texts', async () => {
    const { give, find } = await open({ 'a.md': 'Then StreamChatPipeline uses KAFKA. We like KAFKA.' });
    await give({
      nodes: [
        { id: '1', name: 'SCP' },
        { id: '2', name: 'StreamChatPipeline' },
        { id: '3', name: 'kafka', type: 'bus' },
      ],
    });
    expect((await find('SCP')).map(({ name }) => name)).toEqual(['SCP']);
    expect((await find('StreamChatPipeline')).map(({ name }) => name)).toEqual(['StreamChatPipeline']);
    expect(await find('Kafka')).toMatchObject([{ name: 'kafka', type: 'bus', mentions: 2 }]);
  });

  it('is refused with the place of chunks that the dataset does not have', async () => {
    const { give, dataset: own, ...kit } = await open();
    const other = await kit.base.datasets.create(TENANT, { name: 'other' });
    const chunk = kit.chunks.get('Kafka.md');
    const nodes = [
      { id: 'a', chunks: [chunk] },
      { id: 'b', chunks: [chunk, 'nowhere'] },
    ];
    const edges = [{ source: 'a', target: 'b', chunks: ['gone'] }];
    await expect(give({ nodes, edges })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      message: expect.stringMatching(/nodes\[1\]: chunks\[1\]: .*"nowhere"[\s\S]*edges\[0\]: chunks\[0\]: .*"gone"/),
    });
    await expect(
      kit.graphs.give(TENANT, other.dataset.id, 'json', JSON.stringify({ nodes: nodes.slice(0, 1) })),
    ).rejects.toThrow('nodes[0]: chunks[0]');
    expect(own).not.toBe(other.dataset.id);
  });

  it('is refused while the graph is built, and survives what is built after it', async () => {
    const { base, give, dataset, find } = await open();
    await give(OWN);
    const builds = createGraphBuilds({ parts: base.parts });
    await builds.start(TENANT, dataset, buildRequestSchema.parse({}));
    await expect(give(OWN)).rejects.toMatchObject({ code: 'GRAPH_BUSY' });
    const ended = new Promise<void>((resolve) => {
      const running = builds.run().subscribe(({ progress }) => {
        if (progress.finishedAt === null) return;
        running.unsubscribe();
        resolve();
      });
    });
    await ended;
    expect(await find('Vega')).toHaveLength(1);
    expect(await give(OWN)).toMatchObject({ nodes: 2 });
  });
});

const NAMES = [
  'Redis',
  'Milvus',
  'Ed Wood',
  'Ed Wood (film)',
  'Orion Labs',
  'OrionLabs',
  'United Nations',
  'UN',
  'Stage 2',
  'Lyra',
  '《红楼梦》',
];
const VERBS = ['uses', 'supports', 'replaces', 'depends on', 'and'];

describe('what is exported and given again', () => {
  const seeds = Array.from({ length: 12 }, (_, at) => at + 1);

  it.each(seeds)('is the same graph, beside the other layers and without them (seed %i)', async (seed) => {
    const random = seededRandom(seed);
    const pick = (all: readonly string[]): string => all[Math.floor(random() * all.length)] as string;
    const texts = Object.fromEntries(
      Array.from({ length: 5 }, (_, at) => {
        const sentences = Array.from(
          { length: 1 + Math.floor(random() * 4) },
          () => `We know that ${pick(NAMES)} ${pick(VERBS)} ${pick(NAMES)}.`,
        );
        return [random() < 0.5 ? `${pick(NAMES)} ${at}.md` : `${at}.md`, sentences.join(random() < 0.5 ? ' ' : '\n\n')];
      }),
    );
    const { give, graphs, dataset, chunks, export: exported } = await open(texts);
    if (random() < 0.7) {
      const ids = [...chunks.values()];
      const nodes = ['UN', 'Vega', 'Lyra'].map((name, at) => ({
        ...{ id: `n${at}`, name, type: pick(['tool', 'concept']), aliases: at === 1 ? ['the star'] : [] },
        ...{ descriptions: [`About ${name}.`], chunks: ids.filter(() => random() < 0.3) },
      }));
      const edges = [{ source: 'n0', target: 'n1', relation: 'likes', weight: 0.3, chunks: ids.slice(0, 1) }];
      await give({ nodes, edges });
    }
    if (random() < 0.5) await graphs.decide(TENANT, dataset, 'same', ['Redis', 'Milvus']);
    const all = new Map<GraphForm, string>();
    for (const form of GRAPH_FORMS) all.set(form, await exported(form));
    for (const [form, text] of all) {
      await give(text, form);
      expect(await exported(), form).toBe(all.get('json'));
    }
    for (const [form, text] of all) {
      await give(text, form);
      expect(await exported('json', ['given']), form).toBe(all.get('json'));
    }
  });
});
