import { createHash } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../../src/errors.js';
import type { KnowledgeQuery } from '../../../src/knowledge/base/retrieval.js';
import { byTokens } from '../../../src/knowledge/chunkers/by-tokens.js';
import { pagesOf } from '../../../src/records/knowledge.js';
import { createMemoryFiles } from '../../../src/stores/memory-files.js';
import { createFakeIndexes } from './support/fake-indexes.js';
import { newBase, TENANT } from './support/new-base.js';

const NEVER = new AbortController().signal;
const PAGE = { offset: 0, limit: 10, orderBy: 'createdAt', descending: false } as const;
const bytes = (content: string) => [new TextEncoder().encode(content)];

async function filled(options: Parameters<typeof newBase>[0] = {}) {
  const test = newBase(options);
  test.start();
  const id = await test.dataset();
  const cats = await test.ingest(id, 'cats.txt', 'Cats sleep all day.');
  const dogs = await test.ingest(id, 'dogs.txt', 'Dogs bark all night.');
  const search = async (question: string, more: Partial<KnowledgeQuery> = {}) => {
    const query = { question, datasetIds: [id], similarityThreshold: 0, ...more };
    return test.base.search(TENANT, query, NEVER);
  };
  const names = async (question: string, more: Partial<KnowledgeQuery> = {}) =>
    (await search(question, more)).hits.map(({ document }) => document.name).sort();
  return { ...test, id, cats, dogs, search, names };
}

