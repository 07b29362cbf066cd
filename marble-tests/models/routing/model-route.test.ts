import { asyncScheduler, concat, NEVER, Observable, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ChatDelta } from '../../../src/models/chat-model.js';
import { createLimiter } from '../../../src/models/limiter.js';
import type { RouteDelta } from '../../../src/models/routing/route-target.js';
import { marbles } from '../../support/scheduler.js';
import { brokenAnswer, failure, PIECES, REQUEST, routeOf, served, target } from './route.js';

/** Values of expected timelines: pieces, and which target serves, as which attempt. */
const VALUES: Record<string, RouteDelta> = {
  ...PIECES,
  A: served('a', 1),
  B: served('b', 2),
  C: served('c', 3),
  P: served('b', 1),
  Q: served('a', 2),
  R: { type: 'retract', reason: 'cut' },
};

describe('the race for the first packet', () => {
  it('is won by the first target when it is in time, and no other is called', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const a = cold('     4999ms x---y-(uf|) ', PIECES);
      const subA = '       ^ 5004ms !          ';
      const b = cold('     x|                  ', PIECES);
      const expected = '   4999ms (Ax)y-(uf|)  ';
      const { route } = routeOf([target('a', a), target('b', b)]);
      expectObservable(route.answer(REQUEST)).toBe(expected, VALUES);
      expectSubscriptions(a.subscriptions).toBe(subA);
      expectSubscriptions(b.subscriptions).toBe([]);
    }));

  it('starts the second target after 5 s of silence, and unsubscribes the first as soon as the second has a packet', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const a = cold('     ----------          ', PIECES);
      const subA = '       ^ 5002ms !          ';
      const b = cold('            ---x---y-(f|)', PIECES);
      const subB = '       5s ^--------!       ';
      const expected = '   5s ---(Bx)y-(f|)    ';
      const { route } = routeOf([target('a', a), target('b', b)]);
      expectObservable(route.answer(REQUEST)).toBe(expected, VALUES);
      expectSubscriptions(a.subscriptions).toBe(subA);
      expectSubscriptions(b.subscriptions).toBe(subB);
    }));

  it('lets a first target that is late after all win, and unsubscribes the hedge', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const a = cold('     5s --x----(f|)      ', PIECES);
      const subA = '       ^ 5006ms !          ';
      const b = cold('            ---x---(f|)  ', PIECES);
      const subB = '       5s ^-!              ';
      const expected = '   5s --(Qx)-(f|)      ';
      const { route, breakers } = routeOf([target('a', a), target('b', b)]);
      expectObservable(route.answer(REQUEST)).toBe(expected, VALUES);
      expectSubscriptions(a.subscriptions).toBe(subA);
      expectSubscriptions(b.subscriptions).toBe(subB);
      expect(breakers.of('b').seconds).toEqual([]);
    }));

  it('starts one target after the other while all are silent, and the packet of the last unsubscribes all others', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const a = cold('     -                     ', PIECES);
      const b = cold('     -                     ', PIECES);
      const c = cold('                -x----(f|) ', PIECES);
      const expected = '   10s        -(Cx)-(f|) ';
      const { route } = routeOf([target('a', a), target('b', b), target('c', c)]);
      expectObservable(route.answer(REQUEST)).toBe(expected, VALUES);
      expectSubscriptions(a.subscriptions).toBe('^ 10s !');
      expectSubscriptions(b.subscriptions).toBe('5s ^ 5s !');
      expectSubscriptions(c.subscriptions).toBe('10s ^-----!');
    }));

  it('gives a target twice its own 95th percentile, at least 1 s', () =>
    marbles(({ cold, expectSubscriptions, expectObservable }) => {
      for (const [tookMs, hedge] of [
        [10, '1s'],
        [900, '1800ms'],
        [4_000, '5s'],
      ] as const) {
        const a = target('a', NEVER);
        for (let at = 0; at < 50; at += 1) a.times.add(at < 47 ? 1 : tookMs);
        const b = cold('x----(f|)', PIECES);
        const { route } = routeOf([a, target('b', b)]);
        expectObservable(route.answer(REQUEST)).toBe(`${hedge} (Bx)-(f|)`, VALUES);
        expectSubscriptions(b.subscriptions).toBe(`${hedge} ^----!`);
      }
    }));

  it('passes usage on behind the first packet, which it is not', () =>
    marbles(({ cold, expectObservable }) => {
      const a = cold('  u 5s ----x----', PIECES);
      const b = cold('     --x------(f|)', PIECES);
      const expected = '5s --(Bx)---(f|)';
      const { route } = routeOf([target('a', a), target('b', b)]);
      expectObservable(route.answer(REQUEST)).toBe(expected, VALUES);
      const only = cold('u--x----(f|)', PIECES);
      expectObservable(routeOf([target('a', only)]).route.answer(REQUEST)).toBe('---(Aux)(f|)', VALUES);
    }));

  it('waits on when there is no other target', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const a = cold('  60s x---(f|)', PIECES);
      const { route, breakers } = routeOf([target('a', a)]);
      expectObservable(route.answer(REQUEST)).toBe('60s (Ax)(f|)', VALUES);
      expectSubscriptions(a.subscriptions).toBe('^ 60003ms !');
      expect(breakers.of('a').phase).toBe('closed');
    }));

  it('ends every call when it is unsubscribed, and counts none', () =>
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const a = cold('     -        ', PIECES);
      const b = cold('     -        ', PIECES);
      const { route, breakers } = routeOf([target('a', a), target('b', b)]);
      expectObservable(route.answer(REQUEST), '6s !').toBe('6s -');
      expectSubscriptions(a.subscriptions).toBe('^ 5999ms !');
      expectSubscriptions(b.subscriptions).toBe('5s ^ 999ms !');
      flush();
      expect([breakers.of('a').seconds, breakers.of('b').seconds]).toEqual([[], []]);
    }));

  it('does not count the time that a call waits for a seat', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const limiter = createLimiter({ maxConcurrent: 1 });
      const busy = cold('  8s |         ');
      const a = cold('        4s x---(f|)', PIECES);
      const b = cold('     x|           ', PIECES);
      const { route } = routeOf([target('a', a), target('b', b)]);
      expectObservable(busy.pipe(limiter.limit())).toBe('8s |');
      expectObservable(route.answer(REQUEST, { seats: limiter.limit() })).toBe('12s (Ax)(f|)', VALUES);
      expectSubscriptions(a.subscriptions).toBe('8s ^ 4003ms !');
      expectSubscriptions(b.subscriptions).toBe([]);
    }));

  it('is decided at once by targets that answer at once', () => {
    const calls: string[] = [];
    const sync = new Observable<ChatDelta>((subscriber) => {
      subscriber.next(PIECES.x as ChatDelta);
      subscriber.next(PIECES.f as ChatDelta);
      subscriber.complete();
    });
    const { route } = routeOf([target('a', sync), target('b', sync)]);
    route.answer(REQUEST).subscribe({ next: ({ type }) => calls.push(type), complete: () => calls.push('|') });
    expect(calls).toEqual(['served', 'text', 'finish', '|']);
  });
});

