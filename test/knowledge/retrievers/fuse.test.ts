import { describe, expect, it } from 'vitest';
import { firstPlaces, type RankedList, reciprocalRank } from '../../../src/knowledge/retrievers/fuse.js';
import { property } from '../../support/random.js';
import { found, ids } from './support.js';

const lists = (...written: readonly (readonly string[])[]): RankedList[] =>
  written.map((documents, at) => ({ name: `${at}`, documents: found(...documents) }));

describe('fusion by reciprocal rank', () => {
  it('adds up what the ranks are worth', async () => {
    const fused = await reciprocalRank()(lists(['a', 'b'], ['b', 'c']), '');
    expect(ids(fused)).toEqual(['b', 'a', 'c']);
    expect(fused.map(({ score }) => score)).toEqual([1 / 62 + 1 / 61, 1 / 61, 1 / 62]);
  });

  it('puts equal scores in the order of ids, whatever the order of the lists', async () => {
    expect(ids(await reciprocalRank()(lists(['b'], ['c'], ['a']), ''))).toEqual(['a', 'b', 'c']);
  });

  it('puts five documents in rotated lists in the order of their sums', async () => {
    const rotated = lists(['1', '2', '3', '4', '5'], ['2', '3', '4', '5', '1'], ['3', '4', '5', '1', '2']);
    expect(ids(await reciprocalRank()(rotated, ''))).toEqual(['3', '2', '4', '1', '5']);
  });

  it('scores a single list as well', async () => {
    const [first] = await reciprocalRank({ k: 1 })(lists(['a:0.9']), '');
    expect(first).toMatchObject({ id: 'a', score: 0.5 });
  });

  it('counts a document once in each list', async () => {
    const fused = await reciprocalRank({ k: 1 })(lists(['a', 'a', 'b']), '');
    expect(fused.map(({ id, score }) => [id, score])).toEqual([
      ['a', 1 / 2],
      ['b', 1 / 3],
    ]);
  });

  it('weighs lists by name', async () => {
    const fused = await reciprocalRank({ weights: { '0': 0, '1': 2 } })(lists(['a'], ['b'], ['c']), '');
    expect(fused.map(({ id, score }) => [id, score])).toEqual([
      ['b', 2 / 61],
      ['c', 1 / 61],
      ['a', 0],
    ]);
  });

  it('gives nothing for no lists and for empty ones', async () => {
    expect(await reciprocalRank()([], '')).toEqual([]);
    expect(await reciprocalRank()(lists([], []), '')).toEqual([]);
  });

  it.each([{ k: 0 }, { k: Number.NaN }, { weights: { a: -1 } }])('refuses %o', (options) => {
    expect(() => reciprocalRank(options)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });

  property('does not depend on the order of the lists', 100, async (random) => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const given = lists(...Array.from({ length: 1 + random.int(5) }, () => random.shuffle(random.some(names, 0.6))));
    const order = (fused: readonly { id: string }[]) => fused.map(({ id }) => id);
    const other = await reciprocalRank()(random.shuffle(given), '');
    // Sums in another order differ by less than any two ranks do.
    expect(new Set(order(other))).toEqual(new Set(order(await reciprocalRank()(given, ''))));
    const scores = new Map((await reciprocalRank()(given, '')).map(({ id, score }) => [id, score ?? 0]));
    for (const { id, score } of other) expect(score).toBeCloseTo(scores.get(id) ?? -1, 12);
  });
});

describe('fusion by first places', () => {
  it('gives each document once, with its highest score', async () => {
    const fused = await firstPlaces()(lists(['a:0.1', 'b:0.9'], ['c', 'a:0.7', 'b:0.2']), '');
    expect(fused.map(({ id, score }) => [id, score])).toEqual([
      ['a', 0.7],
      ['b', 0.9],
      ['c', undefined],
    ]);
  });
});
