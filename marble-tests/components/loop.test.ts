import { map, type Observable, of } from 'rxjs';
import { describe, it } from 'vitest';
import { loop } from '../../src/components/loop.js';
import { EngineError } from '../../src/errors.js';
import type { BodyEnd } from '../../src/graph/node.js';
import { interrupt, settled } from '../../src/graph/node-events.js';
import type { JsonObject } from '../../src/json.js';
import { createNode, type FakeOptions, fakeActivation, perform } from '../support/activation.js';
import { marbles } from '../support/scheduler.js';

const COUNTING = {
  maximum_loop_count: 10,
  loop_variables: [{ variable: 'n', input_mode: 'constant', value: 0, type: 'number' }],
  loop_termination_condition: [{ variable: 'node@n', operator: '≥', input_mode: 'constant', value: 2 }],
};

const VALUES = {
  i: { type: 'progress', outputs: { n: 0 } },
  a: { type: 'progress', nodeState: { round: 0 } },
  b: { type: 'progress', nodeState: { round: 1 } },
  c: { type: 'progress', nodeState: { round: 2, isClosing: true } },
  s: settled({ n: 2 }),
};

const repeat = (params: JsonObject, options: FakeOptions) =>
  perform(createNode(loop, { ...COUNTING, ...params }, { body: ['item', 'a'] }), fakeActivation(options));

/** A body that adds 1 to the loop's `n` when `end$` emits, unless it only closes. */
const counting = (end$: (key: string) => Observable<BodyEnd['status']>): NonNullable<FakeOptions['body']> => {
  return (round, fake) =>
    end$(round.key).pipe(
      map((status) => {
        const before = fake.lookup('node@n');
        if (round.closing !== true && before.status === 'found') fake.write('node', { n: Number(before.value) + 1 });
        return status;
      }),
    );
};

describe('Loop', () => {
  it('repeats its body until the condition holds, then closes', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const body$ = cold('    ----(d|)         ', { d: 'done' as const });
      const bodySubs = ['     ^---!            ', '----^---!        ', '--------^---!    '];
      const expected = '      (ia)b---c---(s|) ';

      const events$ = repeat({}, { body: counting(() => body$) });

      expectObservable(events$).toBe(expected, VALUES);
      expectSubscriptions(body$.subscriptions).toBe(bodySubs);
    }));

  it('says everything at once when the bodies are synchronous', () =>
    marbles(({ expectObservable }) => {
      expectObservable(repeat({}, { body: counting(() => of('done')) })).toBe('(iabcs|)', VALUES);
    }));

  it('stops the body when it is unsubscribed', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const body$ = cold('    -------(d|)', { d: 'done' as const });
      const bodySubs = '      ^----!     ';
      const unsub = '         -----!     ';
      const expected = '      (ia)--     ';

      expectObservable(repeat({}, { body: counting(() => body$) }), unsub).toBe(expected, VALUES);
      expectSubscriptions(body$.subscriptions).toBe(bodySubs);
    }));

  it('passes on the error of a body as it is', () =>
    marbles(({ cold, expectObservable }) => {
      const failure = new Error('no');
      const body$ = cold<'done'>('-----#', {}, failure);

      expectObservable(repeat({}, { body: () => body$ })).toBe('(ia)-#', VALUES, failure);
    }));

  it('is not closed when its body is exited', () =>
    marbles(({ cold, expectObservable }) => {
      const body$ = cold('    -----(x|)  ', { x: 'exited' as const });
      const expected = '      (ia)-(s|)  ';

      const events$ = repeat({}, { body: counting(() => body$) });

      expectObservable(events$).toBe(expected, { ...VALUES, s: settled({ n: 1 }) });
    }));

  it('waits when its body waits', () =>
    marbles(({ cold, expectObservable }) => {
      const body$ = cold('    -----(w|)  ', { w: 'interrupted' as const });
      const expected = '      (ia)-(w|)  ';

      expectObservable(repeat({}, { body: counting(() => body$) })).toBe(expected, { ...VALUES, w: interrupt() });
    }));

  it('takes up the round that waited without looking at its condition', () =>
    marbles(({ cold, expectObservable }) => {
      const body$ = cold('    --(d|)     ', { d: 'done' as const });
      const expected = '      b-c-(s|)   ';

      // The body had already counted to the end before it waited.
      const resumed = { nodeState: { round: 1 }, outputs: { node: { n: 2 } } };
      const events$ = repeat({}, { ...resumed, body: counting(() => body$) });

      expectObservable(events$).toBe(expected, { ...VALUES, s: settled({ n: 3 }) });
    }));

  it('fails when it looks at something that does not exist', () =>
    marbles(({ expectObservable }) => {
      const condition = { variable: 'ghost@x', operator: 'empty' };
      const failure = new EngineError(
        'REFERENCE_UNRESOLVED',
        'A condition of loop "node" reads "ghost@x", which does not exist.',
      );

      expectObservable(repeat({ loop_termination_condition: [condition] }, {})).toBe('(i#)', VALUES, failure);
    }));
});