describe('a target that fails before anything is shown', () => {
  it.each([
    ['cannot be reached', failure()],
    ['answers 500', failure(500)],
    ['answers 429', failure(429)],
    ['refuses the key', failure(401)],
    ['answers what makes no sense', brokenAnswer()],
  ])('is not noticed when it %s', (_, error) =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const a = cold('     ---#            ', PIECES, error);
      const b = cold('        --x----(f|)  ', PIECES);
      const subA = '       ^--!            ';
      const subB = '       ---^------!     ';
      const expected = '   -----(Bx)-(f|)  ';
      const { route } = routeOf([target('a', a), target('b', b)]);
      expectObservable(route.answer(REQUEST)).toBe(expected, VALUES);
      expectSubscriptions(a.subscriptions).toBe(subA);
      expectSubscriptions(b.subscriptions).toBe(subB);
    }),
  );

  it.each(['--|', 'u-|', '--(ue|)', 'e-|'])('is not noticed when its answer is empty: %s', (marble) =>
    marbles(({ cold, expectObservable, flush }) => {
      const a = cold(marble, PIECES);
      const b = cold('     --x---(f|)      ', PIECES);
      const expected = '   ----(Bx)(f|)    ';
      const { route, breakers } = routeOf([target('a', a), target('b', b)]);
      expectObservable(route.answer(REQUEST)).toBe(expected, VALUES);
      flush();
      expect([breakers.of('a').failedInRow, breakers.of('b').failedInRow]).toEqual([1, 0]);
    }),
  );

  it('is unsubscribed from nothing else: the hedge that runs already goes on, and the next target starts', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const a = cold('     5s --#          ', PIECES, failure());
      const b = cold('        -------x-----', PIECES);
      const c = cold('          -x----(f|) ', PIECES);
      const { route } = routeOf([target('a', a), target('b', b), target('c', c)]);
      expectObservable(route.answer(REQUEST)).toBe('5s ---(Cx)-(f|)', VALUES);
      expectSubscriptions(b.subscriptions).toBe('5s ^--!');
      expectSubscriptions(c.subscriptions).toBe('5002ms ^-----!');
    }));

  it.each([400, 404, 413])(
    'ends the request when that is wrong (%s): no other target is asked, and none is blamed',
    (status) =>
      marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
        const error = failure(status);
        const a = cold('     -               ');
        const b = cold('     --#             ', {}, error);
        const c = cold('     x|              ', PIECES);
        const { route, breakers } = routeOf([target('a', a as never), target('b', b as never), target('c', c)]);
        expectObservable(route.answer(REQUEST)).toBe('5s --#', VALUES, error);
        expectSubscriptions(a.subscriptions).toBe('^ 5001ms !');
        expectSubscriptions(c.subscriptions).toBe([]);
        flush();
        expect(breakers.of('b').seconds).toEqual([]);
      }),
  );
});