describe('datasets', () => {
  it("have a name of their own, and RAGFlow's defaults", async () => {
    const { base } = newBase();
    const { dataset } = await base.datasets.create(TENANT, { name: 'docs' });
    expect(dataset).toMatchObject({ chunkMethod: 'naive', similarityThreshold: 0.2, vectorSimilarityWeight: 0.3 });
    await expect(base.datasets.create(TENANT, { name: 'DOCS' })).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(base.datasets.create(TENANT, { name: ' ' })).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    expect((await base.datasets.findByName(TENANT, 'Docs'))?.dataset.id).toBe(dataset.id);
    expect((await base.datasets.findByName(TENANT, dataset.id))?.dataset.id).toBe(dataset.id);
    await expect(base.datasets.update(TENANT, 'none', { name: 'x' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('keep their model while documents are parsed', async () => {
    const { base, dataset, add } = newBase();
    const id = await dataset();
    await add(id, 'a.txt', 'one');
    const change = base.datasets.update(TENANT, id, { embeddingModel: 'm@A' });
    await expect(change).rejects.toMatchObject({ code: 'DATASET_BUSY', retryable: true });
    await expect(base.datasets.update(TENANT, id, { name: 'other' })).resolves.toMatchObject({
      dataset: { name: 'other' },
    });
    expect((await base.datasets.runCounts(TENANT, [id])).get(id)).toEqual({ RUNNING: 1 });
  });

  it('are deleted with their documents, files and passages', async () => {
    const { base, indexes, id, cats } = await filled();
    expect(await base.datasets.delete(TENANT, id)).toBe(true);
    expect(await base.datasets.delete(TENANT, id)).toBe(false);
    expect(await base.documents.find(TENANT, id, cats.id)).toBeUndefined();
    expect(await base.parts.files.find(TENANT, cats.fileId as string)).toBeUndefined();
    expect(indexes.passages(TENANT, id).size).toBe(0);
    expect(await base.parts.store.remains(10)).toEqual([]);
  });

  it('that are deleted while they are searched give nothing of it', async () => {
    const { base, indexes, id, search } = await filled();
    const { open } = indexes;
    const slow = {
      ...indexes,
      open: (...place: Parameters<typeof open>) => {
        const index = open(...place);
        const find: typeof index.search = async (...given) => {
          const hits = await index.search(...given);
          await base.datasets.delete(TENANT, id);
          return hits;
        };
        return { ...index, search: find };
      },
    };
    const { searchKnowledge } = await import('../../../src/knowledge/base/retrieval.js');
    const query = { question: 'cats', datasetIds: [id], similarityThreshold: 0 };
    const found = await searchKnowledge({ ...base.parts, indexes: slow }, TENANT, query, NEVER);
    expect(found).toEqual({ hits: [], total: 0, documents: [] });
    await expect(search('cats')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('documents', () => {
  it('are received piece by piece, and given back as they were', async () => {
    const { base, dataset } = newBase();
    const id = await dataset();
    async function* pieces() {
      for (const piece of ['one ', 'two']) yield new TextEncoder().encode(piece);
    }
    const { document, outcome } = await base.documents.add(TENANT, id, {
      name: 'a.txt',
      content: pieces(),
      metadata: { a: 1 },
    });
    const sha256 = createHash('sha256').update('one two').digest('hex');
    expect(outcome).toBe('new');
    expect(document).toMatchObject({ size: 7, sha256, run: 'UNSTART', metadata: { a: 1 }, duplicateOf: null });
    const opened = await base.documents.open(TENANT, id, document.id);
    expect(opened && (await text(opened.read()))).toBe('one two');
  });

  it('of one name get numbers, also at once', async () => {
    const { base, dataset } = newBase();
    const id = await dataset();
    const added = await Promise.all(
      [1, 2, 3].map(() => base.documents.add(TENANT, id, { name: 'a.tar.gz', content: bytes('same') })),
    );
    const names = added.map(({ document }) => document.name).sort();
    expect(names).toEqual(['a.tar(1).gz', 'a.tar(2).gz', 'a.tar.gz']);
  });

  it('that are too large leave nothing', async () => {
    const files = createMemoryFiles();
    const { base, dataset } = newBase({ files });
    const id = await dataset();
    let read = 0;
    function* endless() {
      for (;;) {
        read += 1;
        yield new Uint8Array(1_000);
      }
    }
    const adding = base.documents.add(TENANT, id, { name: 'a.txt', content: endless(), maxBytes: 10_000 });
    await expect(adding).rejects.toMatchObject({ code: 'BODY_TOO_LARGE' });
    expect(read).toBe(11);
    expect(files.usage.of(TENANT).files).toBe(0);
    expect((await base.documents.list(TENANT, PAGE)).total).toBe(0);
  });

  it('need a dataset', async () => {
    const { base } = newBase();
    const adding = base.documents.add(TENANT, 'none', { name: 'a.txt', content: bytes('x') });
    await expect(adding).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('without a file hold what users write', async () => {
    const { base, start, dataset, ended, found } = newBase();
    start();
    const id = await dataset();
    const { document } = await base.documents.add(TENANT, id, { name: 'notes.txt' });
    expect(document).toMatchObject({ type: 'virtual', fileId: null, size: 0 });
    await base.chunks.add(TENANT, document.id, { text: 'A written note.' });
    expect(await found(id, 'note')).toEqual(['notes.txt: A written note.']);
    expect(await base.documents.open(TENANT, id, document.id)).toBeUndefined();
    await base.documents.parse(TENANT, id, [document.id]);
    expect((await ended(document.id)).run).toBe('DONE');
  });

  it('are hidden and shown, and found by their new name', async () => {
    const { base, id, cats, names } = await filled();
    await base.documents.update(TENANT, id, cats.id, { isEnabled: false });
    expect(await names('all')).toEqual(['dogs.txt']);
    await base.documents.update(TENANT, id, cats.id, { isEnabled: true, name: 'felines.txt' });
    expect(await names('all')).toEqual(['dogs.txt', 'felines.txt']);
    expect(await names('felines')).toEqual(['felines.txt']);
    const taken = base.documents.update(TENANT, id, cats.id, { name: 'DOGS.txt' });
    await expect(taken).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(base.documents.update(TENANT, 'other', cats.id, {})).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('keep their method while they are parsed', async () => {
    const { base, dataset, add } = newBase();
    const id = await dataset();
    const document = await add(id, 'a.txt', 'one');
    const change = base.documents.update(TENANT, id, document.id, { chunkMethod: 'one' });
    await expect(change).rejects.toMatchObject({ code: 'DATASET_BUSY' });
  });

  it('leave an index as if it had never had them', async () => {
    const { base, indexes, id, cats, dogs } = await filled();
    const other = newBase({ indexes: createFakeIndexes() });
    expect(await base.documents.delete(TENANT, id, [cats.id, 'none'])).toEqual([cats.id]);
    const left = [...indexes.passages(TENANT, id).values()];
    expect(left.map(({ documentId }) => documentId)).toEqual([dogs.id]);
    await base.documents.delete(TENANT, id, [dogs.id]);
    expect([...indexes.passages(TENANT, id)]).toEqual([...other.indexes.passages(TENANT, id)]);
  });
});

describe('chunks', () => {
  it('are written, changed, hidden and deleted by users', async () => {
    const { base, id, cats, names, texts } = await filled();
    const chunk = await base.chunks.add(TENANT, cats.id, {
      text: 'Cats purr.',
      keywords: ['sound'],
      questions: ['what hums?'],
    });
    expect(await names('purr')).toEqual(['cats.txt']);
    expect(await names('hums')).toEqual(['cats.txt']);
    const changed = await base.chunks.update(TENANT, cats.id, chunk.id, { text: 'Cats meow.' });
    expect(changed).toMatchObject({ text: 'Cats meow.', start: null, keywords: ['sound'] });
    expect([await names('purr'), await names('meow')]).toEqual([[], ['cats.txt']]);
    expect(await base.chunks.setAvailable(TENANT, cats.id, [chunk.id, 'none'], false)).toEqual([chunk.id]);
    expect(await names('meow')).toEqual([]);
    await base.chunks.setAvailable(TENANT, cats.id, [chunk.id], true);
    expect(await names('meow')).toEqual(['cats.txt']);
    expect(await texts(cats.id)).toEqual(['Cats sleep all day.', 'Cats meow.']);
    expect(await base.chunks.delete(TENANT, cats.id, [chunk.id])).toEqual([chunk.id]);
    expect(await base.chunks.find(TENANT, cats.id, chunk.id)).toBeUndefined();
    expect(await base.chunks.delete(TENANT, cats.id)).toHaveLength(1);
    expect(await names('cats')).toEqual([]);
    expect((await base.datasets.find(TENANT, id))?.counts).toMatchObject({ documents: 2, chunks: 1 });
  });

  it('that are changed get a vector of their new text', async () => {
    const embedder = {
      embed: async (texts: readonly string[]) => texts.map((text) => (/meow/.test(text) ? [0, 1] : [1, 0])),
    };
    const { base, start, dataset, ingest } = newBase({ embedders: () => embedder });
    start();
    const id = await dataset('docs', { embeddingModel: 'm@A' });
    const document = await ingest(id, 'cats.txt', 'Cats purr.');
    const [chunk] = (await base.chunks.list(TENANT, { documentId: document.id, offset: 0, limit: 1 })).items;
    await base.chunks.update(TENANT, document.id, chunk?.id as string, { text: 'Cats meow.' });
    const query = { question: 'who meows?', datasetIds: [id], similarityThreshold: 0 };
    expect((await base.search(TENANT, query, NEVER)).hits[0]).toMatchObject({ vectorSimilarity: 1 });
  });

  it('need a text and a document', async () => {
    const { base, cats } = await filled();
    await expect(base.chunks.add(TENANT, cats.id, { text: ' ' })).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    await expect(base.chunks.add(TENANT, 'none', { text: 'x' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(base.chunks.update(TENANT, cats.id, 'none', {})).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('are the same one when they are written twice', async () => {
    const { base, cats } = await filled();
    const [first, second] = [
      await base.chunks.add(TENANT, cats.id, { text: 'Same.' }),
      await base.chunks.add(TENANT, cats.id, { text: 'Same.', keywords: ['k'] }),
    ];
    expect(second.id).toBe(first.id);
    expect((await base.chunks.list(TENANT, { documentId: cats.id, offset: 0, limit: 9 })).total).toBe(2);
  });
});

describe('a search', () => {
  it('gives hits by rank, with pages, documents and a threshold', async () => {
    const { search, cats } = await filled();
    const { hits, total, documents } = await search('cats all day', { pageSize: 1 });
    expect(total).toBe(2);
    expect(hits).toMatchObject([{ document: { id: cats.id }, similarity: 1, termSimilarity: 1 }]);
    expect(documents).toEqual(expect.arrayContaining([{ id: cats.id, name: 'cats.txt', count: 1 }]));
    expect((await search('cats all day', { page: 2, pageSize: 1 })).hits[0]?.document.name).toBe('dogs.txt');
    expect((await search('cats all day', { similarityThreshold: 0.9 })).total).toBe(1);
  });

  it('tells every page of a chunk', async () => {
    const document = {
      text: 'cats sleep\n\nall day',
      pages: [
        { start: 0, end: 12, page: 3 },
        { start: 12, end: 19, page: 4 },
      ],
    };
    const test = newBase();
    test.start({ chunker: { chunk: () => byTokens({ countTokens: () => 1, size: 9 })(document) } });
    const id = await test.dataset();
    await test.ingest(id, 'cats.txt', document.text);
    const query = { question: 'cats', datasetIds: [id], similarityThreshold: 0 };
    const [hit] = (await test.base.search(TENANT, query, NEVER)).hits;
    expect(hit?.chunk).toMatchObject({
      page: 3,
      positions: [
        [3, 0, 0, 0, 0],
        [4, 0, 0, 0, 0],
      ],
    });
    expect(hit && pagesOf(hit.chunk)).toEqual([3, 4]);
  });

  describe('by parts of passages', () => {
    const TEXT = 'Cats sleep all day.\nThey hunt all night.\nMice do not.';
    const PARTS = { parserConfig: { children_delimiter: '\n', chunk_token_num: 16, delimiter: '`\n\n`' } };

    async function parted(options: Parameters<typeof newBase>[0] = {}) {
      const test = newBase(options);
      test.start();
      const id = await test.dataset('docs', PARTS);
      const document = await test.ingest(id, 'cats.txt', `${TEXT}\n\nDogs bark at night.`);
      const search = async (question: string, more: Partial<KnowledgeQuery> = {}) =>
        test.base.search(TENANT, { question, datasetIds: [id], similarityThreshold: 0, ...more }, NEVER);
      const chunks = (await test.base.chunks.list(TENANT, { documentId: document.id, offset: 0, limit: 9 })).items;
      return { ...test, id, document, search, chunks };
    }

    it('gives each passage once, with the parts that were found', async () => {
      const { search, chunks, document } = await parted();
      expect(chunks.map(({ text }) => text)).toEqual([...TEXT.split('\n'), 'Dogs bark at night.']);
      expect(document.chunkCount).toBe(4);
      const { hits, total, documents } = await search('they hunt all night');
      expect(total).toBe(2);
      expect(documents).toEqual([{ id: document.id, name: 'cats.txt', count: 2 }]);
      const [cats, dogs] = hits;
      expect(cats).toMatchObject({
        similarity: 1,
        chunk: { id: chunks[1]?.id, text: TEXT, start: 0, end: TEXT.length },
      });
      expect(cats?.matches).toEqual([
        { id: chunks[1]?.id, start: 20, end: 40, page: null },
        { id: chunks[0]?.id, start: 0, end: 19, page: null },
      ]);
      expect(dogs?.chunk.text).toBe('Dogs bark at night.');
      expect(dogs?.matches).toBeUndefined();
    });

    it('gives a reranking model the passages', async () => {
      let read: readonly string[] = [];
      const rerank = async (_: string, texts: readonly string[]) => {
        read = texts;
        return texts.map(() => 0.5);
      };
      const { search } = await parted({ rerankers: () => ({ rerank }) });
      await search('night', { rerankModel: 'm' });
      expect([...read].sort()).toEqual([TEXT, 'Dogs bark at night.']);
    });

    it('gives parts as they are that users wrote anew, or whose passage is gone', async () => {
      const { base, document, search, chunks } = await parted();
      const [first, second, third] = chunks.map(({ id }) => id) as [string, string, string];
      await base.chunks.update(TENANT, document.id, third, { text: 'Mice hide.' });
      expect((await search('mice hide')).hits[0]).toMatchObject({ chunk: { text: 'Mice hide.' }, similarity: 1 });
      expect((await search('hunt')).hits[0]?.chunk.text).toBe(TEXT);
      await base.chunks.delete(TENANT, document.id, [first]);
      expect((await search('hunt')).hits[0]).toMatchObject({ chunk: { id: second, text: 'They hunt all night.' } });
    });
  });

  it('is put in order by a model that is named; one that fails, or gives too few scores, changes nothing', async () => {
    const asked: string[] = [];
    const reranker = {
      rerank: async (question: string, texts: readonly string[]) => {
        asked.push(question);
        if (question.startsWith('broken')) throw new EngineError('MODEL_UNAVAILABLE', '429');
        if (question.startsWith('short')) return [0.9];
        return texts.map((text) => (/dogs/i.test(text) ? 0.9 : 0.4));
      },
    };
    const { base, id } = await filled({ rerankers: () => reranker });
    const search = (question: string, rerankModel?: string) =>
      base.search(TENANT, { question, datasetIds: [id], similarityThreshold: 0, rerankModel }, NEVER);
    const plain = await search('cats all day', '');
    expect(plain.hits.map(({ document }) => document.name)).toEqual(['cats.txt', 'dogs.txt']);
    expect(asked).toEqual([]);
    const reranked = await search('cats all day', 'r@A');
    expect(reranked.hits).toMatchObject([
      { document: { name: 'dogs.txt' }, similarity: 0.9, scores: { rerank: 0.9 } },
      { document: { name: 'cats.txt' }, similarity: 0.4, scores: { rerank: 0.4 } },
    ]);
    expect(reranked.rerankFailure).toBeUndefined();
    for (const [question, code] of [
      ['broken cats all day', 'MODEL_UNAVAILABLE'],
      ['short of scores cats all day', 'MODEL_RESPONSE'],
    ] as const) {
      const failed = await search(question, 'r@A');
      expect(failed.hits.map(({ document }) => document.name)).toEqual(['cats.txt', 'dogs.txt']);
      expect(failed.rerankFailure).toMatchObject({ code });
    }
  });

  it('is refused with a reranking model that there is not', async () => {
    const { base, id } = await filled();
    const query = { question: 'cats', datasetIds: [id], rerankModel: 'r@A' };
    await expect(base.search(TENANT, query, NEVER)).rejects.toMatchObject({ code: 'MODEL_UNKNOWN' });
  });

  it('looks only into documents that are named, and whose metadata fits', async () => {
    const { base, id, cats, dogs, names } = await filled();
    await base.documents.update(TENANT, id, cats.id, { metadata: { kind: 'quiet' } });
    const filter = { conditions: [{ name: 'kind', comparison_operator: 'is', value: 'quiet' }] };
    expect(await names('all', { filter })).toEqual(['cats.txt']);
    expect(await names('all', { documentIds: [dogs.id] })).toEqual(['dogs.txt']);
    expect(await names('all', { documentIds: [dogs.id], filter })).toEqual([]);
  });

  it.each([[''], ['   '], ['🙂'], ["'; drop table x; --"], ['x'.repeat(100_000)]])(
    'finds nothing for %.20s',
    async (question) => {
      const { search } = await filled();
      expect((await search(question)).hits).toEqual([]);
    },
  );

  it('refuses datasets that are not there, of others, or of different models', async () => {
    const { base, id, search } = await filled();
    await expect(search('cats', { datasetIds: [] })).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    await expect(search('cats', { datasetIds: ['none'] })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const foreign = base.search('other', { question: 'cats', datasetIds: [id] }, NEVER);
    await expect(foreign).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const { dataset } = await base.datasets.create(TENANT, { name: 'b', embeddingModel: 'm@A' });
    const mixed = search('cats', { datasetIds: [id, dataset.id] });
    await expect(mixed).rejects.toMatchObject({ code: 'EMBEDDING_MISMATCH', message: expect.stringContaining('m@A') });
  });

  it('refuses a model that was exchanged for one of other dimensions', async () => {
    let length = 2;
    const embedder = { embed: async (texts: readonly string[]) => texts.map(() => new Array<number>(length).fill(1)) };
    const { base, start, dataset, ingest } = newBase({ embedders: () => embedder });
    start();
    const id = await dataset('docs', { embeddingModel: 'm@A' });
    await ingest(id, 'a.txt', 'one');
    length = 3;
    const search = base.search(TENANT, { question: 'one', datasetIds: [id] }, NEVER);
    await expect(search).rejects.toMatchObject({ code: 'EMBEDDING_MISMATCH' });
  });
});

describe('metadata', () => {
  it('is counted and changed for many documents', async () => {
    const { base, id, cats, dogs } = await filled();
    const change = (given: object) => base.metadata.change(TENANT, id, { updates: [], deletes: [], ...given });
    expect(await change({ updates: [{ name: 'tags', value: ['a', 'b'] }] })).toEqual({ matched: 2, updated: 2 });
    expect(await change({ documentIds: [cats.id], updates: [{ name: 'tags', match: 'a', value: 'c' }] })).toEqual({
      matched: 1,
      updated: 1,
    });
    expect(await base.metadata.summary(TENANT, id)).toEqual([
      {
        name: 'tags',
        values: [
          { value: 'b', count: 2 },
          { value: 'a', count: 1 },
          { value: 'c', count: 1 },
        ],
      },
    ]);
    const filter = { conditions: [{ name: 'tags', comparison_operator: 'is', value: 'a' }] };
    expect(await change({ filter, deletes: [{ name: 'tags', value: 'b' }] })).toEqual({ matched: 1, updated: 1 });
    expect((await base.documents.find(TENANT, id, dogs.id))?.metadata).toEqual({ tags: ['a'] });
    expect(await change({ deletes: [{ name: 'tags' }] })).toEqual({ matched: 2, updated: 2 });
    expect(await base.metadata.summary(TENANT, id)).toEqual([]);
    await expect(base.metadata.summary(TENANT, 'none')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('the retriever of a knowledge base', () => {
  const REQUEST = {
    datasets: ['docs'],
    topN: 5,
    topK: 100,
    similarityThreshold: 0,
    keywordWeight: 0.5,
    rerankId: '',
    crossLanguages: [],
    useGraph: false,
    useContents: false,
    filter: {},
  };

  it('finds passages in datasets by name or id, of its tenant alone', async () => {
    const { base, id, cats } = await filled();
    const retriever = base.retriever(TENANT);
    const [found] = await retriever.search({ ...REQUEST, question: 'cats' }, NEVER);
    expect(found).toMatchObject({
      content: 'Cats sleep all day.',
      documentId: cats.id,
      documentName: 'cats.txt',
      datasetId: id,
      record: { start: 0, end: 19, term_similarity: 1 },
    });
    expect(await retriever.search({ ...REQUEST, datasets: [id], question: 'cats' }, NEVER)).toHaveLength(1);
    const other = retriever.forTenant?.('other').search({ ...REQUEST, question: 'cats' }, NEVER);
    await expect(other).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('There are: none'),
    });
  });

  it('finds the same with a graph of knowledge where there is none', async () => {
    const { base } = await filled();
    const retriever = base.retriever(TENANT);
    const plain = await retriever.search({ ...REQUEST, question: 'cats' }, NEVER);
    expect(await retriever.search({ ...REQUEST, question: 'cats', useGraph: true }, NEVER)).toEqual(plain);
  });
});
