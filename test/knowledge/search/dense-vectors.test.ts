import { describe, expect, it } from 'vitest';
import { createMemoryIndexStorage } from '../../../src/knowledge/search/memory-index-storage.js';
import { openSearchIndex } from '../../../src/knowledge/search/search-index.js';

const PASSAGES = ['dogs bark', 'cats purr', 'birds sing'].map((text, at) => ({
  id: `p${at}`,
  documentId: 'd',
  title: '',
  text,
}));
const VECTORS = new Map([
  ['p0', [1, 0, 0]],
  ['p1', [0, 1, 0]],
  ['p2', [0, 0, 1]],
]);

function open(vector: number[], maxExact?: number, storage = createMemoryIndexStorage()) {
  const embedder = { embed: async (texts: readonly string[]) => texts.map(() => vector) };
  return openSearchIndex({ storage, tenant: 't', dataset: 'd', vectors: { model: 'm', embedder, maxExact } });
}

describe('vectors of a model', () => {
  it('find what shares no word with the question, once every passage has one', async () => {
    const index = open([0.1, 0.9, 0]);
    await index.add(PASSAGES);
    expect(await index.search({ question: 'feline' })).toEqual([]);
    expect(await index.missingVectors(10)).toEqual(['p0', 'p1', 'p2']);
    await index.setVectors(new Map([...VECTORS].slice(0, 2)));
    expect(await index.search({ question: 'feline' })).toEqual([]);
    await index.setVectors(VECTORS);
    expect(await index.missingVectors(10)).toEqual([]);
    const hits = await index.search({ question: 'feline' });
    expect(hits[0]?.id).toBe('p1');
    expect(hits[0]?.parts.vector).toBe(1);
  });

  it('order the candidates of words where there are too many to compare all', async () => {
    const index = open([0, 1, 0], 2);
    await index.add(PASSAGES.map((passage) => ({ ...passage, text: `animals ${passage.text}` })));
    await index.setVectors(VECTORS);
    expect((await index.search({ question: 'animals' }))[0]?.id).toBe('p1');
    expect(await index.search({ question: 'feline' })).toEqual([]);
  });

  it('are refused by name when they do not have the size of those that are stored', async () => {
    const index = open([1, 0]);
    await index.add(PASSAGES);
    await index.setVectors(VECTORS);
    await expect(index.setVectors(new Map([['p0', [1, 2]]]))).rejects.toMatchObject({ code: 'EMBEDDING_MISMATCH' });
    await expect(index.search({ question: 'dogs' })).rejects.toMatchObject({ code: 'EMBEDDING_MISMATCH' });
  });

  it('count when another process has stored them', async () => {
    const storage = createMemoryIndexStorage();
    const [here, there] = [open([0, 1, 0], undefined, storage), open([0, 1, 0], undefined, storage)];
    await here.add(PASSAGES);
    await there.setVectors(new Map([...VECTORS].slice(0, 1)));
    await here.setVectors(VECTORS);
    expect((await there.search({ question: 'feline' }))[0]?.id).toBe('p1');
  });

  it('go with their passages', async () => {
    const index = open([1, 0, 0]);
    await index.add(PASSAGES);
    await index.setVectors(VECTORS);
    await index.remove(['p1']);
    await index.add(PASSAGES.slice(1, 2));
    expect(await index.missingVectors(10)).toEqual(['p1']);
  });
});
