import { map, NEVER, type Observable, of } from 'rxjs';
import { describe, it } from 'vitest';
import { iteration } from '../../src/components/iteration.js';
import { EngineError } from '../../src/errors.js';
import type { BodyEnd } from '../../src/graph/node.js';
import { interrupt, settled } from '../../src/graph/node-events.js';
import type { JsonObject } from '../../src/json.js';
import { createNode, type FakeOptions, fakeActivation, perform } from '../support/activation.js';
import { marbles } from '../support/scheduler.js';

const PARAMS = { items_ref: 'begin@list', outputs: { seen: { ref: 'a@value', type: 'Array<string>' } } };
const BEGIN = { begin: { list: ['x', 'y'] } };

const VALUES = {
  a: { type: 'progress', nodeState: { index: 0 }, outputs: { seen: [] } },
  b: { type: 'progress', nodeState: { index: 1 }, append: { seen: 'X' } },
  c: { type: 'progress', nodeState: { index: 2, isClosing: true }, append: { seen: 'Y' } },
  s: settled({ seen: ['X', 'Y'] }),
};

const perItem = (params: JsonObject, options: FakeOptions) => {
  const activation = fakeActivation({ outputs: { a: {}, ...BEGIN }, ...options });
  return perform(createNode(iteration, { ...PARAMS, ...params }, { body: ['item', 'a'] }), activation);
};

/** A body whose node `a` gives the item in capitals when `end$` emits. */
const shouting = (end$: (key: string) => Observable<BodyEnd['status']>): NonNullable<FakeOptions['body']> => {
  return (round, fake) =>
    end$(round.key).pipe(
      map((status) => {
        fake.write('a', { value: String(round.aliases?.item).toUpperCase() });
        return status;
      }),
    );
};

describe('Iteration', () => {
  it('runs the body for one item after the other, then closes', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const body$ = cold('   --(d|)       ', { d: 'done' as const });
      const bodySubs = ['    ^-!          ', '--^-!        ', '----^-!      '];
      const expected = '     a-b-c-(s|)   ';

      const events$ = perItem({}, { body: shouting(() => body$) });

      expectObservable(events$).toBe(expected, VALUES);
      expectSubscriptions(body$.subscriptions).toBe(bodySubs);
    }));

  it('says everything at once when the bodies are synchronous', () =>
    marbles(({ expectObservable }) => {
      const events$ = perItem({}, { body: shouting(() => of('done')) });

      expectObservable(events$).toBe('(abcs|)', VALUES);
    }));

  it('stops the body when it is unsubscribed', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const body$ = cold('   ---(d|)   ', { d: 'done' as const });
      const bodySubs = ['    ^--!      ', '---^-!    '];
      const unsub = '        -----!    ';
      const expected = '     a--b--    ';

      const events$ = perItem({}, { body: shouting(() => body$) });

      expectObservable(events$, unsub).toBe(expected, VALUES);
      expectSubscriptions(body$.subscriptions).toBe(bodySubs);
    }));

  it('passes on the error of a body as it is', () =>
    marbles(({ cold, expectObservable }) => {
      const failure = new Error('no');
      const body$ = cold<'done'>('--#', {}, failure);

      const events$ = perItem({}, { body: () => body$ });

      expectObservable(events$).toBe('a-#', VALUES, failure);
    }));

  it('waits when its body waits, and is not closed', () =>
    marbles(({ cold, expectObservable }) => {
      const ends = { '0': cold('--(d|)', { d: 'done' as const }), '1': cold('-(i|)', { i: 'interrupted' as const }) };
      const body = shouting((key) => ends[key as '0' | '1']);

      const events$ = perItem({}, { body });

      expectObservable(events$).toBe('a-b(w|)', { ...VALUES, w: interrupt() });
    }));

  it('goes on behind a resume with the round that waited', () =>
    marbles(({ cold, expectObservable }) => {
      const body$ = cold('--(d|)', { d: 'done' as const });

      const events$ = perItem(
        {},
        { nodeState: { index: 1 }, outputs: { a: {}, node: { seen: ['X'] }, ...BEGIN }, body: shouting(() => body$) },
      );

      const values = { ...VALUES, b: { type: 'progress', nodeState: { index: 1 } } };
      expectObservable(events$).toBe('b-c-(s|)', values);
    }));

  it('leaves early for the Loop around it when its body is exited', () =>
    marbles(({ cold, expectObservable }) => {
      const ends = { '0': of('done' as const), '1': cold('-----(x|)', { x: 'exited' as const }) };
      const expected = '                                  (ab)-(l|) ';

      const events$ = perItem({}, { body: shouting((key) => ends[key as '0' | '1']) });

      expectObservable(events$).toBe(expected, { ...VALUES, l: settled({ seen: ['X'] }, { exit: true }) });
    }));

  it('runs several items at a time when it may', () =>
    marbles(({ cold, expectObservable }) => {
      const ends = {
        '0': cold('      --------(d|) ', { d: 'done' as const }),
        '1': cold('      ------(d|)   ', { d: 'done' as const }),
      };
      const expected = ' (lmm)-n-(os|)';
      const values = {
        l: { type: 'progress', nodeState: { items: ['x', 'y'] }, outputs: { _ended: [] } },
        m: { type: 'progress' },
        n: { type: 'progress', append: { _ended: { index: 1, values: { seen: 'Y' } } } },
        o: { type: 'progress', append: { _ended: { index: 0, values: { seen: 'X' } } } },
        s: settled({
          _result: [
            { a: { value: 'X' }, item: 'x', index: 0 },
            { a: { value: 'Y' }, item: 'y', index: 1 },
          ],
          seen: ['X', 'Y'],
        }),
      };

      const events$ = perItem({ max_concurrency: 2 }, { body: shouting((key) => ends[key as '0' | '1']) });

      expectObservable(events$).toBe(expected, values);
    }));

  it('fails when there is no list', () =>
    marbles(({ expectObservable }) => {
      const events$ = perItem({}, { outputs: { begin: { list: 'text' } }, body: () => NEVER });

      const failure = new EngineError('NODE_FAILED', 'begin@list must be an array, but its kind is text.');
      expectObservable(events$).toBe('#', {}, failure);
    }));
});
