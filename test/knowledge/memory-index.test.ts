import { describe, expect, it } from 'vitest';
import { type KnowledgeDocumentFields, knowledgeDocument } from '../../src/knowledge/knowledge-document.js';
import { type MemoryIndexOptions, memoryIndex } from '../../src/knowledge/memory-index.js';
import type { Embedder } from '../../src/models/single-answer.js';
import { property } from '../support/random.js';

/** Vectors by the words that a text holds: one dimension each. */
const embedderOf = (...words: readonly string[]): Embedder => ({
  embed: async (texts) => texts.map((text) => words.map((word) => (text.includes(word) ? 1 : 0))),
});

const doc = (id: string, text: string, more: Partial<KnowledgeDocumentFields> = {}) =>
  knowledgeDocument({ id, text, ...more });

async function filled(documents: readonly ReturnType<typeof doc>[], options: MemoryIndexOptions = {}) {
  const index = memoryIndex(options);
  await index.index(documents);
  return index;
}

const ids = (found: readonly { readonly id: string }[]) => found.map(({ id }) => id);

const PUMPS = [
  doc('pump', 'The pump needs oil twice a year.', { metadata: { kind: 'manual', tags: ['oil', 'pump'], year: 2024 } }),
  doc('valve', 'A valve closes when the pressure falls.', { metadata: { kind: 'manual', year: 2025 } }),
  doc('news', 'The pump was sold last year.', { metadata: { kind: 'news', year: 2025 }, subIndexes: ['press'] }),
];

