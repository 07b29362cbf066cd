import { describe, expect, it } from 'vitest';
import { bestFirstAndLast, rerank, rerankedRetriever } from '../../../src/knowledge/retrievers/rerank.js';
import type { Reranker } from '../../../src/models/single-answer.js';
import { answering, found, ids } from './support.js';

/** Scores by the last letter of a text: a is 1, b is 2 … */
function scoring(): Reranker & { readonly asked: (readonly string[])[] } {
  const asked: (readonly string[])[] = [];
  return {
    asked,
    async rerank(query, documents) {
      asked.push([query, ...documents]);
      return documents.map((text) => (text.codePointAt(text.length - 1) ?? 0) - 96);
    },
  };
}

describe('putting documents in the order of a model', () => {
  it('gives them its scores, the best first', async () => {
    const order = rerank(scoring());
    expect(
      (await order({ query: 'q', documents: found('b:9', 'c', 'a') })).map(({ id, score }) => [id, score]),
    ).toEqual([
      ['c', 3],
      ['b', 2],
      ['a', 1],
    ]);
    expect([order.stepName, order.stepKind]).toEqual(['rerank', 'transformer']);
  });

  it('gives no more than it may, and leaves out what scores too low', async () => {
    const documents = found('a', 'b', 'c');
    expect(ids(await rerank(scoring(), { topK: 2 })({ query: 'q', documents }))).toEqual(['c', 'b']);
    expect(ids(await rerank(scoring(), { scoreThreshold: 3 })({ query: 'q', documents }))).toEqual(['c']);
  });

  it('shows the model the first documents alone, and makes no call for none', async () => {
    const model = scoring();
    const order = rerank(model, { maxDocuments: 2 });
    expect(ids(await order({ query: 'q', documents: found('a', 'b', 'c') }))).toEqual(['b', 'a']);
    expect(await order({ query: 'q', documents: [] })).toEqual([]);
    expect(model.asked).toEqual([['q', 'text of a', 'text of b']]);
  });

  it.each([[[1]], [[1, 2, 3]], [[1, Number.NaN]]])('refuses the scores %o for two documents', async (scores) => {
    const order = rerank({ rerank: async () => scores });
    await expect(order({ query: 'q', documents: found('a', 'b') })).rejects.toMatchObject({ code: 'MODEL_RESPONSE' });
  });

  it.each([{ topK: 0 }, { maxDocuments: 0 }])('refuses %o', (options) => {
    expect(() => rerank(scoring(), options)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });
});

describe('a retriever whose documents are put in order anew', () => {
  it('asks for candidates, and applies the bounds of the call afterwards', async () => {
    const { retriever, options } = answering({ q: ['a', 'c', 'b'] });
    const retrieve = rerankedRetriever({ retriever, rerank: rerank(scoring()), candidates: 20 });
    expect(ids(await retrieve('q', { topK: 2, scoreThreshold: 3, subIndex: 'x' }))).toEqual(['c']);
    expect(options).toEqual([{ topK: 20, subIndex: 'x' }]);
    await retrieve('q', { topK: 50 });
    expect(options[1]).toEqual({ topK: 50 });
  });

  it('asks for what the call wants without candidates of its own', async () => {
    const { retriever, options } = answering({ q: ['a', 'b'] });
    const retrieve = rerankedRetriever({ retriever, rerank: rerank(scoring()) });
    expect(ids(await retrieve('q'))).toEqual(['b', 'a']);
    expect(ids(await retrieve('q', { topK: 1 }))).toEqual(['b']);
    expect(options).toEqual([{}, { topK: 1 }]);
  });
});

describe('the best documents first and last', () => {
  it.each([
    [[], []],
    [['a:1'], ['a']],
    [
      ['a:1', 'b:2'],
      ['b', 'a'],
    ],
    [
      ['a:1', 'b:5', 'c:3', 'd:4', 'e:2'],
      ['b', 'c', 'a', 'e', 'd'],
    ],
    [
      ['a:1', 'b:2', 'c:3', 'd:4'],
      ['d', 'b', 'a', 'c'],
    ],
    [
      ['a', 'b', 'c'],
      ['a', 'c', 'b'],
    ],
  ])('makes %o to %o', async (given, expected) => {
    expect(ids(await bestFirstAndLast()(found(...given)))).toEqual(expected);
  });

  it('takes the score from the metadata or from a function', async () => {
    const documents = found('a', 'b', 'c').map((document, at) => ({ ...document, metadata: { rank: at, name: 'x' } }));
    expect(ids(await bestFirstAndLast({ scoreOf: 'rank' })(documents))).toEqual(['c', 'a', 'b']);
    expect(ids(await bestFirstAndLast({ scoreOf: 'name' })(documents))).toEqual(['a', 'c', 'b']);
    expect(ids(await bestFirstAndLast({ scoreOf: ({ id }) => -id.charCodeAt(0) })(documents))).toEqual(['a', 'c', 'b']);
  });
});
