import { map, type Observable, of } from 'rxjs';
import { describe, it } from 'vitest';
import { parallel } from '../../src/components/parallel.js';
import type { BodyEnd } from '../../src/graph/node.js';
import { interrupt, type NodeEvent } from '../../src/graph/node-events.js';
import type { Json, JsonObject } from '../../src/json.js';
import { createNode, type FakeActivation, type FakeOptions, fakeActivation, perform } from '../support/activation.js';
import { marbles } from '../support/scheduler.js';

const ITEMS = ['x', 'y', 'z'];

/** The bodies of a test, by the key of their round; `a` gives the item in capitals when one ends. */
type Ends = Readonly<Record<string, Observable<BodyEnd['status']>>>;

interface Watched {
  readonly activation: FakeActivation;
  readonly events$: Observable<NodeEvent>;
}

const sideBySide = (params: JsonObject, ends: Ends, options: FakeOptions = {}): Watched => {
  const body: NonNullable<FakeOptions['body']> = (round, fake) =>
    (ends[round.key] as Observable<BodyEnd['status']>).pipe(
      map((status) => {
        fake.write('a', { value: String(round.aliases?.item).toUpperCase() });
        return status;
      }),
    );
  const written = { items_ref: 'begin@list', outputs: { seen: { ref: 'a@value' } }, max_concurrency: 2, ...params };
  const outputs = { begin: { list: ITEMS }, a: {} };
  const activation = fakeActivation({ outputs, ...options, body });
  return { activation, events$: perform(createNode(parallel, written, { body: ['a'] }), activation) };
};

/** Only what is remembered after each event (the indexes that ended, in order) and how it ends. */
const seen = ({ activation, events$ }: Watched): Observable<unknown> =>
  events$.pipe(
    map((event) => {
      if (event.type === 'progress') {
        return (activation.outputs._ended as unknown as readonly { index: number }[]).map(({ index }) => index);
      }
      return event.type === 'settled' ? { seen: event.outputs.seen, exit: event.exit } : event;
    }),
  );

const done = { d: 'done' as const };
const ended = (list: Json, exit?: boolean) => ({ seen: list, exit });