describe('an index in memory, by words', () => {
  it('gives the documents with the rarest words of the query first, each with its score', async () => {
    const { retrieve } = await filled(PUMPS);
    const found = await retrieve('pump oil');
    expect(ids(found)).toEqual(['pump', 'news']);
    expect(found[0]).toEqual({ ...PUMPS[0], score: 1 });
    expect(found[1]?.score).toBeGreaterThan(0);
    expect(found[1]?.score).toBeLessThan(0.5);
  });

  it('finds nothing for a query without a known word, and for white space', async () => {
    const { retrieve } = await filled(PUMPS);
    expect(await retrieve('quasar')).toEqual([]);
    expect(await retrieve('  ')).toEqual([]);
    expect(await memoryIndex().retrieve('pump')).toEqual([]);
  });

  it('searches titles as well', async () => {
    const { retrieve } = await filled([doc('a', 'some text', { metadata: { title: 'Compressor' } })]);
    expect(ids(await retrieve('compressor'))).toEqual(['a']);
  });

  it('gives no more than it is asked for, and leaves out what scores too low', async () => {
    const { retrieve } = await filled(PUMPS, { topK: 1 });
    expect(ids(await retrieve('pump oil'))).toEqual(['pump']);
    expect(ids(await retrieve('pump oil', { topK: 5 }))).toEqual(['pump', 'news']);
    expect(ids(await retrieve('pump oil', { topK: 5, scoreThreshold: 0.9 }))).toEqual(['pump']);
    await expect(retrieve('pump', { topK: 0 })).rejects.toMatchObject({ code: 'OPTION_INVALID' });
  });

  it('puts equal scores in the order of ids', async () => {
    const { retrieve } = await filled(['c', 'a', 'b'].map((id) => doc(id, 'pump')));
    expect(ids(await retrieve('pump'))).toEqual(['a', 'b', 'c']);
  });

  it.each([
    ['a value', { kind: 'manual' }, ['pump']],
    ['one of several values', { year: [2023, 2025] }, ['news']],
    ['an item of a list', { tags: 'oil' }, ['pump']],
    ['a whole list', { tags: ['oil', 'pump'] }, ['pump']],
    ['two values', { kind: 'news', year: 2024 }, []],
    ['a name that no object owns', { constructor: 'Object' }, []],
    ['a function', ({ id }: { id: string }) => id === 'news', ['news']],
  ])('filters by %s before the best are chosen', async (_what, filter, expected) => {
    const { retrieve } = await filled(PUMPS);
    expect(ids(await retrieve('pump', { filter, topK: 1 }))).toEqual(expected);
  });

  it('searches a part of the index alone', async () => {
    const index = await filled(PUMPS);
    await index.index([doc('more', 'Another pump.')], { subIndexes: ['press', 'late'] });
    expect(ids(await index.retrieve('pump', { subIndex: 'press' }))).toEqual(['more', 'news']);
    expect(ids(await index.retrieve('pump', { subIndex: 'late' }))).toEqual(['more']);
    expect(await index.retrieve('pump', { subIndex: 'none' })).toEqual([]);
  });

  it('replaces a document with the same id, also within a call', async () => {
    const index = await filled([doc('a', 'old words'), doc('a', 'first words')]);
    expect(await index.index([doc('a', 'new text')])).toEqual(['a']);
    expect(index.size).toBe(1);
    expect(await index.retrieve('old words first')).toEqual([]);
    expect(ids(await index.retrieve('new'))).toEqual(['a']);
  });

  it('stores no score, and gives documents by id', async () => {
    const index = await filled([{ ...doc('a', 'x'), score: 3 }, doc('b', 'y')]);
    expect(await index.get(['b', 'gone', 'a'])).toEqual([doc('b', 'y'), doc('a', 'x')]);
  });

  it('takes documents out by id and by filter, but for some', async () => {
    const index = await filled(PUMPS);
    expect(await index.remove({ filter: { kind: 'manual' }, except: ['valve'] })).toBe(1);
    expect(ids(await index.retrieve('pump valve'))).toEqual(['news', 'valve']);
    expect(await index.remove({ ids: ['valve', 'gone'] })).toBe(1);
    expect(await index.remove({})).toBe(0);
    expect(index.size).toBe(1);
  });

  it('stores nothing of a call that does not fit', async () => {
    const few = memoryIndex({ maxDocuments: 2 });
    await few.index([doc('a', 'x'), doc('b', 'x')]);
    await expect(few.index([doc('a', 'new'), doc('c', 'x')])).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
    expect(await few.get(['a', 'b', 'c'])).toEqual([doc('a', 'x'), doc('b', 'x')]);
    await few.index([doc('a', 'new')]);

    const short = memoryIndex({ maxCharacters: 5 });
    await short.index([doc('a', '12345')]);
    await expect(short.index([doc('b', '1')])).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
    await short.index([doc('a', '54321')]);
  });

  it('has name and kinds, and refuses another index', async () => {
    const { index, retrieve } = memoryIndex({ name: 'notes' });
    expect([index.stepName, index.stepKind]).toEqual(['notes', 'indexer']);
    expect([retrieve.stepName, retrieve.stepKind]).toEqual(['notes', 'retriever']);
    await expect(index([], { index: 'other' })).rejects.toMatchObject({ code: 'OPTION_INVALID' });
    await expect(retrieve('x', { index: 'other' })).rejects.toMatchObject({ code: 'OPTION_INVALID' });
    expect(await retrieve('x', { index: 'notes' })).toEqual([]);
  });

  it('keeps the order of writes that are made at once', async () => {
    const index = memoryIndex();
    await Promise.all([
      index.index(Array.from({ length: 120 }, (_, at) => doc(`${at}`, 'first'))),
      index.index([doc('7', 'second')]),
      index.remove({ ids: ['8'] }),
    ]);
    expect(index.size).toBe(119);
    expect(ids(await index.retrieve('second'))).toEqual(['7']);
  });

  it('goes on after a write that failed', async () => {
    const index = memoryIndex();
    const remove = index.remove({
      filter: () => {
        throw new Error('never called: nothing is stored');
      },
    });
    expect(await remove).toBe(0);
    await index.index([doc('a', 'x')]);
    await expect(
      index.remove({
        filter: () => {
          throw new Error('wrong');
        },
      }),
    ).rejects.toThrow('wrong');
    await index.index([doc('b', 'x')]);
    expect(index.size).toBe(2);
  });

  it('stops when it is told', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    const index = memoryIndex();
    await expect(index.index([doc('a', 'x')], { signal })).rejects.toThrow('enough');
    await expect(index.retrieve('x', { signal })).rejects.toThrow('enough');
    expect(index.size).toBe(0);
  });

  property(
    'what is indexed, replaced and removed is found as if only the rest had been indexed',
    40,
    async (random) => {
      const words = ['pump', 'oil', 'valve', 'year', 'press', '压力'];
      const text = () => Array.from({ length: 1 + random.int(5) }, () => random.pick(words)).join(' ');
      const index = memoryIndex({ topK: 100 });
      const kept = new Map<string, ReturnType<typeof doc>>();
      for (let step = 0; step < 25; step += 1) {
        const id = `${random.int(8)}`;
        if (random.chance(0.3)) {
          kept.delete(id);
          await index.remove({ ids: [id] });
        } else {
          const document = doc(id, text());
          kept.set(id, document);
          await index.index([document]);
        }
      }
      const fresh = await filled([...kept.values()], { topK: 100 });
      for (const word of words) expect(await index.retrieve(word)).toEqual(await fresh.retrieve(word));
      expect(index.size).toBe(kept.size);
    },
  );
});

