import { describe, expect, it } from 'vitest';
import type { GoldenQuestion } from '../../../src/chat/evaluation/golden-file.js';
import { compareGolden, goldenResult } from '../../../src/chat/evaluation/golden-result.js';
import type { Verdict } from '../../../src/chat/evaluation/judge-answer.js';
import { type ChatEnd, scoreAnswer, stageTimes } from '../../../src/chat/evaluation/score-answer.js';

const QUESTION: GoldenQuestion = {
  ...{ id: 'q', category: 'c', question: '?', match: 'any', difficulty: 'easy', answerable: true },
  ...{ expected_keywords: ['Oslo', 'Bergen'], expected_sources: ['cities.md'] },
};

type Final = Extract<ChatEnd, { type: 'final' }>;

const FINAL: Final = {
  ...{ type: 'final', trace_id: '', total_ms: 1, response: 'OSLO it is [1].', removed_citations: 0, shortcut: null },
  ...{ mode: 'KB', model: 'm', usage: {}, stages: [], degraded: [] },
  evidence: [{ n: 1, id: 'e', type: 'kb', source: 'docs/Cities.md', text: 'Oslo' }],
  citations: [{ n: 1, at: 11, supported: true }],
};
const ERROR: ChatEnd = { type: 'error', code: 'MODEL_UNAVAILABLE', message: 'No model.' };

describe('scoreAnswer', () => {
  it.each<[string, Partial<GoldenQuestion>, Partial<Final>, object]>([
    ['an answer with a keyword and a source', {}, {}, { keywordPass: true, sourcePass: true, citationPrecision: 1 }],
    ['one of two keywords where all are wanted', { match: 'all' }, {}, { keywordPass: false }],
    ['full-width letters', { expected_keywords: ['ＯＳＬＯ'] }, {}, { keywordPass: true }],
    ['no keyword', {}, { response: 'Rome' }, { keywordPass: false }],
    ['another source', { expected_sources: ['towns.md'] }, {}, { sourcePass: false }],
    ['any source where none is named', { expected_sources: [] }, {}, { sourcePass: true }],
    ['no evidence where none is named', { expected_sources: [] }, { evidence: [] }, { sourcePass: false }],
    ['a citation without support', {}, { citations: [{ n: 1, at: 0, supported: false }] }, { citationPrecision: 0 }],
    ['no citation', {}, { citations: [] }, { citationPrecision: undefined }],
    ['a wrong short circuit', {}, { shortcut: 'C', evidence: [] }, { wrongShortcut: true, sourcePass: false }],
    ['a right short circuit', { answerable: false }, { shortcut: 'C' }, { wrongShortcut: false, sourcePass: true }],
    ['evidence for what cannot be answered', { answerable: false }, {}, { sourcePass: false, wrongShortcut: false }],
  ])('judges %s', (_, question, final, expected) => {
    expect(scoreAnswer({ ...QUESTION, ...question }, { ...FINAL, ...final })).toMatchObject(expected);
  });

  it('passes nothing of a chat that failed', () => {
    const score = { keywordPass: false, sourcePass: false, citationPrecision: undefined, wrongShortcut: true };
    expect(scoreAnswer(QUESTION, ERROR)).toEqual(score);
  });
});

describe('stageTimes', () => {
  it('has the times of stages that ran, and how many were over their budget', () => {
    const stage = (ms: number, status: 'ok' | 'skipped' = 'ok') => ({
      stage: 1 as const,
      name: 'Memory Load',
      ms,
      status,
    });
    const ends = [stage(10), stage(60), stage(0, 'skipped')].map((one) => ({ ...FINAL, stages: [one] }));
    const [first, second] = stageTimes([...ends, ERROR]);
    expect(first).toMatchObject({ name: 'Memory Load', p50: 60, p99: 60, budgetMs: 50, overBudget: 1, ran: 2 });
    expect(second).toMatchObject({ name: 'Query Rewrite', p50: 0, ran: 0 });
  });
});

describe('goldenResult and compareGolden', () => {
  const many = (count: number, end: ChatEnd) =>
    goldenResult(Array.from({ length: count }, (_, at) => ({ question: { ...QUESTION, id: `q${at}` }, end })));

  it('gives rates; one without any value is full', () => {
    const mixed = goldenResult([
      { question: QUESTION, end: { ...FINAL, citations: [] } },
      { question: { ...QUESTION, id: 'r' }, end: ERROR },
    ]);
    expect(mixed.rates).toEqual({ source_pass: 0.5, keyword_pass: 0.5, citation_precision: 1, right_route: 0.5 });
    expect(mixed.wrongShortcuts).toBe(1);
  });

  it('names what is lower with certainty, and the questions that changed', () => {
    const [good, bad] = [many(20, FINAL), many(20, ERROR)];
    const worse = compareGolden(bad, good);
    expect(worse.regressions).toEqual(['source_pass', 'keyword_pass', 'right_route']);
    expect(worse.changed).toHaveLength(20);
    expect(worse.changed[0]).toMatchObject({ id: 'q0', higher: [] });
    expect(compareGolden(good, good)).toMatchObject({ regressions: [], changed: [] });
    expect(compareGolden(good, bad).regressions).toEqual([]);
  });

  it('has the rate of a judge of what it decided on, and compares only that', () => {
    const judged = (...verdicts: readonly Verdict[]) =>
      goldenResult(
        verdicts.map((verdict, at) => ({
          ...{ question: { ...QUESTION, id: `q${at}` }, end: FINAL },
          judgement: { verdict, reasons: [] },
        })),
        'm',
      );
    const mixed = judged('pass', 'pass', 'fail', 'undecided', 'not_judged');
    expect(mixed.rates.judge_pass).toBeCloseTo(2 / 3);
    expect(mixed.judged).toEqual({ by: 'm', counts: { pass: 2, fail: 1, undecided: 1, not_judged: 1 } });
    expect(judged('undecided', 'not_judged').rates.judge_pass).toBe(0);
    const comparison = compareGolden(mixed, judged('pass', 'undecided', 'pass', 'pass', 'fail'));
    expect(comparison.changed).toEqual([{ id: 'q2', lower: ['judge_pass'], higher: [] }]);
    expect(comparison.differences.judge_pass?.mean).toBeCloseTo(-0.5);
    expect(compareGolden(mixed, many(5, FINAL)).differences.judge_pass).toBeUndefined();
  });
});
