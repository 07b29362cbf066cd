import { defer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import type { ChatModel } from '../../src/models/chat-model.js';
import { backoffMs, withRetries } from '../../src/models/retry-policy.js';
import { marbles } from '../support/scheduler.js';

const busy = new EngineError('MODEL_UNAVAILABLE', 'busy', { retryable: true });
const wrong = new EngineError('MODEL_REQUEST', 'wrong');
const patient = (retryAfterMs: number) =>
  new EngineError('MODEL_UNAVAILABLE', 'later', { retryable: true, details: { status: 429, retryAfterMs } });

const request = { model: 'm', messages: [], retries: { maxRetries: 2, delayMs: 4 } };
/** No jitter: the whole delay. */
const policy = { random: () => 1 };

describe('withRetries', () => {
  it('waits twice as long each time, and gives the last error when attempts run out', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('-#', {}, busy);
      const subs = [
        '                  ^!            ',
        '                  -----^!       ',
        '                  --------------^!',
      ];
      const expected = '   ---------------#';
      expectObservable(withRetries({ chat: () => source as never }, policy).chat(request)).toBe(expected, {}, busy);
      expectSubscriptions(source.subscriptions).toBe(subs);
    }));

  it('does not retry what is not retryable', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('-#', {}, wrong);
      expectObservable(withRetries({ chat: () => source as never }, policy).chat(request)).toBe('-#', {}, wrong);
      expectSubscriptions(source.subscriptions).toBe(['^!']);
    }));

  it('does not retry once something was heard', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('-a-#', undefined, busy);
      expectObservable(withRetries({ chat: () => source as never }, policy).chat(request)).toBe(
        '-a-#',
        undefined,
        busy,
      );
      expectSubscriptions(source.subscriptions).toBe(['^--!']);
    }));

  it('stops waiting when unsubscribed', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('-#', {}, busy);
      const unsub = '      ---!';
      expectObservable(withRetries({ chat: () => source as never }, policy).chat(request), unsub).toBe('----', {});
      expectSubscriptions(source.subscriptions).toBe(['^!']);
    }));

  it('waits as long as the provider asks, a minute at most', () =>
    marbles(({ cold, expectObservable }) => {
      const attempts = [cold('#', {}, patient(10)), cold('#', {}, patient(3_600_000)), cold('a|')];
      const model: ChatModel = { chat: () => defer(() => attempts.shift() as never) };
      expectObservable(withRetries(model, policy).chat(request)).toBe('10ms 60s a|');
    }));
});

describe('backoffMs', () => {
  it.each([
    [1, 2_000, 0, 1_000],
    [1, 2_000, 1, 2_000],
    [3, 2_000, 0.5, 6_000],
    [6, 2_000, 1, 60_000],
    [100, 2_000, 0, 30_000],
    [2_000, 2_000, 1, 60_000],
    [5, 0, 0.7, 0],
  ])('attempt %i, base %i ms, random %d: %i ms', (attempt, baseMs, random, expected) => {
    expect(backoffMs(attempt, baseMs, () => random)).toBe(expected);
  });
});
