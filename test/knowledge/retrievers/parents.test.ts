import { describe, expect, it } from 'vitest';
import { type KnowledgeDocument, knowledgeDocument } from '../../../src/knowledge/knowledge-document.js';
import { memoryIndex } from '../../../src/knowledge/memory-index.js';
import { parentIndexer, parentRetriever } from '../../../src/knowledge/retrievers/parents.js';
import { splitByCharacters } from '../../../src/knowledge/splitters/split-by-characters.js';
import { ids } from './support.js';

const doc = (id: string, text: string, metadata = {}) => knowledgeDocument({ id, text, metadata });
const words = splitByCharacters({ size: 8, separators: [' '] });

/** An indexer that stores nothing and tells what it was given. */
function recording() {
  const stored: KnowledgeDocument[] = [];
  const indexer = async (documents: readonly KnowledgeDocument[]) => {
    stored.push(...documents);
    return ids(documents);
  };
  return { indexer, stored };
}

describe('an indexer of parts', () => {
  it('stores parts with the ids of their parents, and gives the ids of the parts', async () => {
    const { indexer, stored } = recording();
    const index = parentIndexer({ indexer, split: words, idOf: (id, at) => `${id}${at}` });
    expect(await index([doc('x', 'pump oil valve'), doc('y', 'news')])).toEqual(['x0', 'x1', 'y0']);
    expect(stored.map(({ text, metadata: { parentId, ancestorIds } }) => [text, parentId, ancestorIds])).toEqual([
      ['pump oil', 'x', ['x']],
      ['valve', 'x', ['x']],
      ['news', 'y', ['y']],
    ]);
    expect([index.stepName, index.stepKind]).toEqual(['parentIndexer', 'indexer']);
  });

  it('knows whose parts they are, whatever ids the splitter gives', async () => {
    const { indexer, stored } = recording();
    const split = async ([document]: readonly KnowledgeDocument[]) => [
      doc('same', `${document?.text} 1`),
      doc('same', `${document?.text} 2`),
    ];
    await parentIndexer({ indexer, split, parentKey: 'of' })([doc('x', 'X'), doc('y', 'Y')]);
    expect(stored.map(({ id, metadata: { of } }) => [id, of])).toEqual([
      ['x#0', 'x'],
      ['x#1', 'x'],
      ['y#0', 'y'],
      ['y#1', 'y'],
    ]);
  });

  it('keeps the ids of all documents before when parts are split again', async () => {
    const first = recording();
    await parentIndexer({ indexer: first.indexer, split: splitByCharacters({ size: 16 }) })([
      doc('x', 'pump oil\n\nvalve and more'),
    ]);
    const second = recording();
    await parentIndexer({ indexer: second.indexer, split: words })(first.stored);
    expect(second.stored.map(({ id, metadata: { parentId, ancestorIds } }) => [id, parentId, ancestorIds])).toEqual([
      ['x#0#0', 'x#0', ['x', 'x#0']],
      ['x#1#0', 'x#1', ['x', 'x#1']],
      ['x#1#1', 'x#1', ['x', 'x#1']],
    ]);
  });

  it('replaces the parts of a document that changed, and takes out those that are gone', async () => {
    const parts = memoryIndex();
    const index = parentIndexer({
      indexer: parts.index,
      split: words,
      removeStale: ({ parentId, keep }) => parts.remove({ filter: { parentId }, except: keep }),
    });
    await index([doc('x', 'pump oil valve motor'), doc('y', 'motor')]);
    expect(await index([doc('x', 'pump')])).toEqual(['x#0']);
    expect(ids(await parts.retrieve('motor valve pump oil'))).toEqual(['x#0', 'y#0']);
    await index([doc('x', '')]);
    expect(parts.size).toBe(1);
  });

  it('stores nothing when there is nothing to store, and the parents where they are wanted', async () => {
    const { indexer, stored } = recording();
    const parents = recording();
    const index = parentIndexer({ indexer, split: words, parents: parents.indexer });
    expect(await index([doc('x', ' ')])).toEqual([]);
    expect([ids(stored), ids(parents.stored)]).toEqual([[], ['x']]);
  });

  it('refuses two documents or two parts with one id, before anything is stored', async () => {
    const { indexer, stored } = recording();
    const same = parentIndexer({ indexer, split: words });
    await expect(same([doc('x', 'a'), doc('x', 'b')])).rejects.toMatchObject({ code: 'CONFLICT' });
    const rule = parentIndexer({ indexer, split: words, idOf: (id) => id });
    await expect(rule([doc('x', 'pump oil valve')])).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(stored).toEqual([]);
  });

  it('passes the options of the call on', async () => {
    const parts = memoryIndex();
    await parentIndexer({ indexer: parts.index, split: words })([doc('x', 'pump')], { subIndexes: ['a'] });
    expect(ids(await parts.retrieve('pump', { subIndex: 'a' }))).toEqual(['x#0']);
  });
});

