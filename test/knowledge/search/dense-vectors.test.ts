import { describe, expect, it } from 'vitest';
import { createMemoryIndexStorage } from '../../../src/knowledge/search/memory-index-storage.js';
import { openSearchIndex } from '../../../src/knowledge/search/search-index.js';
import { DEFAULT_SETTINGS } from '../../../src/knowledge/search/search-settings.js';

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
    expect(index.lacking).toBe(0);
    expect(await index.search({ question: 'feline' })).toEqual([]);
    expect(index.lacking).toBe(3);
    expect(await index.missingVectors(10)).toEqual(['p0', 'p1', 'p2']);
    await index.setVectors(new Map([...VECTORS].slice(0, 2)));
    expect(await index.search({ question: 'feline' })).toEqual([]);
    expect(index.lacking).toBe(1);
    await index.setVectors(VECTORS);
    expect(await index.missingVectors(10)).toEqual([]);
    const hits = await index.search({ question: 'feline' });
    expect(index.lacking).toBe(0);
    expect(hits[0]?.id).toBe('p1');
    expect(hits[0]?.parts.vector).toBeCloseTo(0.994, 2);
  });

  it('give what they alone found their own similarity, which never rises from one hit to the next', async () => {
    const index = open([0.3, 0.9, 0.1]);
    await index.add(PASSAGES);
    await index.setVectors(VECTORS);
    const raw = [0.9, 0.3, 0.1].map((value) => value / Math.hypot(0.3, 0.9, 0.1));
    // The average passage, with ten beside them that have nothing to do with the question.
    const usual = raw.reduce((sum, cosine) => sum + cosine, 0) / 13;
    const cosines = raw.map((cosine) => Math.max(0, (cosine - usual) / (1 - usual)));
    const found = async (question: string, settings = DEFAULT_SETTINGS) =>
      (await index.search({ question, settings })).map(({ id, similarity }) => [id, similarity] as const);
    const alone = await found('feline');
    expect(alone.map(([id]) => id)).toEqual(['p1', 'p0', 'p2']);
    for (const [at, [, similarity]] of alone.entries()) expect(similarity).toBeCloseTo(cosines[at] ?? 0, 2);
    // What holds words of the question comes first, and is no less similar than what holds none.
    const mixed = await found('dogs of unheard names beyond all words');
    const similarities = mixed.map(([, similarity]) => similarity);
    expect(
      mixed
        .map(([id]) => id)
        .slice(0, 2)
        .sort(),
    ).toEqual(['p0', 'p1']);
    expect(similarities).toEqual([...similarities].sort((a, b) => b - a));
    expect(similarities[0]).toBeCloseTo(cosines[0] ?? 0, 2);
    const { weights } = DEFAULT_SETTINGS;
    const byWords = { ...DEFAULT_SETTINGS, weights: { ...weights, vector: 0 } };
    expect((await found('feline', byWords)).every(([, similarity]) => similarity === 0)).toBe(true);
  });

  it('say that nothing is similar where a model finds all passages about as near', async () => {
    const about = (angle: number): number[] => [1, Math.cos(angle), Math.sin(angle)];
    const found = async (question: number[]) => {
      const index = open(question);
      const many = Array.from({ length: 200 }, (_, at) => ({ ...PASSAGES[0], id: `p${at}`, text: `text${at}` }));
      await index.add(many as typeof PASSAGES);
      await index.setVectors(new Map(many.map(({ id }, at) => [id, about(Math.PI + (at / 200) * 1.5)])));
      return index.search({ question: 'feline' });
    };
    const unrelated = await found([1, 0.05, 0.05]);
    expect(unrelated[0]?.parts.vector).toBeGreaterThan(0.5);
    expect(Math.max(...unrelated.map(({ similarity }) => similarity))).toBeLessThan(0.2);
    const related = await found(about(Math.PI));
    expect(related[0]).toMatchObject({ id: 'p0' });
    expect(related[0]?.similarity).toBeGreaterThan(0.6);
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