describe('a stream that dies after tokens', () => {
  it('is taken back, and the next target answers from the start', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const a = cold('     --x---y-#                  ', PIECES, failure());
      const b = cold('             ----x---z--(f|)    ', PIECES);
      const expected = '   --(Ax)y-R---(Bx)z--(f|)    ';
      const { route } = routeOf([target('a', a), target('b', b)], { afterTokens: 'restart' });
      expectObservable(route.answer(REQUEST)).toBe(expected, VALUES);
      expectSubscriptions(a.subscriptions).toBe('^-------!');
      expectSubscriptions(b.subscriptions).toBe('--------^----------!');
    }));

  it('is continued by the next target, which gets the text so far', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const a = cold('     --x---y-#                  ', PIECES, failure());
      const b = cold('             ----z------(f|)    ', PIECES);
      const expected = '   --(Ax)y-----(Bz)---(f|)    ';
      const next = target('b', b);
      const { route } = routeOf([target('a', a), next], { afterTokens: 'continue' });
      expectObservable(route.answer(REQUEST)).toBe(expected, VALUES);
      flush();
      expect(next.asked[0]?.messages.slice(0, 2)).toEqual([
        { role: 'user', content: 'hello' },
        { role: 'assistant', content: 'xy' },
      ]);
      expect(next.asked[0]?.messages).toHaveLength(3);
    }));

  it('fails with its error, and keeps the text', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const a = cold('     --x---y-#', PIECES, failure());
      const b = cold('     x|       ', PIECES);
      const { route } = routeOf([target('a', a), target('b', b)], { afterTokens: 'fail' });
      expectObservable(route.answer(REQUEST)).toBe('--(Ax)y-#', VALUES, failure());
      expectSubscriptions(b.subscriptions).toBe([]);
    }));

  it('is not continued behind a tool call', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const a = cold('     --x---t-#', PIECES, failure());
      const b = cold('     x|       ', PIECES);
      const { route } = routeOf([target('a', a), target('b', b)], { afterTokens: 'continue' });
      expectObservable(route.answer(REQUEST)).toBe('--(Ax)t-#', VALUES, failure());
      expectSubscriptions(b.subscriptions).toBe([]);
    }));

  it('is continued for readers that know no retract', () =>
    marbles(({ cold, expectObservable }) => {
      const a = cold('     --x-#        ', PIECES, failure());
      const b = cold('         --y-(f|) ', PIECES);
      const { route } = routeOf([target('a', a), target('b', b)]);
      expectObservable(route.asModel().chat(REQUEST)).toBe('--x---y-(f|)', VALUES);
    }));

  it('is whole when it broke behind its end', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const a = cold('     --x---f-#', PIECES, failure());
      const { route, breakers } = routeOf([target('a', a)]);
      expectObservable(route.answer(REQUEST)).toBe('--(Ax)f-|', VALUES);
      flush();
      expect(breakers.of('a').seconds).toEqual([[0, 1, 0]]);
    }));
});

