import { delay, map, mergeMap, type Observable, of, take } from 'rxjs';
import { describe, it } from 'vitest';
import {
  as,
  chain,
  EngineError,
  graph,
  hasToolCall,
  operator,
  parallel,
  passthrough,
  pick,
  type Step,
  type StepLike,
  step,
  streamBranch,
  transform,
} from '../../src/index.js';
import { marbles } from '../support/scheduler.js';

const upper = operator(
  'upper',
  map((text: string) => text.toUpperCase()),
);

/** A step as a graph of its own, which chains do not take apart. */
const inGraph = <I, O>(body: StepLike<I, O>): Step<I, O> =>
  graph<I, O>('inner', (g) => {
    const node = g.node('body', body);
    g.edge(g.start, node);
    g.edge(node, g.end);
  });

describe('chunks through steps', () => {
  it('come out at the moment they come in, through operators and graphs', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('                                     -a--b-(cd)---|');
      const result$ = source.pipe(transform(chain(upper, inGraph(upper), passthrough<string>())));
      expectObservable(result$).toBe('                          -A--B-(CD)---|');
      expectSubscriptions(source.subscriptions).toBe('          ^------------!');
    }));

  it('are one value for a function, when the last one has come', () =>
    marbles(({ cold, expectObservable }) => {
      const result$ = cold('-a--b--|').pipe(transform(chain(upper, (text: string) => `<${text}>`)));
      expectObservable(result$).toBe('-------(x|)', { x: '<AB>' });
    }));

  it('of a step that makes them come while it is at work', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const made = cold('                                              --a-b-|');
      const result$ = cold('-(x|)').pipe(transform(chain((_: string) => made, upper)));
      expectObservable(result$).toBe('                          ---A-B-|');
      expectSubscriptions(made.subscriptions).toBe('            -^-----!');
    }));

  it('go to every reader; each is as quick as it is itself', () =>
    marbles(({ cold, expectObservable }) => {
      const late = operator('late', delay<string>(3));
      const both = parallel({ now: upper, late });
      expectObservable(cold('a-b------|').pipe(transform(both))).toBe('x-yv-w---|', {
        x: { now: 'A' },
        y: { now: 'B' },
        v: { late: 'a' },
        w: { late: 'b' },
      });
    }));

  it('of a key are the stream of that key', () =>
    marbles(({ cold, expectObservable }) => {
      const result$ = cold('a-b-|').pipe(
        transform(chain(parallel({ one: upper, two: passthrough<string>() }), pick('one'))),
      );
      expectObservable(result$).toBe('A-B-|');
      expectObservable(cold('a-|').pipe(transform(as<'key', string>('key')))).toBe('x-|', { x: { key: 'a' } });
    }));

  it('of several nodes come together in the order in which they arrive', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const [left, right] = [cold('-a---b-|'), cold('--c-d-----e|')];
      const joined = graph<string, object>('joined', (g) => {
        const one = g.node('one', () => left.pipe(map((text) => ({ left: text }))));
        const two = g.node('two', () => right.pipe(map((text) => ({ right: text }))));
        g.edge(g.start, one);
        g.edge(g.start, two);
        g.edge(one, g.end as never);
        g.edge(two, g.end as never);
      });
      expectObservable(of('go').pipe(transform(joined))).toBe('-ac-db----e|', {
        a: { left: 'a' },
        b: { left: 'b' },
        c: { right: 'c' },
        d: { right: 'd' },
        e: { right: 'e' },
      });
      expectSubscriptions(left.subscriptions).toBe('^------!');
      expectSubscriptions(right.subscriptions).toBe('^----------!');
    }));

  it('end when what reads them has enough, and the source is let go', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const made = cold('                                            a-b-c-d-|');
      const result$ = of('go').pipe(transform(chain((_: string) => made, operator(take<string>(2)), upper)));
      expectObservable(result$).toBe('                        A-(B|)');
      expectSubscriptions(made.subscriptions).toBe('          ^-!');
    }));

  it('end with the subscription to the result', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('                            a-b-c-|');
      const result$ = source.pipe(transform(chain(upper, inGraph(upper))));
      expectObservable(result$, '                      ^--!').toBe('A-B');
      expectSubscriptions(source.subscriptions).toBe(' ^--!');
    }));

  it('that are none make a stream without any, and no value', () =>
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold('--|').pipe(transform(upper))).toBe('--|');
      const empty = new EngineError(
        'STREAM_EMPTY',
        '"length" needs a value, but the stream that should give it ended without any chunk. Let the step before it give at least one; "pick" gives none for a key that is not there.',
      );
      const length = step('length', (text: string) => text.length);
      expectObservable(cold('--|').pipe(transform(chain(upper, length)))).toBe('--#', undefined, empty);
    }));
});

