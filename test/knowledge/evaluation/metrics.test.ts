import { describe, expect, it } from 'vitest';
import { meanMeasures, measuresOf, pairedBootstrap } from '../../../src/knowledge/evaluation/metrics.js';

const judged = new Map([
  ['a', 1],
  ['b', 1],
  ['no', 0],
]);

describe('measures', () => {
  it.each([
    // Computed by hand: 1 / log2(rank + 1), over 1 + 1 / log2(3).
    ['both first', ['a', 'b'], { 'ndcg@10': 1, map: 1, 'mrr@10': 1, 'recall@5': 1, 'hit@1': 1, 'perfect@5': 1 }],
    [
      'second and fourth',
      ['no', 'a', 'x', 'b'],
      { 'ndcg@10': 0.650921, map: 0.5, 'mrr@10': 0.5, 'hit@1': 0, 'perfect@8': 1 },
    ],
    ['one of two', ['a', 'x'], { 'ndcg@10': 0.613147, map: 0.5, 'recall@10': 0.5, 'perfect@8': 0 }],
    ['nothing', [], { 'ndcg@10': 0, map: 0, 'mrr@10': 0, 'recall@100': 0, 'perfect@8': 0 }],
    [
      'at rank eleven',
      [...'cdefghijkl'].map((id) => id + id).concat('a'),
      { 'ndcg@10': 0, map: 1 / 22, 'mrr@10': 0, 'recall@100': 0.5 },
    ],
  ])('of %s', (_, ranked, expected) => {
    const measures = measuresOf(ranked, judged);
    for (const [name, value] of Object.entries(expected)) {
      expect(measures[name as keyof typeof measures], name).toBeCloseTo(value, 5);
    }
  });

  it('weigh degrees of relevance', () => {
    const graded = new Map([
      ['a', 2],
      ['b', 1],
    ]);
    expect(measuresOf(['b', 'a'], graded)['ndcg@10']).toBeCloseTo((1 + 2 / Math.log2(3)) / (2 + 1 / Math.log2(3)), 10);
  });

  it('are 0 where nothing is relevant, and as a mean of nothing', () => {
    expect(measuresOf(['a'], new Map())['ndcg@10']).toBe(0);
    expect(meanMeasures([]).map).toBe(0);
  });
});

describe('the paired bootstrap', () => {
  it('gives the mean and an interval around it, the same for the same seed', () => {
    const ours = Array.from({ length: 50 }, (_, at) => ((at * 7) % 23) / 23);
    const theirs = ours.map((value, at) => value - (((at * 11) % 47) / 46) * 0.1);
    const difference = pairedBootstrap(ours, theirs);
    expect(difference.mean).toBeCloseTo(0.05, 1);
    expect(difference.low).toBeGreaterThan(0.03);
    expect(difference.high).toBeLessThan(0.07);
    expect(pairedBootstrap(ours, theirs)).toEqual(difference);
    expect(pairedBootstrap(ours, theirs, 2)).not.toEqual(difference);
  });

  it('is certain of a difference that is the same everywhere', () => {
    expect(pairedBootstrap([1, 1, 1], [0.5, 0.5, 0.5])).toEqual({ mean: 0.5, low: 0.5, high: 0.5 });
  });

  it('of no questions is 0', () => {
    expect(pairedBootstrap([], [])).toEqual({ mean: 0, low: 0, high: 0 });
  });
});
