/** Text over a stream edge: said on while it comes, from one subscription of the model. */
import { concat, defer, of, tap } from 'rxjs';
import { describe, it } from 'vitest';
import type { Activation, NodeFunction } from '../../src/graph/node.js';
import { delta, settled } from '../../src/graph/node-events.js';
import { marbles } from '../support/scheduler.js';
import { endsAt, nodesAt, planOfSpecs, textOf, watched } from './support/runs.js';

const WORDS = { a: delta('content', 'a'), b: delta('content', 'b'), s: settled({ content: 'ab' }) };
const NODES = { m: 'model', r: 'reader', q: 'other' };

/** Says on what it reads and settles with all of it. */
const sayOn: NodeFunction = (at: Activation) => {
  let content = '';
  const text$ = at.stream('model@content').pipe(
    tap(({ text }) => {
      content += text;
    }),
  );
  return concat(
    text$,
    defer(() => of(settled({ content }))),
  );
};

const model = (activate: NodeFunction, downstream = ['reader']) => ({ streams: ['content'], downstream, activate });
const reader = { consumes: ['model'], activate: sayOn };

describe('a stream edge', () => {
  it('passes each piece on when it comes, and settles the reader with the writer', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const model$ = cold('--a--b--s       ', WORDS);
      const modelSubs = '  ^-------!       ';
      const starts = '     (mr)----|       ';
      const says = '       --a--b--|       ';
      const settles = '    --------(mr|)   ';

      const run$ = watched(planOfSpecs({ model: model(() => model$), reader }));

      expectObservable(run$.pipe(nodesAt('node-started'))).toBe(starts, NODES);
      expectObservable(run$.pipe(textOf('reader'))).toBe(says);
      expectObservable(run$.pipe(textOf('model'))).toBe('--------|');
      expectObservable(run$.pipe(nodesAt('node-settled'))).toBe(settles, NODES);
      expectSubscriptions(model$.subscriptions).toBe(modelSubs);
    }));

  it('serves several readers from one subscription', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const model$ = cold('--a--b--s       ', WORDS);
      const modelSubs = '  ^-------!       ';
      const says = '       --a--b--|       ';

      const run$ = watched(planOfSpecs({ model: model(() => model$, ['reader', 'other']), reader, other: reader }));

      expectObservable(run$.pipe(textOf('reader'))).toBe(says);
      expectObservable(run$.pipe(textOf('other'))).toBe(says);
      expectSubscriptions(model$.subscriptions).toBe(modelSubs);
    }));

  it('gives a reader that comes late everything from the first piece', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const model$ = cold('-a-----b--s     ', WORDS);
      const modelSubs = '  ^---------!     ';
      const branch$ = cold('---s          ', WORDS);
      const says = '       ---a---b--|     ';
      const settles = '    ---b------(mr|) ';

      const plan = planOfSpecs({
        model: model(() => model$),
        branch: { downstream: ['reader'], activate: () => branch$ },
        reader,
      });
      const run$ = watched(plan);

      expectObservable(run$.pipe(textOf('reader'))).toBe(says);
      expectObservable(run$.pipe(nodesAt('node-settled'))).toBe(settles, { ...NODES, b: 'branch' });
      expectSubscriptions(model$.subscriptions).toBe(modelSubs);
    }));

  it('gives a reader without an edge the settled text as one piece', () =>
    marbles(({ cold, expectObservable }) => {
      const model$ = cold('--a--b--s       ', WORDS);
      const says = '       --------(t|)    ';

      const run$ = watched(planOfSpecs({ model: { downstream: ['reader'], activate: () => model$ }, reader }));

      expectObservable(run$.pipe(textOf('reader'))).toBe(says, { t: 'ab' });
    }));

  it('ends with the writer that fails', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const model$ = cold('--a--#          ', WORDS, new Error('Out of luck.'));
      const modelSubs = '  ^----!          ';
      const says = '       --a--|          ';
      const ends = '       -----(f|)       ';

      const run$ = watched(planOfSpecs({ model: model(() => model$), reader }));

      expectObservable(run$.pipe(textOf('reader'))).toBe(says);
      expectObservable(run$.pipe(endsAt)).toBe(ends, { f: 'NODE_FAILED' });
      expectSubscriptions(model$.subscriptions).toBe(modelSubs);
    }));

  it('ends the writer when the run is unsubscribed', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const model$ = cold('--a--b--s       ', WORDS);
      const modelSubs = '  ^---!           ';
      const unsubscribed = '----!          ';
      const says = '       --a------       ';

      const run$ = watched(planOfSpecs({ model: model(() => model$), reader }));

      expectObservable(run$.pipe(textOf('reader')), unsubscribed).toBe(says);
      expectSubscriptions(model$.subscriptions).toBe(modelSubs);
    }));

  it('serves a writer that says everything at once', () =>
    marbles(({ expectObservable }) => {
      const says = '(ab|)';
      const run$ = watched(planOfSpecs({ model: model(() => of(WORDS.a, WORDS.b, WORDS.s)), reader }));
      expectObservable(run$.pipe(textOf('reader'))).toBe(says);
    }));
});
