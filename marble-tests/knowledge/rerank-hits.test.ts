import { map } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import { rerankHits, textsToRerank } from '../../src/knowledge/base/rerank-hits.js';
import type { KnowledgeHit } from '../../src/knowledge/base/retrieval.js';
import { marbles } from '../support/scheduler.js';

/** Hits whose names are their ids and texts, with falling similarities. */
const hitsOf = (...names: readonly string[]): readonly KnowledgeHit[] =>
  names.map((id, at) => ({
    chunk: { id, text: id, context: id === 'row' ? 'head' : '' } as KnowledgeHit['chunk'],
    document: { id: 'd' } as KnowledgeHit['document'],
    similarity: 0.9 - at / 1_000,
    termSimilarity: 0.5,
    vectorSimilarity: 0,
    scores: { bm25: 0.5 },
  }));

const told = ({ chunk, similarity }: KnowledgeHit): string => `${chunk.id} ${similarity}`;

/** What comes of scores, as lines. */
const reranked = (hits: readonly KnowledgeHit[], scores: readonly number[], threshold = 0): readonly string[] => {
  let lines: readonly string[] = [];
  marbles(({ cold, flush }) => {
    rerankHits(hits, cold('(s|)', { s: scores }), threshold).subscribe((found) => {
      lines = found.failure === undefined ? found.hits.map(told) : [found.failure.code, ...found.hits.map(told)];
    });
    flush();
  });
  return lines;
};

describe('rerankHits', () => {
  const hits = hitsOf('a', 'b', 'c');

  it('puts hits in the order of the scores, as soon as these come', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const scores$ = cold('--(s|)', { s: [0.1, 0.8, 0.3] });
      const result$ = rerankHits(hits, scores$, 0).pipe(map((found) => found.hits.map(told).join()));
      expectObservable(result$).toBe('--(r|)', { r: 'b 0.8,c 0.3,a 0.1' });
      expectSubscriptions(scores$.subscriptions).toBe('^-!');
    }));

  it('does not wait for a model that is late', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const scores$ = cold<readonly number[]>('2s (s|)', { s: [0.1, 0.8, 0.3] });
      const failure = new EngineError('RUN_TIMEOUT', 'The reranking model did not answer within 1000 ms.');
      expectObservable(rerankHits(hits, scores$, 0)).toBe('1s (r|)', { r: { hits, failure } });
      expectSubscriptions(scores$.subscriptions).toBe('^ 999ms !');
    }));

  it('keeps the order when the model fails', () =>
    marbles(({ cold, expectObservable }) => {
      const failure = new EngineError('MODEL_UNAVAILABLE', '429');
      expectObservable(rerankHits(hits, cold('--#', {}, failure), 0)).toBe('--(r|)', { r: { hits, failure } });
    }));

  it('passes on what is no failure of a model', () =>
    marbles(({ cold, expectObservable }) => {
      expectObservable(rerankHits(hits, cold('#', {}, new TypeError('a mistake')), 0)).toBe(
        '#',
        {},
        new TypeError('a mistake'),
      );
    }));

  it('ends with its reader', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const scores$ = cold<readonly number[]>('-----(s|)', { s: [] });
      expectObservable(rerankHits(hits, scores$, 0), '^--!').toBe('----');
      expectSubscriptions(scores$.subscriptions).toBe('^--!');
    }));

  it.each([
    ['too few', [0.1, 0.2]],
    ['too many', [0.1, 0.2, 0.3, 0.4]],
    ['no numbers', [0.1, Number.NaN, 0.3]],
  ])('keeps the order for scores that make no sense: %s', (_, scores) => {
    expect(reranked(hits, scores)).toEqual(['MODEL_RESPONSE', 'a 0.9', 'b 0.899', 'c 0.898']);
  });

  it('brings other scores between 0 and 1', () => {
    expect(reranked(hits, [-3, 0, 1_000])).toEqual(['c 1', 'b 0.5', `a ${1 / (1 + Math.exp(3))}`]);
  });

  it('keeps equal scores in their order, and leaves out what is below the threshold', () => {
    expect(reranked(hits, [0.4, 0.2, 0.4], 0.3)).toEqual(['a 0.4', 'c 0.4']);
  });

  it('keeps what the model did not read behind the rest, no similarity above those before it', () => {
    const many = hitsOf(...Array.from({ length: 60 }, (_, at) => `h${at}`));
    expect(textsToRerank(many)).toHaveLength(50);
    const scores = many.slice(0, 50).map((_, at) => 0.5 + at / 1_000);
    const lines = reranked(many, scores);
    expect(lines).toHaveLength(60);
    expect(lines[0]).toBe('h49 0.549');
    expect(lines.slice(49, 52)).toEqual(['h0 0.5', 'h50 0.5', 'h51 0.5']);
    expect(reranked(many, scores, 0.52)).toHaveLength(30);
  });

  it('lets the model read what stands above a passage', () => {
    expect(textsToRerank(hitsOf('row', 'plain'))).toEqual(['head\nrow', 'plain']);
  });
});
