import { map } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { type EvidenceChannel, type FoundEvidence, gatherEvidence } from '../../src/chat/stages/gather-evidence.js';
import { EngineError } from '../../src/errors.js';
import { marbles } from '../support/scheduler.js';

const found = (...ids: readonly string[]): readonly FoundEvidence[] =>
  ids.map((id) => ({ id, type: 'kb', source: `${id}.md`, text: id }));

describe('gatherEvidence', () => {
  it('gives what all channels found, numbered in their order, as soon as the last has ended', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }, now) => {
      const slow$ = cold('------(s|)', { s: found('a', 'b') });
      const quick$ = cold('--q---', { q: found('b', 'c') });
      const none$ = cold<readonly FoundEvidence[]>('-|');
      const channels: readonly EvidenceChannel[] = [
        { name: 'knowledge', find$: slow$ },
        { name: 'links', find$: quick$ },
        { name: 'weather', args: { city: 'Oslo' }, find$: none$ },
      ];
      const [a, b, c] = found('a', 'b', 'c');
      expectObservable(gatherEvidence({ channels, now })).toBe('------(r|)', {
        r: {
          value: [
            { ...a, n: 1 },
            { ...b, n: 2 },
            { ...c, n: 3 },
          ],
          detail: {
            channels: [
              { name: 'knowledge', ms: 6, found: 2 },
              { name: 'links', ms: 2, found: 2 },
              { name: 'weather', args: { city: 'Oslo' }, ms: 1, found: 0 },
            ],
          },
          status: 'ok',
        },
      });
      expectSubscriptions(quick$.subscriptions).toBe('^-!');
    }));

  it('waits longer for a channel that has a limit of its own, and no longer for the others', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }, now) => {
      const slow$ = cold('70ms (s|)', { s: found('s') });
      const late$ = cold('70ms (l|)', { l: found('l') });
      const channels = [
        { name: 'knowledge', limitMs: 100, find$: slow$ },
        { name: 'sales', find$: late$ },
      ];
      const [s] = found('s');
      const error = { code: 'RUN_TIMEOUT', message: 'Channel "sales" found nothing within 50 ms.' };
      expectObservable(gatherEvidence({ channels, limitMs: 50, now })).toBe('70ms (r|)', {
        r: {
          value: [{ ...s, n: 1 }],
          detail: {
            channels: [
              { name: 'knowledge', ms: 70, found: 1 },
              { name: 'sales', ms: 50, found: 0, error },
            ],
          },
          status: 'degraded',
        },
      });
      expectSubscriptions(late$.subscriptions).toBe('^ 49ms !');
    }));

  it('ends and names what is late, and keeps what the others found', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }, now) => {
      const late$ = cold('10s (l|)', { l: found('l') });
      const quick$ = cold('-(q|)', { q: found('q') });
      const broken$ = cold<readonly FoundEvidence[]>(
        '--#',
        {},
        new EngineError('NOT_FOUND', 'There is no such dataset.'),
      );
      const channels = [
        { name: 'knowledge', find$: quick$ },
        { name: 'sales', find$: late$ },
        { name: 'links', find$: broken$ },
      ];
      const [q] = found('q');
      expectObservable(gatherEvidence({ channels, limitMs: 50, now })).toBe('50ms (r|)', {
        r: {
          value: [{ ...q, n: 1 }],
          detail: {
            channels: [
              { name: 'knowledge', ms: 1, found: 1 },
              {
                name: 'sales',
                ms: 50,
                found: 0,
                error: { code: 'RUN_TIMEOUT', message: 'Channel "sales" found nothing within 50 ms.' },
              },
              { name: 'links', ms: 2, found: 0, error: { code: 'NOT_FOUND', message: 'There is no such dataset.' } },
            ],
          },
          status: 'degraded',
        },
      });
      expectSubscriptions(late$.subscriptions).toBe('^ 49ms !');
    }));

  it('does not tell what a failure says that is not for clients', () =>
    marbles(({ cold, expectObservable }, now) => {
      const secret = new EngineError('INTERNAL', 'connect ECONNREFUSED postgres://runnel:secret@db');
      const broken$ = cold<readonly FoundEvidence[]>('#', {}, secret);
      const gathered$ = gatherEvidence({ channels: [{ name: 'knowledge', find$: broken$ }], limitMs: 50, now });
      expectObservable(gathered$.pipe(map(({ detail }) => JSON.stringify(detail).includes('secret')))).toBe('(r|)', {
        r: false,
      });
    }));

  it('ends all channels when it is unsubscribed', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }, now) => {
      const first$ = cold<readonly FoundEvidence[]>('-----');
      const second$ = cold<readonly FoundEvidence[]>('-----');
      const channels = [
        { name: 'knowledge', find$: first$ },
        { name: 'links', find$: second$ },
      ];
      expectObservable(gatherEvidence({ channels, now }), '--!').toBe('---');
      expectSubscriptions(first$.subscriptions).toBe('^-!');
      expectSubscriptions(second$.subscriptions).toBe('^-!');
    }));

  it('gives nothing at once without channels, and no more sources than are wanted', () =>
    marbles(({ cold, expectObservable }, now) => {
      expectObservable(gatherEvidence({ channels: [], now })).toBe('(r|)', {
        r: { value: [], detail: { channels: [] }, status: 'ok' },
      });
      const many = [{ name: 'knowledge', find$: cold('(m|)', { m: found('a', 'b', 'c') }) }];
      const [a] = found('a');
      expectObservable(gatherEvidence({ channels: many, maxItems: 1, now })).toBe('(r|)', {
        r: {
          value: [{ ...a, n: 1 }],
          detail: { channels: [{ name: 'knowledge', ms: 0, found: 3 }] },
          status: 'ok',
        },
      });
    }));

  it('refuses limits that are none', () => {
    expect(() => gatherEvidence({ channels: [], limitMs: 0 })).toThrow(
      /"limitMs" must be a whole number of at least 1/,
    );
    expect(() => gatherEvidence({ channels: [], maxItems: 0.5 })).toThrow(/"maxItems" must be a whole number/);
  });
});