describe('an index in memory, by vectors', () => {
  const embedder = embedderOf('cat', 'dog', 'sea');

  it('finds what has the direction of the query, words apart', async () => {
    const index = await filled([doc('a', 'cat'), doc('b', 'cat dog'), doc('c', 'sea')], { embedder, keywordWeight: 0 });
    const found = await index.retrieve('cats');
    expect(ids(found)).toEqual(['a', 'b']);
    expect(found[0]?.score).toBeCloseTo(1, 6);
    expect(found[1]?.score).toBeCloseTo(Math.SQRT1_2, 6);
  });

  it('weighs words and vectors', async () => {
    const documents = [doc('words', 'harbour'), doc('vector', 'sea')];
    const byWords = await filled(documents, { embedder, keywordWeight: 0.9 });
    const byVectors = await filled(documents, { embedder, keywordWeight: 0.1 });
    expect(ids(await byWords.retrieve('harbour, seaside'))).toEqual(['words', 'vector']);
    expect(ids(await byVectors.retrieve('harbour, seaside'))).toEqual(['vector', 'words']);
  });

  it('uses the vector that a document brings, whatever its length', async () => {
    const asked: (readonly string[])[] = [];
    const counting: Embedder = {
      embed: async (texts, options) => {
        asked.push(texts);
        return await embedder.embed(texts, options);
      },
    };
    const own = doc('own', 'x', { denseVector: [0, 0, 40] });
    const index = await filled([own, doc('made', 'cat')], { embedder: counting, keywordWeight: 0 });
    expect(asked).toEqual([['cat']]);
    const [best] = await index.retrieve('sea');
    expect(best).toEqual({ ...own, score: 1 });
  });

  it('takes the embedder of a call before its own', async () => {
    const index = memoryIndex();
    await index.index([doc('a', 'cat'), doc('b', 'dog')], { embedder });
    expect(ids(await index.retrieve('dogfish', { embedder }))).toEqual(['b']);
    expect(await index.retrieve('dogfish')).toEqual([]);
  });

  it('refuses vectors of another length, and stores nothing of the call', async () => {
    const index = await filled([doc('a', 'cat')], { embedder });
    const other = embedderOf('cat', 'dog');
    await expect(index.index([doc('b', 'x'), doc('c', 'dog')], { embedder: other })).rejects.toMatchObject({
      code: 'EMBEDDING_MISMATCH',
    });
    await expect(index.retrieve('dog', { embedder: other })).rejects.toMatchObject({ code: 'EMBEDDING_MISMATCH' });
    expect(index.size).toBe(1);
    // All are replaced, so all may change.
    await index.index([doc('a', 'dog')], { embedder: other });
    expect(ids(await index.retrieve('dogs', { embedder: other }))).toEqual(['a']);
  });

  it('gives a vector of zeros no direction', async () => {
    const index = await filled([doc('a', 'nothing')], { embedder, keywordWeight: 0 });
    expect(await index.retrieve('cat')).toEqual([]);
    expect(await index.retrieve('nothing')).toEqual([]);
  });

  it.each([{ keywordWeight: -0.1 }, { keywordWeight: 2 }, { keywordWeight: 0.5 }, { topK: 0 }, { maxDocuments: 0 }])(
    'refuses %o without an embedder',
    (options) => {
      expect(() => memoryIndex(options)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
    },
  );
});
