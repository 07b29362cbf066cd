import { describe, expect, it } from 'vitest';
import type { DocumentRecord } from '../../../../src/records/knowledge.js';
import type { KnowledgeStore, VectorGap } from '../../../../src/records/knowledge-store.js';
import { chunkRecord, datasetRecord, documentRecord } from '../../../stores/support/knowledge-records.js';
import { newTenant } from '../../../stores/support/records.js';

const ALL = { offset: 0, limit: 100, orderBy: 'createdAt', descending: false } as const;
const LONG_MS = 600_000;
const PAGE_STARTS = [
  [1, 0],
  [2, 3],
] as const;

/** What every store of knowledge bases does. */
export function describeKnowledgeStore(open: () => Promise<KnowledgeStore>): void {
  const begin = async () => {
    const store = await open();
    const tenant = newTenant();
    const dataset = datasetRecord();
    await store.insertDataset(tenant, dataset);
    const add = async (change: Partial<DocumentRecord> = {}): Promise<DocumentRecord> => {
      const document = documentRecord(dataset.id, change);
      await store.insertDocuments(tenant, [document]);
      return document;
    };
    return { store, tenant, dataset, add };
  };

  describe('a store of datasets', () => {
    it('gives back what it was given, with counts', async () => {
      const { store, tenant, dataset } = await begin();
      const counts = { documents: 0, chunks: 0, tokens: 0 };
      expect(await store.findDataset(tenant, dataset.id)).toEqual(dataset);
      expect(await store.findCountedDataset(tenant, dataset.id)).toEqual({ dataset, counts });
      expect(await store.findCountedDataset(tenant, 'another')).toBeUndefined();
      expect(await store.findDataset(tenant, 'another')).toBeUndefined();
    });

    it('shows nothing of it to another tenant', async () => {
      const { store, tenant, dataset, add } = await begin();
      const document = await add();
      await store.putChunks(tenant, document.id, 0, [chunkRecord(document, 0)]);
      const other = newTenant();
      expect(await store.findDataset(other, dataset.id)).toBeUndefined();
      expect(await store.updateDataset(other, dataset.id, { name: 'taken over' })).toBeUndefined();
      expect((await store.listDatasets(other, ALL)).total).toBe(0);
      expect(await store.discardDataset(other, dataset.id)).toBe(false);
      expect(await store.findDocument(other, document.id)).toBeUndefined();
      expect((await store.listDocuments(other, { ...ALL, datasetIds: [dataset.id] })).total).toBe(0);
      expect(await store.updateDocument(other, document.id, { name: 'x' })).toBeUndefined();
      expect(await store.discardDocuments(other, dataset.id, [document.id])).toEqual([]);
      expect(await store.enqueue(other, [document.id])).toEqual([]);
      expect(await store.tallyDocuments(other, [dataset.id], 'run')).toEqual([]);
      expect(await store.findChunks(other, [`${document.id}-0`])).toEqual([]);
      expect((await store.listChunks(other, { documentId: document.id, offset: 0, limit: 10 })).total).toBe(0);
      expect(await store.chunksAfter(other, document.id, undefined, 10)).toEqual([]);
      expect(await store.updateChunk(other, document.id, `${document.id}-0`, { text: 'x' })).toBeUndefined();
      expect(await store.deleteChunks(other, document.id, [`${document.id}-0`])).toEqual([]);
      const foreign = documentRecord(dataset.id);
      await expect(store.insertDocuments(other, [foreign])).rejects.toMatchObject({ code: 'NOT_FOUND' });
    });

    it('lets two tenants have datasets and documents of one id and name', async () => {
      const { store, dataset } = await begin();
      const other = newTenant();
      await store.insertDataset(other, { ...dataset, description: 'ours' });
      expect((await store.findDataset(other, dataset.id))?.description).toBe('ours');
    });

    it('refuses a name that is taken, without regard to case, also in a change', async () => {
      const { store, tenant, dataset } = await begin();
      await store.updateDataset(tenant, dataset.id, { name: 'Étude' });
      const same = datasetRecord({ name: 'étude' });
      await expect(store.insertDataset(tenant, same)).rejects.toMatchObject({ code: 'CONFLICT' });
      const other = datasetRecord({ name: 'other' });
      await store.insertDataset(tenant, other);
      await expect(store.updateDataset(tenant, other.id, { name: 'ÉTUDE' })).rejects.toMatchObject({
        code: 'CONFLICT',
      });
      expect((await store.findDataset(tenant, other.id))?.name).toBe('other');
      await expect(store.insertDataset(tenant, { ...same, id: dataset.id, name: 'new' })).rejects.toMatchObject({
        code: 'CONFLICT',
      });
    });

    it('changes what a change names', async () => {
      const { store, tenant, dataset } = await begin();
      const changed = { ...dataset, description: 'about cats', parserConfig: { delimiter: '\n' } };
      const change = { description: 'about cats', parserConfig: { delimiter: '\n' } };
      expect(await store.updateDataset(tenant, dataset.id, change)).toEqual(changed);
      expect(await store.findDataset(tenant, dataset.id)).toEqual(changed);
    });

    it('lists by filters, in an order, by pages', async () => {
      const store = await open();
      const tenant = newTenant();
      const made = ['Birds', 'apes', 'Apples', 'Cats'].map((name, at) =>
        datasetRecord({ name, createdAt: at, updatedAt: 10 - at, source: at === 3 ? 'folder:cats' : null }),
      );
      for (const one of made) await store.insertDataset(tenant, one);
      const names = async (query: Partial<Parameters<KnowledgeStore['listDatasets']>[1]>) => {
        const { items, total } = await store.listDatasets(tenant, { ...ALL, ...query });
        return [items.map(({ dataset }) => dataset.name).join(' '), total];
      };
      expect(await names({})).toEqual(['Birds apes Apples Cats', 4]);
      expect(await names({ descending: true, limit: 2 })).toEqual(['Cats Apples', 4]);
      expect(await names({ orderBy: 'updatedAt', offset: 3 })).toEqual(['Birds', 4]);
      expect(await names({ orderBy: 'name' })).toEqual(['Apples Birds Cats apes', 4]);
      expect(await names({ name: 'APES' })).toEqual(['apes', 1]);
      expect(await names({ keywords: 'AP' })).toEqual(['apes Apples', 2]);
      expect(await names({ source: 'folder:cats' })).toEqual(['Cats', 1]);
      expect(await names({ ids: [made[1]?.id as string, 'none'] })).toEqual(['apes', 1]);
    });

    it('finds nothing by ids that no text of a database can be', async () => {
      const { store, tenant, dataset, add } = await begin();
      const { id } = await add();
      const odd = ['a\u0000b', '\ud800'];
      expect((await store.listDatasets(tenant, { ...ALL, ids: [...odd, dataset.id] })).total).toBe(1);
      expect((await store.listDocuments(tenant, { ...ALL, datasetIds: [dataset.id], ids: odd })).total).toBe(0);
      expect(await store.findChunks(tenant, odd)).toEqual([]);
      expect(await store.discardDocuments(tenant, dataset.id, [...odd, id])).toEqual([id]);
    });

    it('counts documents, chunks and tokens', async () => {
      const { store, tenant, dataset, add } = await begin();
      const [first, second] = [await add(), await add()];
      await store.putChunks(tenant, first.id, 0, [chunkRecord(first, 0), chunkRecord(first, 1, { tokens: 5 })]);
      await store.putChunks(tenant, second.id, 0, [chunkRecord(second, 0)]);
      const counts = { documents: 2, chunks: 3, tokens: 9 };
      expect((await store.findCountedDataset(tenant, dataset.id))?.counts).toEqual(counts);
      expect((await store.listDatasets(tenant, ALL)).items[0]?.counts).toEqual(counts);
    });
  });

  describe('a store of documents', () => {
    it('gives back what it was given', async () => {
      const { store, tenant, add } = await begin();
      const document = await add({ metadata: { author: 'Ada', tags: ['a', 'b'] }, characters: 12, sha256: 'abc' });
      expect(await store.findDocument(tenant, document.id)).toEqual(document);
    });

    it('inserts all or none, and no two of a name in a dataset', async () => {
      const { store, tenant, dataset, add } = await begin();
      await add({ name: 'A.txt' });
      const [free, taken] = [documentRecord(dataset.id), documentRecord(dataset.id, { name: 'a.TXT' })];
      await expect(store.insertDocuments(tenant, [free, taken])).rejects.toMatchObject({ code: 'CONFLICT' });
      expect(await store.findDocument(tenant, free.id)).toBeUndefined();
      const twins = ['x.txt', 'X.txt'].map((name) => documentRecord(dataset.id, { name }));
      await expect(store.insertDocuments(tenant, twins)).rejects.toMatchObject({ code: 'CONFLICT' });
      expect((await store.listDocuments(tenant, ALL)).total).toBe(1);
      const other = datasetRecord();
      await store.insertDataset(tenant, other);
      await store.insertDocuments(tenant, [documentRecord(other.id, { name: 'A.txt' })]);
    });

    it('lists by filters, in an order, by pages', async () => {
      const { store, tenant, dataset, add } = await begin();
      await add({ name: 'One.PDF', suffix: 'pdf', type: 'pdf', createdAt: 1, size: 30, run: 'DONE', sha256: 's1' });
      await add({ name: 'two.txt', createdAt: 2, size: 20, isEnabled: false });
      await add({ name: 'three.txt', createdAt: 3, size: 10, run: 'FAIL' });
      const names = async (query: Partial<Parameters<KnowledgeStore['listDocuments']>[1]>) => {
        const { items, total } = await store.listDocuments(tenant, { ...ALL, datasetIds: [dataset.id], ...query });
        return [items.map(({ name }) => name).join(' '), total];
      };
      expect(await names({})).toEqual(['One.PDF two.txt three.txt', 3]);
      expect(await names({ orderBy: 'size', limit: 1 })).toEqual(['three.txt', 3]);
      expect(await names({ descending: true, offset: 1 })).toEqual(['two.txt One.PDF', 3]);
      expect(await names({ keywords: 'TWO' })).toEqual(['two.txt', 1]);
      expect(await names({ name: 'one.pdf' })).toEqual(['One.PDF', 1]);
      expect(await names({ runs: ['DONE', 'FAIL'] })).toEqual(['One.PDF three.txt', 2]);
      expect(await names({ suffixes: ['pdf'], types: ['pdf'] })).toEqual(['One.PDF', 1]);
      expect(await names({ sha256: 's1' })).toEqual(['One.PDF', 1]);
      expect(await names({ isEnabled: false })).toEqual(['two.txt', 1]);
      expect(await names({ createdFrom: 2, createdTo: 2 })).toEqual(['two.txt', 1]);
      expect(await names({ datasetIds: ['another'] })).toEqual(['', 0]);
    });

    it('counts run states, endings and types by dataset', async () => {
      const { store, tenant, dataset, add } = await begin();
      await add({ run: 'DONE' });
      await add({ run: 'DONE', suffix: 'pdf' });
      await add();
      expect(await store.tallyDocuments(tenant, [dataset.id], 'run')).toEqual([
        { datasetId: dataset.id, value: 'DONE', count: 2 },
        { datasetId: dataset.id, value: 'UNSTART', count: 1 },
      ]);
      expect(await store.tallyDocuments(tenant, [dataset.id], 'suffix')).toMatchObject([
        { value: 'txt', count: 2 },
        { value: 'pdf', count: 1 },
      ]);
      expect(await store.tallyDocuments(tenant, [], 'type')).toEqual([]);
    });

    it('changes what a change names, and nothing for an attempt that is over', async () => {
      const { store, tenant, add } = await begin();
      const document = await add();
      const change = { name: 'b.md', metadata: { a: 1 }, progress: 0.5, progressMsg: 'half', durationMs: 3 };
      expect(await store.updateDocument(tenant, document.id, change, 0)).toEqual({ ...document, ...change });
      expect(await store.findDocument(tenant, document.id)).toEqual({ ...document, ...change });
      expect(await store.updateDocument(tenant, document.id, { progress: 1 }, 7)).toBeUndefined();
      expect((await store.findDocument(tenant, document.id))?.progress).toBe(0.5);
      const other = await add();
      await expect(store.updateDocument(tenant, other.id, { name: 'B.MD' })).rejects.toMatchObject({
        code: 'CONFLICT',
      });
    });

    it('gives the name of a discarded document free', async () => {
      const { store, tenant, dataset, add } = await begin();
      const document = await add({ name: 'a.txt' });
      expect(await store.discardDocuments(tenant, dataset.id, [document.id, 'none'])).toEqual([document.id]);
      expect(await store.findDocument(tenant, document.id)).toBeUndefined();
      expect((await store.findCountedDataset(tenant, dataset.id))?.counts.documents).toBe(0);
      expect(await store.discardDocuments(tenant, dataset.id, [document.id])).toEqual([]);
      await add({ name: 'a.txt' });
    });
  });

  describe('the line of documents that wait to be parsed', () => {
    it('has each document once, with a new attempt', async () => {
      const { store, tenant, dataset, add } = await begin();
      const [first, second] = [await add(), await add({ progress: -1, run: 'FAIL', progressMsg: 'broken' })];
      const queued = await store.enqueue(tenant, [second.id, first.id, 'none']);
      expect(queued.map(({ id, run, attempt, progressMsg }) => [id, run, attempt, progressMsg])).toEqual([
        [second.id, 'RUNNING', 1, ''],
        [first.id, 'RUNNING', 1, ''],
      ]);
      expect(await store.enqueue(tenant, [first.id])).toEqual([]);
      const [waiting] = (await store.waiting(1_000)).filter((one) => one.tenant === tenant);
      expect(waiting).toEqual({ tenant, datasetId: dataset.id, waiting: 2, active: 0 });
    });

    it('gives a document to one process alone, the oldest first, until its claim is over', async () => {
      const { store, tenant, dataset, add } = await begin();
      const [first, second] = [await add(), await add()];
      await store.enqueue(tenant, [first.id]);
      await store.enqueue(tenant, [second.id]);
      const claim = (owner: string, ttlMs = LONG_MS) => store.claim(owner, tenant, dataset.id, ttlMs);
      expect(await claim('a', 0)).toMatchObject({ document: { id: first.id, attempt: 1 }, begun: 1 });
      // That of a is over at once.
      expect(await claim('b')).toMatchObject({ document: { id: first.id }, begun: 2 });
      expect(await claim('c')).toMatchObject({ document: { id: second.id }, begun: 1 });
      expect(await claim('d')).toBeUndefined();
      expect((await store.waiting(1_000)).filter((one) => one.tenant === tenant)).toEqual([]);
      expect(await store.renew('b', tenant, first.id, 1, LONG_MS)).toBe(true);
      expect(await store.renew('a', tenant, first.id, 1, LONG_MS)).toBe(false);
      await store.release('a', tenant, first.id);
      expect(await claim('d')).toBeUndefined();
      await store.release('b', tenant, first.id);
      expect(await claim('d')).toMatchObject({ document: { id: first.id }, begun: 2 });
    });

    it('gives one document to one of many that ask at once', async () => {
      const { store, tenant, dataset, add } = await begin();
      await store.enqueue(tenant, [(await add()).id]);
      const claims = await Promise.all(
        ['a', 'b', 'c', 'd'].map((owner) => store.claim(owner, tenant, dataset.id, LONG_MS)),
      );
      expect(claims.filter((claim) => claim !== undefined)).toHaveLength(1);
    });

    it('counts how often a document was begun since a step was finished', async () => {
      const { store, tenant, dataset, add } = await begin();
      const { id } = await add();
      await store.enqueue(tenant, [id]);
      const begun = async () => (await store.claim('a', tenant, dataset.id, 0))?.begun;
      expect([await begun(), await begun()]).toEqual([1, 2]);
      await store.saveStep(tenant, id, 1, { name: 'parse', output: null, startedAt: 1, finishedAt: 2 });
      expect(await begun()).toBe(2);
    });

    it('takes a stopped document from its process', async () => {
      const { store, tenant, dataset, add } = await begin();
      const document = await add();
      await store.enqueue(tenant, [document.id]);
      await store.claim('a', tenant, dataset.id, LONG_MS);
      expect(await store.cancel(tenant, [document.id, 'none'])).toMatchObject([{ id: document.id, run: 'CANCEL' }]);
      expect(await store.cancel(tenant, [document.id])).toEqual([]);
      expect(await store.renew('a', tenant, document.id, 1, LONG_MS)).toBe(false);
      expect(await store.updateDocument(tenant, document.id, { progress: 0.7 }, 1)).toBeUndefined();
      const late = store.putChunks(tenant, document.id, 1, [chunkRecord(document, 0)]);
      await expect(late).rejects.toMatchObject({ code: 'CONFLICT' });
      expect(await store.claim('b', tenant, dataset.id, LONG_MS)).toBeUndefined();
    });

    it('stores finished steps of an attempt, each once, and drops them with it', async () => {
      const { store, tenant, dataset, add } = await begin();
      const { id } = await add();
      await store.enqueue(tenant, [id]);
      const step = (name: string, output: number) => ({ name, output, startedAt: 1, finishedAt: 2 });
      expect(await store.saveStep(tenant, id, 1, step('load', 1))).toBe(true);
      expect(await store.saveStep(tenant, id, 1, step('parse', 2))).toBe(true);
      expect(await store.saveStep(tenant, id, 1, step('parse', 3))).toBe(true);
      expect(await store.saveStep(tenant, id, 9, step('parse', 4))).toBe(false);
      expect(await store.saveStep(newTenant(), id, 1, step('parse', 5))).toBe(false);
      expect(await store.steps(tenant, id, 1)).toEqual([step('load', 1), step('parse', 3)]);
      await store.cancel(tenant, [id]);
      await store.enqueue(tenant, [id]);
      expect(await store.steps(tenant, id, 3)).toEqual([]);
      await store.discardDataset(tenant, dataset.id);
      expect(await store.saveStep(tenant, id, 3, step('load', 1))).toBe(false);
    });
  });

  describe('a store of chunks', () => {
    it('gives back what it was given, in the order of the document, page by page', async () => {
      const { store, tenant, add } = await begin();
      const document = await add();
      const chunks = Array.from({ length: 7 }, (_, index) =>
        chunkRecord(document, index, {
          ...{ headings: ['H'], positions: [[1, 2, 3, 4, 5]], page: 1, keywords: ['k'] },
          ...(index === 1 && { pageStarts: PAGE_STARTS }),
          ...(index === 2 && {
            parent: { first: 'f', text: 'whole', start: 0, end: 5, tokens: 1, positions: [], pageStarts: PAGE_STARTS },
          }),
        }),
      );
      await store.putChunks(tenant, document.id, 0, chunks.slice(4));
      await store.putChunks(tenant, document.id, 0, chunks.slice(0, 4));
      const { items, total } = await store.listChunks(tenant, { documentId: document.id, offset: 1, limit: 3 });
      expect([items, total]).toEqual([chunks.slice(1, 4), 7]);
      const ids = chunks.slice(0, 2).map(({ id }) => id);
      expect((await store.findChunks(tenant, [...ids, 'none'])).map(({ id }) => id).sort()).toEqual(ids);
      expect(await store.chunksAfter(tenant, document.id, undefined, 2)).toEqual(chunks.slice(0, 2));
      expect(await store.chunksAfter(tenant, document.id, chunks[4], 100)).toEqual(chunks.slice(5));
      expect(await store.findDocument(tenant, document.id)).toMatchObject({ chunkCount: 7, tokenCount: 14 });
    });

    it('lists chunks up to so many bytes of their texts, and says how many there are', async () => {
      const { store, tenant, add } = await begin();
      const document = await add();
      const texts = ['abcd', '苹果', 'é', 'x'.repeat(100), 'y'];
      await store.putChunks(
        tenant,
        document.id,
        0,
        texts.map((text, index) => chunkRecord(document, index, { text })),
      );
      const found = async (maxBytes: number, page: object = {}) => {
        const query = { documentId: document.id, offset: 0, limit: 10, maxBytes, ...page };
        const { items, total } = await store.listChunks(tenant, query);
        return [items.map(({ index }) => index), total];
      };
      expect(await found(12)).toEqual([[0, 1, 2], 5]);
      expect(await found(11)).toEqual([[0, 1], 5]);
      expect(await found(3)).toEqual([[], 5]);
      expect(await found(8, { offset: 1, limit: 2 })).toEqual([[1, 2], 5]);
      expect(await found(5, { offset: 4 })).toEqual([[4], 5]);
      expect(await found(5, { offset: 9 })).toEqual([[], 5]);
      expect(await found(1_000)).toEqual([[0, 1, 2, 3, 4], 5]);
    });

    it('takes texts with half a character, which it may replace', async () => {
      const { store, tenant, add } = await begin();
      const document = await add();
      await store.putChunks(tenant, document.id, 0, [chunkRecord(document, 0, { text: 'a\ud800b', tags: ['\ud800'] })]);
      const [chunk] = await store.findChunks(tenant, [`${document.id}-0`]);
      expect(chunk?.text).toMatch(/^a[\ud800\ufffd]b$/);
    });

    it('finds chunks by a part of their text and by availability', async () => {
      const { store, tenant, add } = await begin();
      const document = await add();
      await store.putChunks(tenant, document.id, 0, [
        chunkRecord(document, 0, { text: 'Red Apples' }),
        chunkRecord(document, 1, { text: '100% 苹果', isAvailable: false }),
      ]);
      const found = async (query: object) => {
        const page = await store.listChunks(tenant, { documentId: document.id, offset: 0, limit: 10, ...query });
        return [page.items.map(({ index }) => index), page.total];
      };
      expect(await found({ keywords: 'aPPLE' })).toEqual([[0], 1]);
      expect(await found({ keywords: '% 苹' })).toEqual([[1], 1]);
      expect(await found({ keywords: '_' })).toEqual([[], 0]);
      expect(await found({ isAvailable: true })).toEqual([[0], 1]);
      expect(await found({ ids: [`${document.id}-1`] })).toEqual([[1], 1]);
    });

    it('keeps what users set of a chunk that is found again, and marks as not indexed only what has changed', async () => {
      const { store, tenant, add } = await begin();
      const document = await add();
      const chunks = [0, 1, 2].map((index) => chunkRecord(document, index));
      await store.putChunks(tenant, document.id, 0, chunks);
      await store.updateChunk(tenant, document.id, chunks[0]?.id as string, { keywords: ['mine'], isAvailable: false });
      await store.markIndexed(tenant, document.id, chunks);
      expect(await store.chunksAfter(tenant, document.id, undefined, 10, false)).toEqual([]);
      await store.enqueue(tenant, [document.id]);
      const again = [
        chunkRecord(document, 5, { id: chunks[0]?.id as string, text: 'Text 0', keywords: ['new'] }),
        chunkRecord(document, 1, { headings: ['Another'] }),
      ];
      await store.putChunks(tenant, document.id, 1, again);
      expect(await store.findChunks(tenant, [chunks[0]?.id as string])).toMatchObject([
        { index: 5, keywords: ['mine'], isAvailable: false },
      ]);
      const changed = await store.chunksAfter(tenant, document.id, undefined, 10, false);
      expect(changed.map(({ id }) => id)).toEqual([chunks[1]?.id]);
      expect(await store.staleChunks(tenant, document.id, 1, 10)).toEqual([chunks[2]?.id]);
      expect(await store.deleteChunks(tenant, document.id, [chunks[2]?.id as string, 'none'])).toEqual([chunks[2]?.id]);
      expect((await store.findDocument(tenant, document.id))?.chunkCount).toBe(2);
    });

    it('replaces a chunk that a user writes as a whole', async () => {
      const { store, tenant, add } = await begin();
      const document = await add();
      await store.putChunks(tenant, document.id, 0, [chunkRecord(document, 0, { keywords: ['old'] })]);
      const written = chunkRecord(document, 0, { keywords: ['new'], tokens: 9 });
      await store.putChunks(tenant, document.id, 0, [written], { isWritten: true });
      expect(await store.findChunks(tenant, [written.id])).toEqual([written]);
      expect((await store.findDocument(tenant, document.id))?.tokenCount).toBe(9);
    });

    it('changes a chunk, and leaves it to be indexed unless only its availability changed', async () => {
      const { store, tenant, add } = await begin();
      const document = await add();
      const chunk = chunkRecord(document, 0);
      await store.putChunks(tenant, document.id, 0, [chunk]);
      await store.markIndexed(tenant, document.id, [chunk]);
      const isWaiting = async () => (await store.chunksAfter(tenant, document.id, undefined, 1, false)).length === 1;
      await store.updateChunk(tenant, document.id, chunk.id, { isAvailable: false, updatedAt: 2_000 });
      expect(await isWaiting()).toBe(false);
      const change = { text: 'other', start: null, end: null, tokens: 1, updatedAt: 3_000 };
      const changed = { ...chunk, isAvailable: false, ...change };
      expect(await store.updateChunk(tenant, document.id, chunk.id, change)).toEqual(changed);
      // What was indexed before the change is not what is stored now.
      await store.markIndexed(tenant, document.id, [chunk]);
      expect(await isWaiting()).toBe(true);
      await store.markIndexed(tenant, document.id, [changed]);
      expect(await isWaiting()).toBe(false);
      expect((await store.findDocument(tenant, document.id))?.tokenCount).toBe(1);
      expect(await store.updateChunk(tenant, 'another', chunk.id, { text: 'x' })).toBeUndefined();
    });

    it('refuses chunks of a document that is gone', async () => {
      const { store, tenant, dataset, add } = await begin();
      const document = await add();
      await store.discardDocuments(tenant, dataset.id, [document.id]);
      const late = store.putChunks(tenant, document.id, 0, [chunkRecord(document, 0)]);
      await expect(late).rejects.toMatchObject({ code: 'NOT_FOUND' });
    });

    it('has vectors by model, which go when the text changes', async () => {
      const { store, tenant, add } = await begin();
      const document = await add();
      const chunks = [0, 1, 2].map((index) => chunkRecord(document, index));
      const ids = chunks.map(({ id }) => id);
      await store.putChunks(tenant, document.id, 0, chunks);
      const vector = (value: number) => Float32Array.from([value, -0.5]);
      const vectors = [...ids.slice(0, 2), 'none'].map((chunkId, at) => ({ chunkId, vector: vector(at) }));
      await store.putVectors(tenant, document.id, 'm@A', vectors);
      const found = [...(await store.findVectors(tenant, 'm@A', ids))];
      expect(found.sort((a, b) => (a.chunkId < b.chunkId ? -1 : 1))).toEqual(vectors.slice(0, 2));
      expect(await store.findVectors(tenant, 'm@B', ids)).toEqual([]);
      expect(await store.findVectors(newTenant(), 'm@A', ids)).toEqual([]);
      const without = async (after?: (typeof chunks)[number]) =>
        (await store.chunksWithoutVector(tenant, document.id, 'm@A', after, 10)).map(({ index }) => index);
      expect(await without()).toEqual([2]);
      await store.putChunks(tenant, document.id, 0, [chunks[0] as (typeof chunks)[number]]);
      await store.updateChunk(tenant, document.id, ids[0] as string, { isAvailable: false });
      expect(await without()).toEqual([2]);
      await store.updateChunk(tenant, document.id, ids[0] as string, { text: 'new' });
      await store.putChunks(tenant, document.id, 0, [chunkRecord(document, 1, { text: 'new, too' })]);
      expect(await without()).toEqual([0, 1, 2]);
      expect(await without(chunks[0])).toEqual([1, 2]);
    });

    it('names the parsed documents of datasets without a model, page by page, and which lack vectors', async () => {
      const { store, tenant, dataset, add } = await begin();
      const [full, open, empty] = [await add({ run: 'DONE' }), await add({ run: 'DONE' }), await add({ run: 'DONE' })];
      await add();
      const chunksOf = async (document: DocumentRecord) => {
        const chunks = [0, 1].map((index) => chunkRecord(document, index));
        await store.putChunks(tenant, document.id, 0, chunks);
        return chunks.map(({ id }) => ({ chunkId: id, vector: Float32Array.from([1]) }));
      };
      await store.putVectors(tenant, full.id, 'm', await chunksOf(full));
      await store.putVectors(tenant, open.id, 'm', (await chunksOf(open)).slice(1));
      const gaps = async (): Promise<VectorGap[]> => {
        const all: VectorGap[] = [];
        for (;;) {
          const page = await store.vectorGaps('m', all.at(-1), 2);
          all.push(...page);
          if (page.length === 0) return all.filter((gap) => gap.tenant === tenant);
        }
      };
      const expected = [full, open, empty].map(({ id: documentId }) => {
        return { tenant, datasetId: dataset.id, documentId, isOpen: documentId === open.id };
      });
      expect(await gaps()).toEqual(expected.sort((a, b) => (a.documentId < b.documentId ? -1 : 1)));
      await store.updateDataset(tenant, dataset.id, { embeddingModel: 'm@A' });
      expect(await gaps()).toEqual([]);
    });
  });

  describe('what was discarded', () => {
    it('is gone for all calls, can be erased piece by piece, and leaves nothing', async () => {
      const { store, tenant, dataset, add } = await begin();
      const [kept, document] = [await add(), await add({ fileId: 'file' })];
      await store.putChunks(
        tenant,
        document.id,
        0,
        [0, 1, 2].map((index) => chunkRecord(document, index)),
      );
      const own = async () => (await store.remains(1_000)).filter((one) => one.tenant === tenant);
      expect(await own()).toEqual([]);
      // What exists cannot be erased.
      await store.erase(tenant, dataset.id, document.id);
      await store.eraseChunks(tenant, document.id, [`${document.id}-0`]);
      await store.erase(tenant, dataset.id);
      expect((await store.findCountedDataset(tenant, dataset.id))?.counts).toMatchObject({ documents: 2, chunks: 3 });

      await store.discardDocuments(tenant, dataset.id, [document.id]);
      expect(await own()).toMatchObject([{ datasetId: dataset.id, document: { id: document.id, fileId: 'file' } }]);
      expect(await store.findChunks(tenant, [`${document.id}-0`])).toEqual([]);
      const ids = await store.chunksOfRemains(tenant, document.id, 2);
      expect(ids).toEqual([`${document.id}-0`, `${document.id}-1`]);
      await store.eraseChunks(tenant, document.id, ids);
      expect(await store.chunksOfRemains(tenant, document.id, 2)).toEqual([`${document.id}-2`]);
      await store.erase(tenant, dataset.id, document.id);
      expect(await own()).toEqual([]);

      expect(await store.discardDataset(tenant, dataset.id)).toBe(true);
      expect(await store.discardDataset(tenant, dataset.id)).toBe(false);
      expect(await store.findDocument(tenant, kept.id)).toBeUndefined();
      expect(await own()).toMatchObject([{ datasetId: dataset.id, document: { id: kept.id } }]);
      await store.erase(tenant, dataset.id, kept.id);
      expect(await own()).toEqual([{ tenant, datasetId: dataset.id }]);
      await store.erase(tenant, dataset.id);
      expect(await own()).toEqual([]);
    });

    it('gives the name of a discarded dataset free at once, and takes no documents any more', async () => {
      const { store, tenant, dataset, add } = await begin();
      const document = await add();
      await store.enqueue(tenant, [document.id]);
      await store.discardDataset(tenant, dataset.id);
      await store.insertDataset(tenant, datasetRecord({ name: dataset.name }));
      await expect(add()).rejects.toMatchObject({ code: 'NOT_FOUND' });
      expect((await store.waiting(1_000)).filter((one) => one.tenant === tenant)).toEqual([]);
      expect(await store.claim('a', tenant, dataset.id, LONG_MS)).toBeUndefined();
    });
  });
}
