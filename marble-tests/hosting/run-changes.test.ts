import { NEVER, type Observable, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { RunChanges } from '../../src/hosting/run-changes.js';
import type { Signals } from '../../src/records/coordination.js';
import { marbles } from '../support/scheduler.js';

/** Signals that give what a test plays, by channel, and keep what they are to send. */
function playedSignals(played: Readonly<Record<string, Observable<string>>> = {}) {
  const sent: string[] = [];
  const publish = (channel: string, message: string) => {
    sent.push(`${channel} ${message.replace(/^[^:]*/, 'id')}`);
    return Promise.resolve();
  };
  const messages = (channel: string) => played[channel] ?? NEVER;
  return { sent, signals: { publish, messages } as unknown as Signals };
}

const CHANGED = { x: undefined };

describe('changes of runs', () => {
  it('are told at once, and together those that come faster than twice a second', () =>
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const notes$ = hot('   --aaa 1995ms a 99ms a 99ms a 999ms a');
      const unsub = '        5s !';
      const expected = '   --x 499ms x 499ms x 997ms x 499ms x 699ms x';
      const changes = new RunChanges(playedSignals().signals);
      // Noted while the list is open, so that nothing is kept before.
      const open$ = changes.of('t');
      notes$.subscribe(() => changes.note('t'));
      expectObservable(open$, unsub).toBe(expected, CHANGED);
      expectSubscriptions(notes$.subscriptions).toBe('^');
      changes.close();
    }));

  it('are those of one tenant', () =>
    marbles(({ hot, expectObservable }) => {
      const notes$ = hot('2s a', { a: 'other' });
      const changes = new RunChanges(playedSignals().signals);
      notes$.subscribe((tenant) => changes.note(tenant));
      expectObservable(changes.of('t'), '5s !').toBe('1s x', CHANGED);
      changes.close();
    }));

  it('come from other processes, whose messages are not heard any more when the list is closed', () =>
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const elsewhere$ = hot('2s a---b 995ms c', { a: 'p', b: 'p', c: 'p' });
      const unsub = '         4s !';
      const expected = '      1s x 999ms x 499ms x 499ms x';
      const elsewhereSubs = ' ^ 3999ms !';
      const changes = new RunChanges(playedSignals({ 'runs-changed:t': elsewhere$ }).signals);
      expectObservable(changes.of('t'), unsub).toBe(expected, CHANGED);
      expectSubscriptions(elsewhere$.subscriptions).toBe(elsewhereSubs);
      changes.close();
    }));

  it('fail with the signals', () =>
    marbles(({ hot, expectObservable }) => {
      const elsewhere$ = hot('1500ms #');
      const changes = new RunChanges(playedSignals({ 'runs-changed:t': elsewhere$ }).signals);
      expectObservable(changes.of('t')).toBe('1s x 499ms #', CHANGED);
      changes.close();
    }));

  it.each([
    ['before it says so', 'a', []],
    ['soon after', '1001ms a', ['runs-changed:t id']],
    ['10 s after it said so last', '15998ms a', ['runs-changed:t id']],
    ['later', '16002ms a', []],
  ])('are sent to another process that watches: %s', (_, noted, expected) =>
    marbles(({ hot, flush, expectSubscriptions }) => {
      const watched$ = hot('1s w 4999ms w', { w: 'other:t' });
      const notes$ = hot(noted);
      const { signals, sent } = playedSignals({ 'runs-watched': watched$ });
      const changes = new RunChanges(signals);
      notes$.subscribe(() => changes.note('t'));
      expectSubscriptions(watched$.subscriptions).toBe('^');
      flush();
      expect(sent).toEqual(expected);
    }),
  );

  it('leave no timer and no listener behind', () =>
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const watched$ = hot('-w', { w: 'other:t' });
      const closing$ = cold('3s c');
      const changes = new RunChanges(playedSignals({ 'runs-watched': watched$ }).signals);
      closing$.subscribe(() => changes.close());
      expectSubscriptions(watched$.subscriptions).toBe('^ 2999ms !');
      expectObservable(changes.of('t'), '--!').toBe('', CHANGED);
    }));

  it('cost nothing while no list is open', () => {
    const { signals, sent } = playedSignals({ 'runs-watched': new Subject() });
    const changes = new RunChanges(signals);
    for (let at = 0; at < 1_000; at += 1) changes.note('t');
    expect(sent).toEqual([]);
    changes.close();
  });
});
