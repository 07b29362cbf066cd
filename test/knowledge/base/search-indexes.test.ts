import { describe, expect, it } from 'vitest';
import { createSearchIndexes } from '../../../src/knowledge/base/search-indexes.js';
import { createMemoryIndexStorage } from '../../../src/knowledge/search/memory-index-storage.js';
import type { FakeIndexes } from './support/fake-indexes.js';
import { newBase, TENANT } from './support/new-base.js';

const NEVER = new AbortController().signal;

function searchable(options: Partial<Parameters<typeof createSearchIndexes>[0]> = {}) {
  const indexes = createSearchIndexes({ storage: createMemoryIndexStorage(), ...options });
  return { indexes, options: { indexes: indexes as unknown as FakeIndexes } };
}

describe('a knowledge base over search indexes', () => {
  it('finds the one passage that fits, above the usual threshold', async () => {
    const { base, start, dataset, ingest } = newBase(searchable().options);
    start();
    const id = await dataset();
    await ingest(id, 'pumps.md', '# Pumps\n\nA pump moves water uphill.');
    await ingest(id, 'valves.md', '# Valves\n\nA valve stops the flow.');
    const search = async (question: string) => (await base.search(TENANT, { question, datasetIds: [id] }, NEVER)).hits;
    const [hit, ...others] = await search('what moves water?');
    expect(others).toEqual([]);
    expect(hit).toMatchObject({ document: { name: 'pumps.md' } });
    expect(hit?.similarity).toBeGreaterThan(0.2);
    expect(hit?.similarity).toBeLessThanOrEqual(1);
    expect(await search('zebra')).toEqual([]);
  });

  it('finds what terms of the server and of a dataset call otherwise, at the usual threshold', async () => {
    const { base, start, dataset, ingest } = newBase({ ...searchable().options, terms: [['泵', 'pump']] });
    start();
    const [own, other] = [await dataset('own', { terms: [['k8s', 'Kubernetes']] }), await dataset('other')];
    for (const id of [own, other]) {
      await ingest(id, 'a.md', 'A pump moves water uphill.');
      await ingest(id, 'b.md', 'Kubernetes restarts what fails.');
    }
    const search = async (question: string, ...datasetIds: string[]) =>
      (await base.search(TENANT, { question, datasetIds }, NEVER)).hits.map(({ chunk }) => chunk.text);
    expect(await search('什么是泵', own)).toEqual(['A pump moves water uphill.']);
    expect(await search('k8s', own)).toEqual(['Kubernetes restarts what fails.']);
    expect(await search('k8s', other)).toEqual([]);
    await base.datasets.update(TENANT, own, { terms: [] });
    expect(await search('k8s', own)).toEqual([]);
  });

  it.each([
    ['什么是泵？', '泵把水抽到高处。'],
    ['泵有什么用', '泵把水抽到高处。'],
    ['错误码 SESSION_BUSY 是什么意思？', 'SESSION_BUSY: another run has the session.'],
    ['请问如何重启 Kubernetes', 'Kubernetes restarts what fails.'],
    ['Kubernetes 是什么', 'Kubernetes restarts what fails.'],
  ])('is not kept from an answer by the words that ask: %s', async (question, answer) => {
    const { base, start, dataset, ingest } = newBase(searchable().options);
    start();
    const id = await dataset();
    for (const [at, text] of [
      '泵把水抽到高处。',
      'SESSION_BUSY: another run has the session.',
      'Kubernetes restarts what fails.',
      '阀门切断水流。',
      'A valve stops the flow.',
    ].entries()) {
      await ingest(id, `${at}.md`, text);
    }
    const { hits } = await base.search(TENANT, { question, datasetIds: [id] }, NEVER);
    expect(hits[0]?.chunk.text).toBe(answer);
  });

  it('finds by the translations of a question', async () => {
    const asked: unknown[] = [];
    const translate = async (tenant: string, question: string, languages: readonly string[]) => {
      asked.push([tenant, question, languages]);
      return ['what stops the flow?'];
    };
    const { base, start, dataset, ingest } = newBase({ ...searchable().options, translate });
    start();
    const id = await dataset();
    await ingest(id, 'valves.md', 'A valve stops the flow.');
    const search = async (crossLanguages?: readonly string[]) => {
      const query = { question: '什么能截断水流', datasetIds: [id], crossLanguages };
      return (await base.search(TENANT, query, NEVER)).hits.map(({ chunk }) => chunk.text);
    };
    expect(await search()).toEqual([]);
    expect(asked).toEqual([]);
    expect(await search(['English'])).toEqual(['A valve stops the flow.']);
    expect(asked).toEqual([[TENANT, '什么能截断水流', ['English']]]);
  });

  it('gives after a deletion what an index gives that never had the document', async () => {
    const results = [];
    for (const hasMore of [true, false]) {
      const { base, start, dataset, ingest } = newBase(searchable().options);
      start();
      const id = await dataset();
      await ingest(id, 'a.txt', 'Pumps move water. Water flows.');
      const more = hasMore ? await ingest(id, 'b.txt', 'Water and pumps and more water.') : undefined;
      await ingest(id, 'c.txt', 'A valve stops water.');
      if (more !== undefined) await base.documents.delete(TENANT, id, [more.id]);
      const { hits } = await base.search(
        TENANT,
        { question: 'water pumps', datasetIds: [id], similarityThreshold: 0 },
        NEVER,
      );
      results.push(hits.map(({ chunk, similarity, scores }) => ({ text: chunk.text, similarity, scores })));
    }
    expect(results[0]).toHaveLength(2);
    expect(results[0]).toEqual(results[1]);
  });

  it('compares the vectors of a model, with a share of their own', async () => {
    const embedder = {
      embed: async (texts: readonly string[]) => texts.map((text) => (/cat|feline/i.test(text) ? [1, 0] : [0, 1])),
    };
    const { base, start, dataset, ingest } = newBase({ ...searchable().options, embedders: () => embedder });
    start();
    const id = await dataset('docs', { embeddingModel: 'm@A' });
    await ingest(id, 'cats.txt', 'Cats sleep all day.');
    await ingest(id, 'dogs.txt', 'Dogs bark all day.');
    const search = async (vectorShare?: number) => {
      const query = {
        question: 'feline',
        datasetIds: [id],
        similarityThreshold: 0,
        ...(vectorShare !== undefined && { vectorShare }),
      };
      return (await base.search(TENANT, query, NEVER)).hits.map(({ document, vectorSimilarity }) => [
        document.name,
        vectorSimilarity,
      ]);
    };
    expect((await search())[0]).toEqual(['cats.txt', 1]);
    expect((await search(0.9))[0]).toEqual(['cats.txt', 1]);
  });

  it('holds only some indexes open, and waits for all', async () => {
    const { indexes } = searchable({ maxOpen: 1 });
    const passage = (id: string) => ({ id, documentId: id, title: '', text: `word ${id}`, available: true });
    await indexes.open(TENANT, 'a').add([passage('1')]);
    await indexes.open(TENANT, 'b').add([passage('2')]);
    await indexes.settled();
    const found = await indexes.open(TENANT, 'a').search({ question: 'word', limit: 5 }, NEVER);
    expect(found.map(({ id }) => id)).toEqual(['1']);
    await indexes.drop(TENANT, 'a');
    expect(await indexes.open(TENANT, 'a').search({ question: 'word', limit: 5 }, NEVER)).toEqual([]);
    await expect(indexes.open(TENANT, 'a').setVectors(new Map())).rejects.toMatchObject({ code: 'INTERNAL' });
  });
});