describe('a retriever of parents', () => {
  const part = (id: string, parentId: string | undefined, score?: number): KnowledgeDocument =>
    knowledgeDocument({
      id,
      text: id,
      metadata: parentId === undefined ? {} : { parentId },
      ...(score !== undefined && { score }),
    });
  const all = async (wanted: readonly string[]) => wanted.map((id) => doc(id, `whole ${id}`)).reverse();
  const finding =
    (...parts: readonly KnowledgeDocument[]) =>
    async () => [...parts];

  it('gives each parent once, in the order of the first parts, with the best score of them', async () => {
    const retriever = finding(part('1', 'b', 0.7), part('2', 'a', 0.9), part('3', 'b', 0.5), part('4', 'c'));
    const retrieve = parentRetriever({ retriever, parents: all });
    expect((await retrieve('q')).map(({ id, text, score }) => [id, text, score])).toEqual([
      ['b', 'whole b', 0.7],
      ['a', 'whole a', 0.9],
      ['c', 'whole c', undefined],
    ]);
    expect([retrieve.stepName, retrieve.stepKind]).toEqual(['parentRetriever', 'retriever']);
  });

  it('leaves parts without a parent out, or keeps them in their place', async () => {
    const retriever = finding(
      part('1', undefined),
      part('2', 'a'),
      knowledgeDocument({ id: '3', text: '', metadata: { parentId: 7 } }),
    );
    expect(ids(await parentRetriever({ retriever, parents: all })('q'))).toEqual(['a']);
    expect(ids(await parentRetriever({ retriever, parents: all, withoutParent: 'keep' })('q'))).toEqual([
      '1',
      'a',
      '3',
    ]);
  });

  it('reports parents that are not there', async () => {
    const retriever = finding(part('1', 'a'), part('2', 'gone'));
    const parents = async () => [doc('a', 'A')];
    await expect(parentRetriever({ retriever, parents })('q')).rejects.toMatchObject({
      code: 'NOT_FOUND',
      details: { ids: ['gone'] },
    });
    expect(ids(await parentRetriever({ retriever, parents, missing: 'skip' })('q'))).toEqual(['a']);
    const told: (readonly string[])[] = [];
    expect(ids(await parentRetriever({ retriever, parents, missing: (lost) => told.push(lost) })('q'))).toEqual(['a']);
    expect(told).toEqual([['gone']]);
  });

  it('asks for no parents when nothing is found', async () => {
    const parents = async () => {
      throw new Error('asked');
    };
    expect(await parentRetriever({ retriever: finding(), parents })('q')).toEqual([]);
  });

  it('finds the whole document through parts of parts', async () => {
    const [wholes, sections, parts] = [memoryIndex(), memoryIndex(), memoryIndex()];
    const first = parentIndexer({
      indexer: sections.index,
      split: splitByCharacters({ size: 16 }),
      parents: wholes.index,
    });
    const sectionIds = await first([doc('x', 'pump oil\n\nvalve and more')]);
    await parentIndexer({ indexer: parts.index, split: words })(await sections.get(sectionIds));
    const nearest = parentRetriever({ retriever: parts.retrieve, parents: sections.get });
    expect((await nearest('valve')).map(({ id, text }) => [id, text])).toEqual([['x#1', 'valve and more']]);
    const whole = parentRetriever({ retriever: parts.retrieve, parents: wholes.get, level: 'first' });
    expect(ids(await whole('valve'))).toEqual(['x']);
  });

  it('refuses an empty name of metadata', () => {
    expect(() => parentRetriever({ retriever: finding(), parents: all, parentKey: '' })).toThrow(
      expect.objectContaining({ code: 'OPTION_INVALID' }),
    );
  });
});