describe('a failure in the middle of a stream', () => {
  const cut = new EngineError('MODEL_UNAVAILABLE', 'the line was cut');

  it('of the input comes behind the chunks before it', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('                                     a-b-#', undefined, cut);
      expectObservable(source.pipe(transform(chain(upper, passthrough<string>())))).toBe('A-B-#', undefined, cut);
      expectSubscriptions(source.subscriptions).toBe('          ^---!');
    }));

  it('of a step ends the steps beside it', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const broken = cold('  -a-#', undefined, cut);
      const beside = cold('  --b----|');
      const both = parallel({ broken: chain((_: string) => broken), beside: chain((_: string) => beside) });
      expectObservable(of('go').pipe(transform(both))).toBe('-ab#', { a: { broken: 'a' }, b: { beside: 'b' } }, cut);
      expectSubscriptions(beside.subscriptions).toBe('^--!');
    }));

  it('is tried again where the step says so, and what was read of the first try is taken back', () =>
    marbles(({ cold, expectObservable }) => {
      let tries = 0;
      const model = step(
        'model',
        (_: string): Observable<string> => {
          tries += 1;
          return tries === 1
            ? cold('-a-#', undefined, new EngineError('MODEL_UNAVAILABLE', 'asleep', { retryable: true }))
            : cold('-b-c|');
        },
        { retry: { attempts: 2 } },
      );
      const whole = chain(model, upper, (text: string) => `<${text}>`);
      expectObservable(of('go').pipe(transform(whole))).toBe('-------(x|)', { x: '<BC>' });
    }));
});

describe('a branch on the beginning of a stream', () => {
  const byCapital = (chunks: readonly string[], isLast: boolean): 'big' | 'small' | undefined =>
    chunks.some((chunk) => chunk === chunk.toUpperCase()) ? 'big' : isLast ? 'small' : undefined;
  const tagged = (tag: string): Step<string, string> =>
    operator(
      tag,
      map((text: string) => `${tag}${text}`),
    );
  const branched = streamBranch(byCapital, { big: tagged('>'), small: tagged('<') });

  it('lets chunks wait for the decision, and passes on the rest live', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('                            -a--B-----c-|');
      expectObservable(source.pipe(transform(branched))).toBe('----(aB)--c-|', { a: '>a', B: '>B', c: '>c' });
      expectSubscriptions(source.subscriptions).toBe(' ^-----------!');
    }));

  it('decides at the end at the latest', () =>
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold('-a-b-|').pipe(transform(branched))).toBe('-----(ab|)', { a: '<a', b: '<b' });
    }));

  it('gives every chunk to each of several routes', () =>
    marbles(({ cold, expectObservable }) => {
      const keyed = (key: string) =>
        operator(
          key,
          map((text: string): object => ({ [key]: text })),
        );
      const both = streamBranch(
        (chunks: readonly string[]) => (chunks.length === 2 ? (['l', 'r'] as const) : undefined),
        {
          l: keyed('l'),
          r: keyed('r'),
        },
      );
      const wholes = cold('a-b---|').pipe(transform(chain(both, (value: object) => value)));
      expectObservable(wholes).toBe('------(x|)', { x: { l: 'ab', r: 'ab' } });
    }));

  it('fails with its source before the decision, at once', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const cut = new EngineError('MODEL_UNAVAILABLE', 'cut');
      const source = cold('                           -a-#', undefined, cut);
      expectObservable(source.pipe(transform(branched))).toBe('---#', undefined, cut);
      expectSubscriptions(source.subscriptions).toBe('^--!');
    }));

  it('is unsubscribed with everything before it', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('                            -a-B-c-|');
      expectObservable(source.pipe(transform(branched)), '^--!').toBe('');
      expectSubscriptions(source.subscriptions).toBe(' ^--!');
    }));

  it('takes chunks that are all there at once', () =>
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold('(aBc|)').pipe(transform(branched))).toBe('(aBc|)', { a: '>a', B: '>B', c: '>c' });
    }));

  it('finds a tool call behind text', () =>
    marbles(({ cold, expectObservable }) => {
      const values = {
        t: { role: 'assistant', content: 'One moment.' },
        c: { role: 'assistant', toolCalls: [{ index: 0, id: '1', name: 'find', arguments: '{}' }] },
      };
      const routes = streamBranch(hasToolCall(), {
        tools: operator(mergeMap(() => ['tools'])),
        end: operator(mergeMap(() => ['end'])),
      });
      expectObservable(cold<object>('-t--c---|', values).pipe(transform(routes as Step<object, string>))).toBe(
        '----(xx)|',
        { x: 'tools' },
      );
      expectObservable(cold<object>('-t--|', values).pipe(transform(routes as Step<object, string>))).toBe('----(x|)', {
        x: 'end',
      });
    }));
});

describe('an observed source', () => {
  it('is subscribed to once for each subscription to the result', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('                                                a---|');
      const result$: Observable<string> = source.pipe(
        transform(parallel({ one: upper, two: upper })),
        map(({ one, two }) => one ?? two),
      );
      expectObservable(result$).toBe('                                     (AA)|');
      expectObservable(result$).toBe('                                     (AA)|');
      expectSubscriptions(source.subscriptions).toBe(['                    ^---!', '                    ^---!']);
    }));
});
