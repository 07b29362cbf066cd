import { defer, EMPTY, type Observable, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { lookAgain } from '../../src/ingestion/look-again.js';
import { marbles } from '../support/scheduler.js';

/** Looks that are, in turn, those given; the last one repeats. */
function looks(...all: readonly Observable<unknown>[]): () => Observable<unknown> {
  let next = 0;
  return () => all[Math.min(next++, all.length - 1)] as Observable<unknown>;
}

const broken = new Error('broken');

const unexpected = (error: unknown): void => {
  throw error;
};

describe('lookAgain', () => {
  it('looks at once, with each news, and after each time without', () =>
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const news$ = hot('     ---n----------|');
      const look$ = cold('    a|');
      const looked = ['       ^!', '---^!', '----------^!'];
      const newsSubs = '      ^-------------!';
      const expected = '      ----------------';
      const unsubscribed = '  ---------------!';

      const looked$ = lookAgain(() => look$, { news$, pollMs: 10, onError: unexpected });
      expectObservable(looked$, unsubscribed).toBe(expected);
      expectSubscriptions(look$.subscriptions).toBe(looked);
      expectSubscriptions(news$.subscriptions).toBe(newsSubs);
    }));

  it('looks once more when news came during a look, however many', () =>
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const news$ = hot('    --nn-------');
      const first$ = cold('  -----|     ');
      const firstSubs = '    ^----!     ';
      const second$ = cold('      ---|  ');
      const secondSubs = '   -----^--!  ';
      const expected = '     -----------';
      const unsubscribed = ' ----------!';

      const looked$ = lookAgain(looks(first$, second$), { news$, pollMs: 100, onError: unexpected });
      expectObservable(looked$, unsubscribed).toBe(expected);
      expectSubscriptions(first$.subscriptions).toBe(firstSubs);
      expectSubscriptions(second$.subscriptions).toBe(secondSubs);
    }));

  it('does not look twice at a time when its time has come, and leaves out what passed meanwhile', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const look$ = cold('   -----|      ');
      const looked = ['      ^----!      ', '------^----!'];
      const expected = '     ------------';
      const unsubscribed = ' -----------!';
      const news$ = cold('   ------------');

      const looked$ = lookAgain(() => look$, { news$, pollMs: 3, onError: unexpected });
      expectObservable(looked$, unsubscribed).toBe(expected);
      expectSubscriptions(look$.subscriptions).toBe(looked);
    }));

  it('reports a look that fails, and looks again with the next news', () => {
    const errors: unknown[] = [];
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const news$ = hot('    ----n----');
      const first$ = cold('  --#      ', undefined, broken);
      const firstSubs = '    ^-!      ';
      const second$ = cold('     -|   ');
      const secondSubs = '   ----^!   ';
      const expected = '     ---------';
      const unsubscribed = ' --------!';

      const looked$ = lookAgain(looks(first$, second$), { news$, pollMs: 100, onError: (error) => errors.push(error) });
      expectObservable(looked$, unsubscribed).toBe(expected);
      expectSubscriptions(first$.subscriptions).toBe(firstSubs);
      expectSubscriptions(second$.subscriptions).toBe(secondSubs);
    });
    expect(errors).toEqual([broken]);
  });

  it('ends the look at work with an error of the news, and when it is left', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const news$ = cold('   ---#  ', undefined, broken);
      const look$ = cold('   ------');
      const looked = '       ^--!  ';
      const expected = '     ---#  ';
      expectObservable(lookAgain(() => look$, { news$, pollMs: 100, onError: unexpected })).toBe(
        expected,
        undefined,
        broken,
      );
      expectSubscriptions(look$.subscriptions).toBe(looked);

      const other$ = cold('  ------');
      const otherSubs = '    ^-!   ';
      const quiet$ = cold('  ------');
      const left = '         --!   ';
      expectObservable(
        lookAgain(() => other$, { news$: quiet$, pollMs: 100, onError: unexpected }),
        left,
      ).toBe('------');
      expectSubscriptions(other$.subscriptions).toBe(otherSubs);
    }));

  it('takes looks that are over at once, whose news would repeat them for ever, as one each', () =>
    marbles(({ cold, expectObservable }) => {
      let looked = 0;
      const news$ = cold('  -n-n-|');
      const count = () =>
        defer(() => {
          looked += 1;
          return looked % 2 === 0 ? EMPTY : of('x');
        });
      expectObservable(lookAgain(count, { news$, pollMs: 100, onError: unexpected }), '------!').toBe('-------');
      cold('       -----(a|)').subscribe(() => expect(looked).toBe(3));
    }));

  it('refuses a time that is none', () => {
    expect(() => lookAgain(() => EMPTY, { news$: EMPTY, pollMs: 0, onError: unexpected })).toThrow(/pollMs/);
  });
});
