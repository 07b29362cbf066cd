import { describe, expect, it } from 'vitest';
import { createHeldGraphs } from '../../../../src/knowledge/graph/service/held-graphs.js';
import { openOwnDesk } from '../../../../src/knowledge/graph/service/own-desk.js';
import { type ContributionRecord, GRAPH_SHARDS, shardOf, textHash } from '../../../../src/records/graph-store.js';
import type { ChunkRecord, DocumentRecord } from '../../../../src/records/knowledge.js';
import type { KnowledgeStore } from '../../../../src/records/knowledge-store.js';
import { chunkRecord, datasetRecord, documentRecord } from '../../../stores/support/knowledge-records.js';
import { newTenant } from '../../../stores/support/records.js';

const LONG_MS = 600_000;

/** What every store of graphs does. */
export function describeGraphStore(open: () => Promise<KnowledgeStore>): void {
  const begin = async (chunkCount = 3) => {
    const store = await open();
    const tenant = newTenant();
    const dataset = datasetRecord();
    await store.insertDataset(tenant, dataset);
    const document = documentRecord(dataset.id);
    await store.insertDocuments(tenant, [document]);
    const chunks = Array.from({ length: chunkCount }, (_, at) => chunkRecord(document, at));
    await store.putChunks(tenant, document.id, 0, chunks);
    return { store, tenant, dataset: dataset.id, document, chunks };
  };

  const made = (document: DocumentRecord, { id, text }: ChunkRecord, layer = 'rules'): ContributionRecord => ({
    chunkId: id,
    documentId: document.id,
    layer,
    version: '1',
    textHash: textHash(text),
    body: { mentions: [{ name: `name of ${id} \u0001 "quoted"` }] },
  });

  describe('contributions of chunks', () => {
    it('are given back, by chunk and layer, in pages', async () => {
      const { store, tenant, dataset, document, chunks } = await begin();
      const all = chunks.flatMap((chunk) => ['links', 'rules'].map((layer) => made(document, chunk, layer)));
      await store.putContributions(tenant, dataset, all);
      const heads = all.map(({ body: _, ...head }) => head);
      heads.sort((a, b) => (`${a.chunkId} ${a.layer}` < `${b.chunkId} ${b.layer}` ? -1 : 1));
      expect(await store.contributionHeads(tenant, dataset, undefined, 100)).toEqual(heads);
      expect(await store.contributionHeads(tenant, dataset, heads[2], 2)).toEqual(heads.slice(3, 5));
      const read = await store.readContributions(tenant, dataset, [chunks[1]?.id ?? '']);
      expect(read).toHaveLength(2);
      expect(read).toEqual(expect.arrayContaining(all.filter(({ chunkId }) => chunkId === chunks[1]?.id)));
    });

    it('replace those of the same chunk and layer', async () => {
      const { store, tenant, dataset, document, chunks } = await begin(1);
      const [chunk] = chunks as [ChunkRecord];
      await store.putContributions(tenant, dataset, [made(document, chunk)]);
      await store.putContributions(tenant, dataset, [{ ...made(document, chunk), version: '2', body: {} }]);
      expect(await store.readContributions(tenant, dataset, [chunk.id])).toMatchObject([{ version: '2', body: {} }]);
    });

    it('are held anew once they were made of another text, without a search in between', async () => {
      const { store, tenant, dataset, document, chunks } = await begin(1);
      const [chunk] = chunks as [ChunkRecord];
      const desk = openOwnDesk();
      const held = createHeldGraphs({ store, desk });
      const namesOf = async (text: string, name: string) => {
        const mention = { name, type: 'concept', start: 0, end: name.length };
        const body = { mentions: [mention], relations: [] };
        await store.putContributions(tenant, dataset, [{ ...made(document, { ...chunk, text }), body }]);
        return (await held.ask(tenant, dataset, { kind: 'show', limit: 10 }))?.nodes.map((node) => node.name);
      };
      expect(await namesOf(chunk.text, 'Orion')).toEqual(['Orion']);
      await store.updateChunk(tenant, document.id, chunk.id, { text: 'Vega' });
      expect(await namesOf('Vega', 'Vega')).toEqual(['Vega']);
      await desk.close();
    });

    it('are deleted by layer, in their dataset alone', async () => {
      const { store, tenant, dataset, document, chunks } = await begin();
      const all = chunks.flatMap((chunk) => ['given:1', 'rules'].map((layer) => made(document, chunk, layer)));
      await store.putContributions(tenant, dataset, all);
      const before = await store.graphRevision(tenant, dataset);
      expect(await store.deleteContributions(newTenant(), dataset, 'given:1')).toBe(0);
      expect(await store.deleteContributions(tenant, datasetRecord().id, 'given:1')).toBe(0);
      expect(await store.graphRevision(tenant, dataset)).toBe(before);
      expect(await store.deleteContributions(tenant, dataset, 'given:1')).toBe(chunks.length);
      expect(await store.deleteContributions(tenant, dataset, 'given:1')).toBe(0);
      expect(await store.graphRevision(tenant, dataset)).toBeGreaterThan(before);
      const left = await store.contributionHeads(tenant, dataset, undefined, 100);
      expect(left.map(({ layer }) => layer)).toEqual(chunks.map(() => 'rules'));
    });

    it('are missing of chunks that have none of the layer and version', async () => {
      const { store, tenant, dataset, document, chunks } = await begin();
      const [first, second] = chunks as [ChunkRecord, ChunkRecord];
      await store.putContributions(tenant, dataset, [made(document, first), made(document, second, 'links')]);
      const look = (layer: string, version: string, after?: string, looks = 100) =>
        store.chunksWithoutContribution(tenant, dataset, { layer, version }, after, looks);
      const behindFirst = chunks.slice(1).map(({ id }) => id);
      expect((await look('rules', '1')).chunks.map(({ id }) => id)).toEqual(behindFirst);
      expect(await look('rules', '2')).toEqual({ chunks, next: undefined });
      expect((await look('rules', '2', first.id)).chunks.map(({ id }) => id)).toEqual(behindFirst);
      expect((await look('rules', '1', undefined, 1)).chunks).toEqual([]);
      const found: string[] = [];
      let after: string | undefined;
      for (let looked = 0; looked <= chunks.length; looked += 1) {
        const { chunks: some, next } = await look('rules', '1', after, 1);
        found.push(...some.map(({ id }) => id));
        if (next === undefined) break;
        after = next;
      }
      expect(found).toEqual(behindFirst);
    });

    it.each<[string, (given: Awaited<ReturnType<typeof begin>>) => Promise<unknown>]>([
      [
        'deleted',
        ({ store, tenant, document, chunks }) => store.deleteChunks(tenant, document.id, [chunks[0]?.id ?? '']),
      ],
      [
        'not available',
        ({ store, tenant, document, chunks }) =>
          store.updateChunk(tenant, document.id, chunks[0]?.id ?? '', { isAvailable: false }),
      ],
      [
        'changed',
        ({ store, tenant, document, chunks }) =>
          store.updateChunk(tenant, document.id, chunks[0]?.id ?? '', { text: 'other' }),
      ],
    ])('do not exist once their chunk is %s', async (_, change) => {
      const given = await begin();
      const { store, tenant, dataset, document, chunks } = given;
      await store.putContributions(
        tenant,
        dataset,
        chunks.map((chunk) => made(document, chunk)),
      );
      await change(given);
      const heads = await store.contributionHeads(tenant, dataset, undefined, 100);
      expect(heads.map(({ chunkId }) => chunkId)).toEqual(chunks.slice(1).map(({ id }) => id));
      expect(await store.readContributions(tenant, dataset, [chunks[0]?.id ?? ''])).toEqual([]);
    });

    it('come and go with their document being enabled, and go with its end', async () => {
      const { store, tenant, dataset, document, chunks } = await begin();
      await store.putContributions(
        tenant,
        dataset,
        chunks.map((chunk) => made(document, chunk)),
      );
      await store.updateDocument(tenant, document.id, { isEnabled: false });
      expect(await store.contributionHeads(tenant, dataset, undefined, 100)).toEqual([]);
      await store.updateDocument(tenant, document.id, { isEnabled: true });
      expect(await store.contributionHeads(tenant, dataset, undefined, 100)).toHaveLength(3);
      await store.discardDocuments(tenant, dataset, [document.id]);
      expect(await store.contributionHeads(tenant, dataset, undefined, 100)).toEqual([]);
    });

    it('are left out of chunks that are gone, and of another tenant', async () => {
      const { store, tenant, dataset, document, chunks } = await begin(1);
      const [chunk] = chunks as [ChunkRecord];
      await store.putContributions(tenant, dataset, [{ ...made(document, chunk), chunkId: 'gone' }]);
      await store.putContributions(newTenant(), dataset, [made(document, chunk)]);
      expect(await store.contributionHeads(tenant, dataset, undefined, 100)).toEqual([]);
      await store.putContributions(tenant, dataset, [made(document, chunk)]);
      expect(await store.contributionHeads(newTenant(), dataset, undefined, 100)).toEqual([]);
      expect(await store.readContributions(newTenant(), dataset, [chunk.id])).toEqual([]);
    });
  });

  describe('shards of contributions', () => {
    /** Two documents of different shards with two chunks each, all of which contribute. */
    const beginTwo = async () => {
      const store = await open();
      const tenant = newTenant();
      const dataset = datasetRecord();
      await store.insertDataset(tenant, dataset);
      const first = documentRecord(dataset.id);
      let second = documentRecord(dataset.id);
      while (shardOf(second.id) === shardOf(first.id)) second = documentRecord(dataset.id);
      await store.insertDocuments(tenant, [first, second]);
      const chunks = new Map<string, readonly ChunkRecord[]>();
      for (const document of [first, second]) {
        const own = [chunkRecord(document, 0), chunkRecord(document, 1)];
        chunks.set(document.id, own);
        await store.putChunks(tenant, document.id, 0, own);
        const contributions = own.flatMap((chunk) => ['links', 'rules'].map((layer) => made(document, chunk, layer)));
        await store.putContributions(tenant, dataset.id, contributions);
      }
      const [chunk] = chunks.get(first.id) as [ChunkRecord, ChunkRecord];
      await store.putContributions(tenant, dataset.id, [made(first, chunk, 'model')]);
      return { store, tenant, dataset: dataset.id, first, second, chunk };
    };
    type Two = Awaited<ReturnType<typeof beginTwo>>;
    const revisionsOf = async ({ store, tenant, dataset }: Two): Promise<readonly number[]> => {
      const known = await store.shardRevisions(tenant, dataset);
      return Array.from({ length: GRAPH_SHARDS }, (_, shard) => known?.get(shard) ?? 0);
    };
    const headsOf = async ({ store, tenant, dataset }: Two, shard: number, limit = 100) => {
      const heads = await store.shardHeads(tenant, dataset, shard, undefined, limit);
      while (heads.length > 0 && heads.length % limit === 0) {
        const more = await store.shardHeads(tenant, dataset, shard, heads.at(-1), limit);
        if (more.length === 0) return heads;
        (heads as unknown[]).push(...more);
      }
      return heads;
    };
    /** What the heads of a shard are to be. */
    const wanted = async ({ store, tenant, dataset }: Two, shard: number) => {
      const heads = await store.contributionHeads(tenant, dataset, undefined, 100);
      const own = heads.filter(({ documentId }) => shardOf(documentId) === shard);
      return own.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    };
    const keyOf = ({ documentId, chunkId, layer }: { documentId: string; chunkId: string; layer: string }): string =>
      `${documentId} ${chunkId} ${layer}`;

    it.each<[string, (two: Two) => Promise<unknown>, ('first' | 'second')[]]>([
      [
        'contributions that are put',
        ({ store, tenant, dataset, first, chunk }) => store.putContributions(tenant, dataset, [made(first, chunk)]),
        ['first'],
      ],
      [
        'contributions of chunks that are gone',
        ({ store, tenant, dataset, first, chunk }) =>
          store.putContributions(tenant, dataset, [{ ...made(first, chunk), chunkId: 'gone' }]),
        [],
      ],
      [
        'contributions that are put into another dataset',
        async ({ store, tenant, dataset, first, chunk }) => {
          const other = datasetRecord();
          await store.insertDataset(tenant, other);
          await store.putContributions(tenant, other.id, [{ ...made(first, chunk), version: '2' }]);
          const heads = await store.contributionHeads(tenant, dataset, undefined, 100);
          expect(new Set(heads.map(({ version }) => version))).toEqual(new Set(['1']));
        },
        [],
      ],
      [
        'a layer that is deleted',
        ({ store, tenant, dataset }) => store.deleteContributions(tenant, dataset, 'model'),
        ['first'],
      ],
      [
        'a layer of all documents that is deleted',
        ({ store, tenant, dataset }) => store.deleteContributions(tenant, dataset, 'links'),
        ['first', 'second'],
      ],
      [
        'a layer that is not there',
        ({ store, tenant, dataset }) => store.deleteContributions(tenant, dataset, 'given:1'),
        [],
      ],
      [
        'a graph that is cleared',
        ({ store, tenant, dataset }) => store.clearGraph(tenant, dataset),
        ['first', 'second'],
      ],
      [
        'a chunk that is deleted',
        ({ store, tenant, first, chunk }) => store.deleteChunks(tenant, first.id, [chunk.id]),
        ['first'],
      ],
      [
        'a chunk that is edited',
        ({ store, tenant, first, chunk }) => store.updateChunk(tenant, first.id, chunk.id, { text: 'other' }),
        ['first'],
      ],
      [
        'a chunk that is put with another text',
        ({ store, tenant, first, chunk }) => store.putChunks(tenant, first.id, 0, [{ ...chunk, text: 'other' }]),
        ['first'],
      ],
      [
        'a chunk that a user makes unavailable with all he writes',
        ({ store, tenant, first, chunk }) =>
          store.putChunks(tenant, first.id, 0, [{ ...chunk, isAvailable: false }], { isWritten: true }),
        ['first'],
      ],
      [
        'a chunk that is not available any more',
        ({ store, tenant, first, chunk }) => store.updateChunk(tenant, first.id, chunk.id, { isAvailable: false }),
        ['first'],
      ],
      [
        'keywords of a chunk',
        ({ store, tenant, first, chunk }) => store.updateChunk(tenant, first.id, chunk.id, { keywords: ['word'] }),
        [],
      ],
      [
        'chunks that are indexed',
        ({ store, tenant, first, chunk }) => store.markIndexed(tenant, first.id, [chunk]),
        [],
      ],
      [
        'a document that is disabled',
        ({ store, tenant, first }) => store.updateDocument(tenant, first.id, { isEnabled: false }),
        ['first'],
      ],
      [
        'a document that is renamed',
        ({ store, tenant, first }) => store.updateDocument(tenant, first.id, { name: 'renamed.txt' }),
        [],
      ],
      [
        'progress of a document',
        ({ store, tenant, first }) => store.updateDocument(tenant, first.id, { progress: 0.5 }),
        [],
      ],
      ['a document that waits to be parsed again', ({ store, tenant, first }) => store.enqueue(tenant, [first.id]), []],
      [
        'documents that are discarded',
        ({ store, tenant, dataset, first, second }) =>
          store.discardDocuments(tenant, dataset, [first.id, second.id, 'none']),
        ['first', 'second'],
      ],
      [
        'a document that is discarded',
        ({ store, tenant, dataset, first }) => store.discardDocuments(tenant, dataset, [first.id]),
        ['first'],
      ],
      [
        'notes',
        ({ store, tenant, dataset }) => store.putNotes(tenant, dataset, 'alias', [{ key: 'a', value: {} }]),
        [],
      ],
      [
        'rules of the dataset',
        ({ store, tenant, dataset }) =>
          store.updateDataset(tenant, dataset, { graphRules: { terms: [], patterns: [] } }),
        [],
      ],
    ])('are raised by %s', async (_, change, expected) => {
      const two = await beginTwo();
      const before = await revisionsOf(two);
      await change(two);
      const after = await revisionsOf(two);
      const raised = after.flatMap((revision, shard) => (revision > (before[shard] ?? 0) ? [shard] : []));
      const shards = expected.map((name) => shardOf(two[name].id));
      expect(raised).toEqual(shards.sort((a, b) => a - b));
      for (const { id } of [two.first, two.second])
        expect(await headsOf(two, shardOf(id))).toEqual(await wanted(two, shardOf(id)));
    });

    it('are raised once more when a document is enabled again, and not by what is left of a discarded one', async () => {
      const two = await beginTwo();
      const { store, tenant, dataset, first, chunk } = two;
      const shard = shardOf(first.id);
      await store.updateDocument(tenant, first.id, { isEnabled: false });
      const disabled = (await revisionsOf(two))[shard] ?? 0;
      await store.updateDocument(tenant, first.id, { isEnabled: true });
      const enabled = (await revisionsOf(two))[shard] ?? 0;
      expect(enabled).toBeGreaterThan(disabled);
      expect(await headsOf(two, shard)).toHaveLength(5);
      await store.discardDocuments(tenant, dataset, [first.id]);
      const discarded = await revisionsOf(two);
      await store.eraseChunks(tenant, first.id, [chunk.id]);
      await store.erase(tenant, dataset, first.id);
      expect(await revisionsOf(two)).toEqual(discarded);
    });

    it('have heads that are read in pages, and none of another dataset, tenant or shard', async () => {
      const two = await beginTwo();
      const { store, tenant, dataset, first, second } = two;
      const shard = shardOf(first.id);
      const heads = await wanted(two, shard);
      expect(heads).toHaveLength(5);
      for (const limit of [1, 2, 5]) expect(await headsOf(two, shard, limit)).toEqual(heads);
      expect(await store.shardHeads(newTenant(), dataset, shard, undefined, 10)).toEqual([]);
      expect(await store.shardHeads(tenant, datasetRecord().id, shard, undefined, 10)).toEqual([]);
      const others = Array.from({ length: GRAPH_SHARDS }, (_, at) => at).filter(
        (at) => at !== shard && at !== shardOf(second.id),
      );
      for (const other of others) expect(await store.shardHeads(tenant, dataset, other, undefined, 10)).toEqual([]);
    });

    it('are not there without a dataset', async () => {
      const { store, tenant, dataset } = await beginTwo();
      expect((await store.shardRevisions(tenant, dataset))?.size).toBe(2);
      expect(await store.shardRevisions(newTenant(), dataset)).toBeUndefined();
      await store.discardDataset(tenant, dataset);
      expect(await store.shardRevisions(tenant, dataset)).toBeUndefined();
    });
  });

  describe('notes of a graph', () => {
    it('are put, listed in the order of keys, and deleted', async () => {
      const { store, tenant, dataset } = await begin();
      const notes = ['b', 'a', 'Z'].map((key) => ({ key, value: { of: key } }));
      await store.putNotes(tenant, dataset, 'report', notes);
      await store.putNotes(tenant, dataset, 'report', [{ key: 'a', value: { of: 'new' } }]);
      const listed = await store.listNotes(tenant, dataset, 'report', undefined, 10);
      expect(listed).toEqual([
        { key: 'Z', value: { of: 'Z' } },
        { key: 'a', value: { of: 'new' } },
        { key: 'b', value: { of: 'b' } },
      ]);
      expect(await store.listNotes(tenant, dataset, 'report', 'Z', 1)).toEqual(listed.slice(1, 2));
      expect(await store.listNotes(tenant, dataset, 'decision', undefined, 10)).toEqual([]);
      expect(await store.listNotes(newTenant(), dataset, 'report', undefined, 10)).toEqual([]);
      expect(await store.deleteNotes(tenant, dataset, 'report', ['a', 'none'])).toBe(1);
      expect(await store.deleteNotes(tenant, dataset, 'report')).toBe(2);
    });

    it('raise the revision, as contributions do', async () => {
      const { store, tenant, dataset, document, chunks } = await begin();
      expect(await store.graphRevision(tenant, dataset)).toBe(0);
      await store.putNotes(tenant, dataset, 'decision', [{ key: 'a', value: {} }]);
      const first = await store.graphRevision(tenant, dataset);
      await store.putContributions(
        tenant,
        dataset,
        chunks.map((chunk) => made(document, chunk)),
      );
      const second = await store.graphRevision(tenant, dataset);
      await store.deleteNotes(tenant, dataset, 'decision');
      const third = await store.graphRevision(tenant, dataset);
      await store.updateDataset(tenant, dataset, { graphRules: { terms: [], patterns: [] } });
      const fourth = await store.graphRevision(tenant, dataset);
      await store.clearGraph(tenant, dataset);
      const fifth = await store.graphRevision(tenant, dataset);
      const revisions = [0, first, second, third, fourth, fifth];
      expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
    });

    it('go with everything else when a graph is cleared', async () => {
      const { store, tenant, dataset, document, chunks } = await begin();
      expect(await store.clearGraph(tenant, dataset)).toBe(false);
      await store.putContributions(
        tenant,
        dataset,
        chunks.map((chunk) => made(document, chunk)),
      );
      await store.putNotes(tenant, dataset, 'report', [{ key: 'a', value: {} }]);
      await store.startBuild(tenant, dataset, { id: '1', state: 'RUNNING', value: {} });
      expect(await store.clearGraph(newTenant(), dataset)).toBe(false);
      expect(await store.clearGraph(tenant, dataset)).toBe(true);
      expect(await store.contributionHeads(tenant, dataset, undefined, 10)).toEqual([]);
      expect(await store.listNotes(tenant, dataset, 'report', undefined, 10)).toEqual([]);
      expect(await store.findBuild(tenant, dataset)).toBeUndefined();
    });
  });

  describe('builds of graphs', () => {
    const build = (id: string) => ({ id, state: 'RUNNING', value: { layers: ['rules'] } }) as const;
    /** The claim of one dataset; builds of other tests are given back. */
    const claim = async (store: KnowledgeStore, owner: string, dataset: string) => {
      const others: { tenant: string; datasetId: string }[] = [];
      for (;;) {
        const claimed = await store.claimBuild(owner, LONG_MS);
        if (claimed === undefined || claimed.datasetId === dataset) {
          for (const one of others) await store.releaseBuild(owner, one.tenant, one.datasetId);
          return claimed;
        }
        others.push(claimed);
      }
    };

    it('run one at a time in a dataset', async () => {
      const { store, tenant, dataset } = await begin();
      expect(await store.startBuild(tenant, dataset, build('1'))).toBe(true);
      expect(await store.startBuild(tenant, dataset, build('2'))).toBe(false);
      expect(await store.findBuild(tenant, dataset)).toEqual(build('1'));
      expect(await store.stopBuild(tenant, dataset)).toBe(true);
      expect(await store.stopBuild(tenant, dataset)).toBe(false);
      expect(await store.findBuild(tenant, dataset)).toMatchObject({ id: '1', state: 'CANCEL' });
      expect(await store.startBuild(tenant, dataset, build('2'))).toBe(true);
    });

    it('belong to one process, which says how far it is', async () => {
      const { store, tenant, dataset } = await begin();
      await store.startBuild(tenant, dataset, build('1'));
      expect(await claim(store, 'us', dataset)).toEqual({ tenant, datasetId: dataset, build: build('1'), begun: 1 });
      expect(await claim(store, 'others', dataset)).toBeUndefined();
      const further = { ...build('1'), value: { done: 3 } };
      expect(await store.saveBuild('others', tenant, dataset, further, LONG_MS)).toBe(false);
      expect(await store.saveBuild('us', tenant, dataset, further, LONG_MS)).toBe(true);
      expect(await store.findBuild(tenant, dataset)).toEqual(further);
      expect(await store.saveBuild('us', tenant, dataset, { ...further, state: 'DONE' }, LONG_MS)).toBe(true);
      expect(await store.saveBuild('us', tenant, dataset, further, LONG_MS)).toBe(false);
      expect(await claim(store, 'others', dataset)).toBeUndefined();
    });

    it('are given to another process when they are given back, or their time is over', async () => {
      const { store, tenant, dataset } = await begin();
      await store.startBuild(tenant, dataset, build('1'));
      await claim(store, 'us', dataset);
      await store.releaseBuild('us', tenant, dataset);
      expect(await claim(store, 'others', dataset)).toMatchObject({ begun: 1 });
      expect(await store.saveBuild('others', tenant, dataset, build('1'), 0)).toBe(true);
      expect(await claim(store, 'third', dataset)).toMatchObject({ begun: 2 });
      await store.stopBuild(tenant, dataset);
      expect(await store.saveBuild('third', tenant, dataset, build('1'), LONG_MS)).toBe(false);
    });
  });
}
