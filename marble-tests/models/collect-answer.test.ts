import { describe, it } from 'vitest';
import type { ChatDelta } from '../../src/models/chat-model.js';
import { collectAnswer } from '../../src/models/collect-answer.js';
import { marbles } from '../support/scheduler.js';

const deltas: Record<string, ChatDelta> = {
  h: { type: 'thinking', text: 'hm' },
  t: { type: 'text', text: 'a' },
  c: { type: 'tool-call', index: 0, id: '1', name: 'add', arguments: '{}' },
  u: { type: 'usage', promptTokens: 1, completionTokens: 2, totalTokens: 3 },
  f: { type: 'finish', reason: 'stop' },
};
const empty = { text: '', thinking: '', toolCalls: [], usage: undefined, finishReason: 'unknown' };
const whole = {
  text: 'aa',
  thinking: 'hm',
  toolCalls: [{ id: '1', name: 'add', arguments: '{}' }],
  usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 },
  finishReason: 'stop',
};

describe('collectAnswer', () => {
  it('gathers all deltas into one answer', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('-h-t-t-c-u-f|   ', deltas);
      const sub = '        ^-----------!   ';
      const expected = '   ------------(a|)';
      expectObservable(source.pipe(collectAnswer())).toBe(expected, { a: whole });
      expectSubscriptions(source.subscriptions).toBe(sub);
    }));

  it('gives an empty answer for an empty source', () =>
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold<ChatDelta>('--|').pipe(collectAnswer())).toBe('--(a|)', { a: empty });
    }));

  it('gives nothing when the source fails', () =>
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold('-t-#', deltas).pipe(collectAnswer())).toBe('---#');
    }));

  it('lets go when unsubscribed', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('-t-----', deltas);
      expectObservable(source.pipe(collectAnswer()), '---!').toBe('----');
      expectSubscriptions(source.subscriptions).toBe('^--!');
    }));

  it('starts anew with every subscription, also of a synchronous source', () =>
    marbles(({ cold, expectObservable }) => {
      const answer$ = cold('(thtcuf|)', deltas).pipe(collectAnswer());
      expectObservable(answer$).toBe('(a|)', { a: whole });
      expectObservable(answer$, '--^').toBe('--(a|)', { a: whole });
    }));
});