describe('breakers of a route', () => {
  /** Requests one after the other, a second apart. */
  const oneByOne = (count: number, answer: () => Observable<RouteDelta>): Observable<RouteDelta> =>
    new Observable((subscriber) => {
      let at = 0;
      const next = (): void => {
        if (at++ === count) subscriber.complete();
        else
          subscriber.add(
            answer().subscribe({
              next: (delta) => subscriber.next(delta),
              error: (error) => subscriber.error(error),
              complete: () => subscriber.add(timer(1_000, asyncScheduler).subscribe(next)),
            }),
          );
      };
      next();
    });

  it('skip a target without a subscription once it failed five times in a row', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const a = cold('#', {}, failure(503));
      const b = cold('(x|)', { x: PIECES.f as ChatDelta });
      const { route } = routeOf([target('a', a as never), target('b', b)]);
      const each = [
        '(Bf)',
        '996ms (Bf)',
        '996ms (Bf)',
        '996ms (Bf)',
        '996ms (Bf)',
        '996ms (Pf)',
        '996ms (Pf)',
        '996ms |',
      ];
      expectObservable(oneByOne(7, () => route.answer(REQUEST))).toBe(each.join(' '), VALUES);
      expectSubscriptions(a.subscriptions).toBe(['(^!)', '1s (^!)', '2s (^!)', '3s (^!)', '4s (^!)']);
    }));

  it('count a target that had its time and lost as failed, so that one that stays silent is skipped in the end', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const a = target('a', NEVER);
      const b = target('b', cold('(xf|)', PIECES));
      const { route, breakers } = routeOf([a, b]);
      expectObservable(concat(...Array.from({ length: 7 }, () => route.asModel().chat(REQUEST)))).toBe(
        '5s (xf) 4996ms (xf) 4996ms (xf) 4996ms (xf) 4996ms (xfxfxf|)',
        VALUES,
      );
      flush();
      expect(a.asked).toHaveLength(5);
      expect(breakers.of('a')).toMatchObject({
        phase: 'open',
        reason: '5 failures in a row, the last one: no first packet in time',
      });
    }));

  it('give a target that became slow more time each time it loses, so that it wins again', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const a = target('a', cold('3s (xf|)', PIECES));
      const b = target('b', cold('(yf|)', PIECES));
      for (let at = 0; at < 50; at += 1) a.times.add(100);
      const { route } = routeOf([a, b]);
      expectObservable(concat(...Array.from({ length: 4 }, () => route.asModel().chat(REQUEST)))).toBe(
        '1s (yf) 1996ms (yf) 2996ms (xf) 2996ms (xf|)',
        VALUES,
      );
      flush();
      expect(a.asked).toHaveLength(4);
    }));

  it('let one probe of one token through after 5 min, while requests go to the next target, and close with its first packet', () =>
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const broken = cold('#', {}, failure(503));
      const probed = cold('-----------x---(f|)', PIECES);
      const mended = cold('(xf|)', PIECES);
      const a = target('a', ...Array.from({ length: 5 }, () => broken as never), probed, mended);
      const b = target('b', cold('(yf|)', PIECES));
      const { route, breakers } = routeOf([a, b]);
      for (let at = 0; at < 5; at += 1) route.answer(REQUEST).subscribe();
      const ask = () => route.asModel().chat(REQUEST);
      expectObservable(concat(timer(300_000), ask(), ask(), timer(11), ask())).toBe('5m (tyfyf) ----(txf|)', {
        ...VALUES,
        t: 0,
      });
      flush();
      expectSubscriptions(probed.subscriptions).toBe('5m ^----------!');
      expect(a.asked[5]).toMatchObject({ messages: [{ content: 'hi' }], sampling: { maxTokens: 1 } });
      expect(breakers.of('a').phase).toBe('closed');
    }));
});