describe('Parallel', () => {
  it('starts the next item when one ends, and keeps the order of the items', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const x$ = cold('       ---------(d|)     ', done);
      const y$ = cold('       -----(d|)         ', done);
      const z$ = cold('            ------(d|)   ', done);
      const xSubs = '         ^--------!        ';
      const ySubs = '         ^----!            ';
      const zSubs = '         -----^-----!      ';
      const expected = '      (mmm)n---o-(pr|)  ';
      const values = { m: [], n: [1], o: [1, 0], p: [1, 0, 2], r: ended(['X', 'Y', 'Z']) };

      expectObservable(seen(sideBySide({}, { '0': x$, '1': y$, '2': z$ }))).toBe(expected, values);
      expectSubscriptions(x$.subscriptions).toBe(xSubs);
      expectSubscriptions(y$.subscriptions).toBe(ySubs);
      expectSubscriptions(z$.subscriptions).toBe(zSubs);
    }));

  it('does one item after the other with a concurrency of 0', () =>
    marbles(({ cold, expectObservable }) => {
      const body$ = cold('    ----(d|)             ', done);
      const expected = '      (mm)n---o---(pr|)  ';
      const values = { m: [], n: [0], o: [0, 1], p: [0, 1, 2], r: ended(['X', 'Y', 'Z']) };

      const watched = sideBySide({ max_concurrency: 0 }, { '0': body$, '1': body$, '2': body$ });

      expectObservable(seen(watched)).toBe(expected, values);
    }));

  it('says everything at once when the bodies are synchronous', () =>
    marbles(({ expectObservable }) => {
      const body$ = of('done' as const);
      const values = { m: [], n: [0], o: [0, 1], p: [0, 1, 2], r: ended(['X', 'Y', 'Z']) };

      // The first lane does everything; the second finds nothing left.
      expectObservable(seen(sideBySide({}, { '0': body$, '1': body$, '2': body$ }))).toBe('(mmnoppr|)', values);
    }));

  it('fails with the first error and stops the other rounds', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const failure = new Error('no');
      const x$ = cold<'done'>('-----# ', {}, failure);
      const y$ = cold('        ------(d|)', done);
      const ySubs = '          ^----! ';
      const expected = '       (mmm)# ';

      expectObservable(seen(sideBySide({}, { '0': x$, '1': y$, '2': y$ }))).toBe(expected, { m: [] }, failure);
      expectSubscriptions(y$.subscriptions).toBe(ySubs);
    }));

  it.each([
    ['null', ['X', null, 'Z']],
    ['skip', ['X', 'Z']],
  ] as const)('goes on behind an error with on_item_error %s', (choice, list) =>
    marbles(({ cold, expectObservable }) => {
      const x$ = cold('       -----(d|)     ', done);
      const y$ = cold<'done'>('-----#        ', {}, new Error('no'));
      const z$ = cold('            ----(d|) ', done);
      const expected = '      (mmm)(no)(pr|)';
      const values = { m: [], n: [0], o: [0, 1], p: [0, 1, 2], r: ended(list) };

      const watched = sideBySide({ on_item_error: choice }, { '0': x$, '1': y$, '2': z$ });

      expectObservable(seen(watched)).toBe(expected, values);
    }),
  );

  it('stops every round when it is unsubscribed', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const body$ = cold('    --------(d|)', done);
      const bodySubs = ['     ^----!      ', '^----!      '];
      const unsub = '         -----!      ';
      const expected = '      (mmm)-      ';

      expectObservable(seen(sideBySide({}, { '0': body$, '1': body$ })), unsub).toBe(expected, { m: [] });
      expectSubscriptions(body$.subscriptions).toBe(bodySubs);
    }));

  it('waits when rounds wait, after the others have ended', () =>
    marbles(({ cold, expectObservable }) => {
      const x$ = cold('       -----(w|)         ', { w: 'interrupted' as const });
      const y$ = cold('       -------(d|)       ', done);
      const z$ = cold('            -----(d|)    ', done);
      const expected = '      (mmm)m-n--(pw|)   ';

      const watched = sideBySide({}, { '0': x$, '1': y$, '2': z$ });

      expectObservable(seen(watched)).toBe(expected, { m: [], n: [1], p: [1, 2], w: interrupt() });
    }));

  it('goes on behind a resume with the rounds that are left, whatever the list is now', () =>
    marbles(({ cold, expectObservable }) => {
      const x$ = cold('       --(d|)    ', done);
      const expected = '      n-(pr|)   ';
      const _ended = [
        { index: 1, values: { seen: 'Y' } },
        { index: 2, values: { seen: 'Z' } },
      ];

      const watched = sideBySide(
        {},
        { '0': x$ },
        { nodeState: { items: ITEMS }, outputs: { a: {}, node: { _ended } } },
      );

      expectObservable(seen(watched)).toBe(expected, { n: [1, 2], p: [1, 2, 0], r: ended(['X', 'Y', 'Z']) });
    }));

  it('forgets rounds that an activation before it left behind when it was cut short', () =>
    marbles(({ cold, expectObservable }) => {
      const x$ = cold('    ----(w|)   ', { w: 'interrupted' as const });
      const expected = '   (lm)(mw|)  ';
      const node = { seen: ['old'], _ended: [{ index: 0, values: { seen: 'old' } }] };
      const values = {
        l: { type: 'progress', nodeState: { items: ['x'] }, outputs: { seen: ['old'], _ended: [] } },
        m: { type: 'progress' },
        w: interrupt(),
      };

      const { events$ } = sideBySide({}, { '0': x$ }, { outputs: { begin: { list: ['x'] }, a: {}, node } });

      expectObservable(events$).toBe(expected, values);
    }));

  it('leaves early for the Loop around it and stops the other rounds', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const x$ = cold('       -----(x|) ', { x: 'exited' as const });
      const y$ = cold('       ------(d|)', done);
      const ySubs = '         ^----!    ';
      const expected = '      (mmm)(r|) ';

      const watched = sideBySide({}, { '0': x$, '1': y$ });

      expectObservable(seen(watched)).toBe(expected, { m: [], r: ended([null, null, null], true) });
      expectSubscriptions(y$.subscriptions).toBe(ySubs);
    }));
});
