import { describe, it } from 'vitest';
import { type AnswerLimits, answerLimits } from '../../src/agents/loop/answer-limits.js';
import { EngineError } from '../../src/errors.js';
import { marbles } from '../support/scheduler.js';

const late = (what: string): EngineError =>
  new EngineError('MODEL_UNAVAILABLE', `The model of "guide" ${what} ms.`, { retryable: true });

describe('answerLimits', () => {
  it.each<[string, AnswerLimits, string, string, string, string]>([
    ['no limit', {}, '       -----a--b---|', '-----a--b---|', '^-----------!', ''],
    ['the first piece in time', { firstTokenMs: 6 }, '-----a------b|', '-----a------b|', '^------------!', ''],
    ['the first piece late', { firstTokenMs: 3 }, '  -----a|', '---#', '^--!', 'gave nothing within 3'],
    ['pieces in time', { silenceMs: 6 }, '           -a----b----|', '-a----b----|', '^----------!', ''],
    [
      'silence',
      { silenceMs: 3 },
      '                -a--b--------|',
      '-a--b--#',
      '^------!',
      'gave nothing more within 3',
    ],
    ['silence before the first piece', { silenceMs: 3 }, '-----a|', '---#', '^--!', 'gave nothing within 3'],
    [
      'both',
      { firstTokenMs: 6, silenceMs: 2 },
      '     -----a---b|',
      '-----a-#',
      '^------!',
      'gave nothing more within 2',
    ],
    ['an end in time', { totalMs: 8 }, '            -a--b--|', '-a--b--|', '^------!', ''],
    [
      'an end late',
      { totalMs: 8 },
      '               -a--b--c--d|',
      '-a--b--c#',
      '^-------!',
      'did not end its answer within 8',
    ],
    ['an error in time', { totalMs: 8, silenceMs: 5 }, '-a--#', '-a--#', '^---!', 'error'],
  ])('%s', (_, limits, pieces, result, subscribed, what) =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer = cold(pieces);
      expectObservable(answer.pipe(answerLimits('guide', limits))).toBe(
        result,
        undefined,
        what === 'error' ? what : late(what),
      );
      expectSubscriptions(answer.subscriptions).toBe(subscribed);
    }),
  );

  it('leaves no timer when its reader goes', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer = cold('-a---------|');
      const limits = { firstTokenMs: 3, silenceMs: 4, totalMs: 8 };
      expectObservable(answer.pipe(answerLimits('guide', limits)), '^--!').toBe('-a--');
      expectSubscriptions(answer.subscriptions).toBe('^--!');
    }));

  it('passes an answer on that comes at once', () =>
    marbles(({ cold, expectObservable }) => {
      const limits = { firstTokenMs: 1, silenceMs: 1, totalMs: 1 };
      expectObservable(cold('(ab|)').pipe(answerLimits('guide', limits))).toBe('(ab|)');
    }));
});
