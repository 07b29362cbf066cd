import { describe, expect, it } from 'vitest';
import { pairedBootstrap } from '../../../src/knowledge/evaluation/metrics.js';
import { answerRoutes, movedCount } from '../../../web/evaluation/answer-routes.js';
import { compareMeasures, orderedQuestions, SEED } from '../../../web/evaluation/compare-results.js';
import { type EvaluationResult, readResult } from '../../../web/evaluation/evaluation-result.js';

const collection = (values: readonly number[], more: object = {}) =>
  readResult(
    'a.json',
    JSON.stringify({
      folder: 'cats',
      means: { map: values.reduce((sum, value) => sum + value, 0) / values.length },
      questions: values.map((map, at) => ({ id: `q${at}`, measures: { map }, ms: 1 })),
      ...more,
    }),
  ) as EvaluationResult;

describe('results of an evaluation', () => {
  it('are read from one of a collection', () => {
    const result = collection([1, 0.5]);
    expect(result).toMatchObject({ fileName: 'a.json', of: 'cats', measures: ['map'], means: { map: 0.75 } });
    expect(result.questions[1]).toEqual({ id: 'q1', values: { map: 0.5 }, about: { ms: 1 } });
  });

  it('are read from one of golden questions, under the names of the rates', () => {
    const question = { id: 'g1', keywordPass: true, sourcePass: false, wrongShortcut: true };
    const text = JSON.stringify({
      file: 'g.jsonl',
      rates: { source_pass: 0, keyword_pass: 1 },
      questions: [
        { ...question, citationPrecision: 0.5, judgement: { verdict: 'pass' } },
        { ...question, id: 'g2', judgement: { verdict: 'unclear' } },
      ],
    });
    const [first, second] = readResult('g.json', text)?.questions ?? [];
    const passes = { source_pass: 0, keyword_pass: 1, right_route: 0 };
    expect(first?.values).toEqual({ ...passes, citation_precision: 0.5, judge_pass: 1 });
    expect(second?.values).toEqual(passes);
  });

  it.each([
    ['no JSON', '{'],
    ['something else', '{"a":1}'],
    ['no question', '{"means":{"map":1},"questions":[]}'],
    ['no measure', '{"means":{},"questions":[{"id":"a","measures":{}}]}'],
    ['values that are no numbers', '{"means":{"map":"<img>"},"questions":[{"id":"a","measures":{"map":1}}]}'],
  ])('are none in a file with %s', (_, text) => {
    expect(readResult('x.json', text)).toBeUndefined();
  });

  it('are compared over the questions of both, with the intervals of the command line', () => {
    const [a, b] = [
      [0.1, 0.2, 0.3, 0.4],
      [0.2, 0.3, 0.5, 0.4],
    ] as const;
    const [line] = compareMeasures(collection(a), collection(b));
    expect(line?.difference).toEqual({ ...pairedBootstrap(b, a, SEED), questions: 4 });
    expect(compareMeasures(collection(a), collection([0.2]))[0]?.difference?.questions).toBe(1);
    expect(compareMeasures(collection(a), undefined)[0]).not.toHaveProperty('difference');
  });

  it('are ordered by what changed most, alone by what is weakest', () => {
    const ids = (lines: readonly { readonly id: string }[]) => lines.map(({ id }) => id);
    const a = collection([0.9, 0.1, 0.5]);
    expect(ids(orderedQuestions(a, undefined, 'map'))).toEqual(['q1', 'q2', 'q0']);
    expect(ids(orderedQuestions(a, collection([0.9, 0.2, 0.9]), 'map'))).toEqual(['q2', 'q1', 'q0']);
  });

  it('are told by the way that answers took, with what each way is worth and costs', () => {
    const answers = (...routes: readonly string[]) =>
      readResult(
        'a.json',
        JSON.stringify({
          file: 'g.jsonl',
          rates: { keyword_pass: 0.5 },
          questions: routes.map((route, at) => ({
            id: `q${at}`,
            route,
            keywordPass: at === 0,
            ms: at * 10,
            tokens: at,
          })),
        }),
      ) as EvaluationResult;
    const [a, b] = [answers('B', 'KB', 'KB', 'KB'), answers('KB', 'KB', 'KB', 'failed')];
    expect(answerRoutes(a, b)).toEqual([
      { route: 'KB', slot: 'a', count: 3, share: 0.75, means: { keyword_pass: 0 }, medianMs: 20, meanTokens: 2 },
      { route: 'KB', slot: 'b', count: 3, share: 0.75, means: { keyword_pass: 1 / 3 }, medianMs: 10, meanTokens: 1 },
      { route: 'B', slot: 'a', count: 1, share: 0.25, means: { keyword_pass: 1 }, medianMs: 0, meanTokens: 0 },
      { route: 'failed', slot: 'b', count: 1, share: 0.25, means: { keyword_pass: 0 }, medianMs: 30, meanTokens: 3 },
    ]);
    expect(movedCount(a, b)).toBe(2);
    expect(answerRoutes(collection([1]), undefined)).toEqual([]);
  });
});
