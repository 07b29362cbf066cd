/** Bodies of containers in time: pass after pass or side by side, left early, failed, asked, cut short. */
import { concatMap, map, mergeMap, type Observable, of, race, range, timer, toArray } from 'rxjs';
import { describe, it } from 'vitest';
import type { Activation, BodyEnd, NodeFunction } from '../../src/graph/node.js';
import { interrupt, type NodeEvent, settled } from '../../src/graph/node-events.js';
import { marbles } from '../support/scheduler.js';
import { endsAt, nodesAt, planOfSpecs, watched } from './support/runs.js';

const S = { s: settled({}), x: settled({}, { exit: true }), i: interrupt({ ask: 'name' }) };
const NODES = { b: 'box', w: 'work' };

type Pass = (at: Activation, round: number) => Observable<BodyEnd>;
const pass: Pass = (at, round) => at.runBody({ key: String(round) });

/** Settles when all passes are done, waits when one of them waits. */
const endOf = (ends$: Observable<BodyEnd>): Observable<NodeEvent> =>
  ends$.pipe(
    toArray(),
    map((ends) => (ends.some(({ status }) => status === 'interrupted') ? interrupt() : settled({}))),
  );
const inTurn =
  (rounds: number): NodeFunction =>
  (at) =>
    endOf(range(0, rounds).pipe(concatMap((round) => pass(at, round))));
const sideBySide =
  (rounds: number): NodeFunction =>
  (at) =>
    endOf(range(0, rounds).pipe(mergeMap((round) => pass(at, round))));

const boxed = (activate: NodeFunction, work: NodeFunction) =>
  planOfSpecs({ box: { isContainer: true, activate }, work: { parent: 'box', activate: work } });

describe('a body', () => {
  it('runs pass after pass', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const work$ = cold('--s       ', S);
      const workSubs = ['^-!       ', '--^-!     ', '----^-!   '];
      const settles = '   --w-w-(wb|)';

      const run$ = watched(boxed(inTurn(3), () => work$));

      expectObservable(run$.pipe(nodesAt('node-settled'))).toBe(settles, NODES);
      expectSubscriptions(work$.subscriptions).toBe(workSubs);
    }));

  it('runs passes side by side, within the slots of the run', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const work$ = cold('------s       ', S);
      const workSubs = ['^-----!       ', '^-----!       ', '------^-----! '];
      const ends = '      ------------(e|)';

      const run$ = watched(
        boxed(sideBySide(3), () => work$),
        { concurrency: 2 },
      );

      expectObservable(run$.pipe(endsAt)).toBe(ends, { e: 'run-settled' });
      expectSubscriptions(work$.subscriptions).toBe(workSubs);
    }));

  it('that is left early ends what is at work in it', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const work$ = cold(' -----s  ', S);
      const workSubs = '   ^-!     ';
      const leave$ = cold('--x     ', S);
      const settles = '    --(lb|) ';

      const plan = planOfSpecs({
        box: { isContainer: true, activate: inTurn(1) },
        work: { parent: 'box', activate: () => work$ },
        leave: { parent: 'box', activate: () => leave$ },
      });

      expectObservable(watched(plan).pipe(nodesAt('node-settled'))).toBe(settles, { l: 'leave', b: 'box' });
      expectSubscriptions(work$.subscriptions).toBe(workSubs);
    }));

  it('that fails ends the other passes and the run', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const good$ = cold('-----s  ', S);
      const goodSubs = '  ^-!     ';
      const bad$ = cold(' --#     ', S, new Error('Out of luck.'));
      const ends = '      --(f|)  ';

      const ways = [good$, bad$];
      const run$ = watched(boxed(sideBySide(2), () => ways.pop() ?? of(S.s)));

      expectObservable(run$.pipe(endsAt)).toBe(ends, { f: 'NODE_FAILED' });
      expectSubscriptions(good$.subscriptions).toBe(goodSubs);
    }));

  it('that asks lets the other passes end, then the run waits', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const form$ = cold('-i       ', S);
      const slow$ = cold('----s    ', S);
      const slowSubs = '  ^---!    ';
      const ends = '      ----(w|) ';

      const ways = [slow$, form$];
      const run$ = watched(boxed(sideBySide(2), () => ways.pop() ?? of(S.s)));

      expectObservable(run$.pipe(endsAt)).toBe(ends, { w: 'run-interrupted' });
      expectSubscriptions(slow$.subscriptions).toBe(slowSubs);
    }));

  it('that its container gives up is cut short, and may be opened again', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const work$ = cold('-----s      ', S);
      const workSubs = ['^--!        ', '---^--!     ', '------^----!'];
      const settles = '   -----------(wb|)';

      const impatient: NodeFunction = (at) => {
        const give = (tries: number): Observable<NodeEvent> =>
          race(pass(at, 0), tries < 2 ? timer(3) : timer(100)).pipe(
            mergeMap((end) => (typeof end === 'number' ? give(tries + 1) : of(settled({})))),
          );
        return give(0);
      };

      expectObservable(watched(boxed(impatient, () => work$)).pipe(nodesAt('node-settled'))).toBe(settles, NODES);
      expectSubscriptions(work$.subscriptions).toBe(workSubs);
    }));

  it('ends with the run', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const work$ = cold('  --s     ', S);
      const workSubs = ['  ^-!     ', '  --^!    '];
      const unsubscribed = '---!    ';
      const settles = '     --w-----';

      const run$ = watched(boxed(inTurn(3), () => work$));

      expectObservable(run$.pipe(nodesAt('node-settled')), unsubscribed).toBe(settles, NODES);
      expectSubscriptions(work$.subscriptions).toBe(workSubs);
    }));

  it('of nothing but nodes that settle at once takes no time', () =>
    marbles(({ expectObservable }) => {
      const settles = '(wwb|)';
      const run$ = watched(boxed(inTurn(2), () => S.s));
      expectObservable(run$.pipe(nodesAt('node-settled'))).toBe(settles, NODES);
    }));
});
