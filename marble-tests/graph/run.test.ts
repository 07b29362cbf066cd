/** When nodes start, settle, are tried again, run out of time, and are cut short. */
import { NEVER, of, tap } from 'rxjs';
import { describe, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import { interrupt, settled } from '../../src/graph/node-events.js';
import { marbles } from '../support/scheduler.js';
import { endsAt, nodesAt, planOfSpecs, watched } from './support/runs.js';

const S = { s: settled({}) };
const BUSY = new EngineError('MODEL_UNAVAILABLE', 'Busy.', { retryable: true });

describe('run', () => {
  it('starts a node when the one before it settles, and ends with the last', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const a$ = cold('  --s       ', S);
      const aSubs = '    ^-!       ';
      const b$ = cold('    ---s    ', S);
      const bSubs = '    --^--!    ';
      const starts = '   a-b--|    ';
      const settles = '  --a--(b|) ';

      const run$ = watched(planOfSpecs({ a: { downstream: ['b'], activate: () => a$ }, b: () => b$ }));

      expectObservable(run$.pipe(nodesAt('node-started'))).toBe(starts);
      expectObservable(run$.pipe(nodesAt('node-settled'))).toBe(settles);
      expectSubscriptions(a$.subscriptions).toBe(aSubs);
      expectSubscriptions(b$.subscriptions).toBe(bSubs);
    }));

  it('runs branches side by side, and what joins them after the slowest', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const a$ = cold('  -s        ', S);
      const b$ = cold('  ----s     ', S);
      const z$ = cold('      -s    ', S);
      const zSubs = '    ----^!    ';
      const settles = '  -a--b(z|) ';
      const ends = '     -----(e|) ';

      const leads = { downstream: ['z'] };
      const run$ = watched(
        planOfSpecs({ a: { ...leads, activate: () => a$ }, b: { ...leads, activate: () => b$ }, z: () => z$ }),
      );

      expectObservable(run$.pipe(nodesAt('node-settled'))).toBe(settles);
      expectObservable(run$.pipe(endsAt)).toBe(ends, { e: 'run-settled' });
      expectSubscriptions(z$.subscriptions).toBe(zSubs);
    }));

  it('puts off a node that reads one beside it, reached before it, until that one has settled', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const a$ = cold('  ----s     ', S);
      const c$ = cold('  --s       ', S);
      const x$ = cold('      --s   ', S);
      const xSubs = '    ----^-!   ';
      const settles = '  --c-a-(x|)';
      const starts = '   (acx)-(|) ';

      const run$ = watched(planOfSpecs({ a: () => a$, c: () => c$, x: { needs: ['a', 'c'], activate: () => x$ } }));

      expectObservable(run$.pipe(nodesAt('node-started'))).toBe(starts);
      expectObservable(run$.pipe(nodesAt('node-settled'))).toBe(settles);
      expectSubscriptions(x$.subscriptions).toBe(xSubs);
    }));

  it('runs nodes that settle at once in no time', () =>
    marbles(({ expectObservable }) => {
      const settles = '(abc|)';
      const run$ = watched(
        planOfSpecs({
          a: { downstream: ['b'] },
          b: { downstream: ['c'], activate: () => of(S.s) },
          c: () => settled({}),
        }),
      );
      expectObservable(run$.pipe(nodesAt('node-settled'))).toBe(settles);
    }));

  it('with one slot starts a node when the other ends', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const a$ = cold('  --s       ', S);
      const b$ = cold('    ---s    ', S);
      const bSubs = '    --^--!    ';
      const starts = '   a-b--|    ';

      const run$ = watched(planOfSpecs({ a: () => a$, b: () => b$ }), { concurrency: 1 });

      expectObservable(run$.pipe(nodesAt('node-started'))).toBe(starts);
      expectSubscriptions(b$.subscriptions).toBe(bSubs);
    }));

  it('cuts the others short when a node fails', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const bad$ = cold<never>('---#', undefined, new Error('Out of luck.'));
      const slow$ = cold('-----s', S);
      const slowSubs = ' ^--!';
      const ends = '     ---(f|)';

      const run$ = watched(planOfSpecs({ slow: () => slow$, bad: () => bad$ }));

      expectObservable(run$.pipe(endsAt)).toBe(ends, { f: 'NODE_FAILED' });
      expectSubscriptions(slow$.subscriptions).toBe(slowSubs);
    }));

  it('when unsubscribed ends its nodes and says nothing', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const model$ = cold('-----s  ', S);
      const modelSubs = '  ^--!    ';
      const unsubscribed = '---!   ';
      const ends = '       --------';

      const run$ = watched(planOfSpecs({ model: () => model$ }));

      expectObservable(run$.pipe(endsAt), unsubscribed).toBe(ends);
      expectSubscriptions(model$.subscriptions).toBe(modelSubs);
    }));

  it('when cancelled ends its nodes and says so', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const model$ = cold('-----s  ', S);
      const modelSubs = '  ^--!    ';
      const cancel$ = cold('---x   ');
      const ends = '       ---(c|) ';

      const abort = new AbortController();
      const run$ = watched(planOfSpecs({ model: () => model$ }), { signal: abort.signal });

      expectObservable(run$.pipe(endsAt)).toBe(ends, { c: 'run-cancelled' });
      expectObservable(cancel$.pipe(tap(() => abort.abort()))).toBe('---x');
      expectSubscriptions(model$.subscriptions).toBe(modelSubs);
    }));

  it('gives a node its time and no more', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const quick$ = cold('----s    ', S);
      const slow$ = cold('     ---------s', S);
      const slowSubs = '   ----^----!';
      const ends = '       ---------(t|)';

      const clock = { timeoutMs: 5 };
      const run$ = watched(
        planOfSpecs({
          quick: { ...clock, downstream: ['slow'], activate: () => quick$ },
          slow: { ...clock, activate: () => slow$ },
        }),
      );

      expectObservable(run$.pipe(endsAt)).toBe(ends, { t: 'NODE_TIMEOUT' });
      expectSubscriptions(slow$.subscriptions).toBe(slowSubs);
    }));

  it('gives a node that is tried again its time anew, and keeps it off between', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const first$ = cold<never>(' --#          ', undefined, BUSY);
      const firstSubs = '   ^-!          ';
      const second$ = cold('     ----s   ', S);
      const secondSubs = '  -----^---!   ';
      const fails = '       --a------|   ';
      const starts = '      a----a---|   ';

      const activate = ({ attempt }: { readonly attempt: number }) => (attempt === 1 ? first$ : second$);
      const run$ = watched(planOfSpecs({ a: { retry: { attempts: 2, delayMs: 3 }, timeoutMs: 5, activate } }));

      expectObservable(run$.pipe(nodesAt('node-failed'))).toBe(fails);
      expectObservable(run$.pipe(nodesAt('node-started'))).toBe(starts);
      expectSubscriptions(first$.subscriptions).toBe(firstSubs);
      expectSubscriptions(second$.subscriptions).toBe(secondSubs);
    }));

  it('unsubscribed between two attempts makes no second one', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const model$ = cold<never>('--#     ', undefined, BUSY);
      const modelSubs = '  ^-!     ';
      const unsubscribed = '---!   ';
      const starts = '     a-------';

      const run$ = watched(planOfSpecs({ a: { retry: { attempts: 2, delayMs: 3 }, activate: () => model$ } }));

      expectObservable(run$.pipe(nodesAt('node-started')), unsubscribed).toBe(starts);
      expectSubscriptions(model$.subscriptions).toBe(modelSubs);
    }));

  it('has a time of its own', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const model$ = cold('-----------s', S);
      const modelSubs = '  ^------!';
      const ends = '       -------(t|)';

      const run$ = watched(planOfSpecs({ model: () => model$, quick: {} }), { timeoutMs: 7 });

      expectObservable(run$.pipe(endsAt)).toBe(ends, { t: 'RUN_TIMEOUT' });
      expectSubscriptions(model$.subscriptions).toBe(modelSubs);
    }));

  it('waits for an answer when nobody is at work any more', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const form$ = cold('  -i       ', { i: interrupt({ ask: 'name' }) });
      const formSubs = '    ^!       ';
      const slow$ = cold('  ----s    ', S);
      const slowSubs = '    ^---!    ';
      const asks = '        -f--|    ';
      const ends = '        ----(w|) ';

      const leads = { downstream: ['z'] };
      const run$ = watched(
        planOfSpecs({ form: { ...leads, activate: () => form$ }, slow: { ...leads, activate: () => slow$ }, z: {} }),
      );

      expectObservable(run$.pipe(nodesAt('node-interrupted'))).toBe(asks, { f: 'form' });
      expectObservable(run$.pipe(endsAt)).toBe(ends, { w: 'run-interrupted' });
      expectObservable(run$.pipe(nodesAt('node-settled'))).toBe('----(s|)', { s: 'slow' });
      expectSubscriptions(form$.subscriptions).toBe(formSubs);
      expectSubscriptions(slow$.subscriptions).toBe(slowSubs);
    }));

  it('says nothing of a node that never ends', () =>
    marbles(({ expectObservable }) => {
      const run$ = watched(planOfSpecs({ a: () => NEVER }));
      expectObservable(run$.pipe(nodesAt('node-settled')), '^----!').toBe('------');
    }));
});
