import { type Observable, of, throwError } from 'rxjs';
import type { ColdObservable } from 'rxjs/internal/testing/ColdObservable';
import { describe, it } from 'vitest';
import { shareByKey } from '../../src/operators/share-by-key.js';
import { marbles } from '../support/scheduler.js';

/** Shares subscriptions to `resource$`, by the key that a user names. */
const sharing = (resource$: Observable<unknown>) =>
  shareByKey({ keyOf: (key: string) => key, open: () => resource$.subscribe() });

describe('shareByKey', () => {
  it('opens with the first user and closes behind the last', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const resource$ = cold('r---------');
      const use = sharing(resource$);
      const one$ = use('k', () => cold('--a--|'));
      const two$ = use('k', () => cold('--b----|'));
      const resourceSubs = '   -^---------!';
      const expectedOne = '    ---a--|';
      const expectedTwo = '    ------b----|';

      expectObservable(one$, '-^').toBe(expectedOne);
      expectObservable(two$, '----^').toBe(expectedTwo);
      expectSubscriptions(resource$.subscriptions).toBe(resourceSubs);
    }));

  it('opens anew for a user who comes later', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const resource$ = cold('r---------');
      const use = sharing(resource$);
      const one$ = use('k', () => cold('-a|'));

      expectObservable(one$, '^').toBe('    -a|');
      expectObservable(one$, '-----^').toBe('------a|');
      expectSubscriptions(resource$.subscriptions).toBe(['^-!', '-----^-!']);
    }));

  it('keeps keys apart', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const resources = new Map<string, ColdObservable<string>>([
        ['k', cold('r--')],
        ['l', cold('r--')],
      ]);
      const use = shareByKey({
        keyOf: (key: string) => key,
        open: (key) => (resources.get(key) as Observable<string>).subscribe(),
      });

      expectObservable(use('k', () => cold('a-|'))).toBe('a-|');
      expectObservable(use('l', () => cold('b---|'))).toBe('b---|');
      expectSubscriptions(resources.get('k')?.subscriptions ?? []).toBe('^-!');
      expectSubscriptions(resources.get('l')?.subscriptions ?? []).toBe('^---!');
    }));

  it('closes behind work that fails', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const resource$ = cold('r---');
      const use = sharing(resource$);

      expectObservable(use('k', () => cold('-a-#'))).toBe('-a-#');
      expectSubscriptions(resource$.subscriptions).toBe('^--!');
    }));

  it('closes behind work that throws at once', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const resource$ = cold('r---');
      const work$ = sharing(resource$)('k', () => {
        throw new Error('no');
      });

      expectObservable(work$).toBe('#', undefined, new Error('no'));
      expectSubscriptions(resource$.subscriptions).toBe('(^!)');
    }));

  it('closes when the last user is unsubscribed early', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const resource$ = cold('r-----');
      const use = sharing(resource$);

      expectObservable(
        use('k', () => cold('a-----|')),
        '^--!',
      ).toBe('a---');
      expectObservable(
        use('k', () => cold('b-----|')),
        '^----!',
      ).toBe('b-----');
      expectSubscriptions(resource$.subscriptions).toBe('^----!');
    }));

  it('closes behind work that is over at once', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const resource$ = cold('r---');

      expectObservable(sharing(resource$)('k', () => of('a'))).toBe('(a|)');
      expectSubscriptions(resource$.subscriptions).toBe('(^!)');
    }));

  it('opens nothing that cannot be opened, and tries again for the next user', () =>
    marbles(({ expectObservable }) => {
      let tries = 0;
      const use = shareByKey({
        keyOf: (key: string) => key,
        open: () => {
          tries += 1;
          if (tries === 1) throw new Error('not yet');
          return { unsubscribe: () => {} };
        },
      });

      expectObservable(use('k', () => of('a'))).toBe('#', undefined, new Error('not yet'));
      expectObservable(
        use('k', () => throwError(() => new Error('its own'))),
        '-^',
      ).toBe('-#', undefined, new Error('its own'));
    }));
});
