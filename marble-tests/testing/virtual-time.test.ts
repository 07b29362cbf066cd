import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { chain } from '../../src/compose/chain.js';
import { graph } from '../../src/compose/graph.js';
import { hasToolCall } from '../../src/compose/has-tool-call.js';
import { chatModel } from '../../src/compose/models/chat-model-step.js';
import { ask, step } from '../../src/compose/steps.js';
import { toolsNode } from '../../src/compose/tools/tools-node.js';
import { EngineError } from '../../src/errors.js';
import { assistantMessage, type ChatMessage, userMessage } from '../../src/models/messages.js';
import { eventOf, eventsByLetter, toLetters } from '../../src/testing/events-by-letter.js';
import { type MarbleModel, toolCall } from '../../src/testing/marble-model.js';
import { inVirtualTime, type VirtualTimeOptions } from '../../src/testing/virtual-time.js';

const EQUAL: VirtualTimeOptions = { equal: (actual, expected) => expect(actual).toEqual(expected) };
const QUESTION: readonly ChatMessage[] = [userMessage('Weather?')];
const SEARCH = { name: 'search', description: 'Finds.', input: z.object({ query: z.string() }) };
const chunk = eventOf('node-chunk', { node: 'model' });
/** A chunk with text: the last one of a model says only why it ended. */
const text = (event: { readonly type: string; readonly value?: unknown }): boolean =>
  chunk(event) && (event.value as { content: string }).content !== '';
const failed = { n: 'node-failed', f: 'run-failed', e: 'run-settled' } as const;

/** What a function throws, as text. */
function messageOf(work: () => void): string {
  try {
    work();
  } catch (error) {
    return String(error);
  }
  return 'nothing was thrown';
}

const asking = (model: MarbleModel) => chatModel(model);

describe('a model of marbles', () => {
  it('plays the nth diagram for the nth request, and records what was asked and when', () =>
    inVirtualTime(({ model, run, expectEvents, expectSubscriptions, flush }) => {
      const talker = model(['--a--b|', '-c|'], { a: 'Hello ', b: 'you' });
      const twice = chain(asking(talker), (answer) => [answer], asking(talker));
      const letters = { t: eventOf('node-chunk', { value: { content: 'Hello ' } }), e: 'run-settled' } as const;
      expectEvents(run(twice, QUESTION), letters).toBe('--t-----(e|)');
      expectSubscriptions(talker.subscriptions[0] ?? []).toBe('^-----!');
      expectSubscriptions(talker.subscriptions[1] ?? []).toBe('------^-!');
      flush();
      expect(talker.requests.map(({ messages }) => messages.at(-1)?.content)).toEqual(['Weather?', 'Hello you']);
    }, EQUAL));

  it('gives texts, calls with ids of their own, and the reason why it ended', () =>
    inVirtualTime(({ model, expectObservable }) => {
      const talker = model(['-a(bb)-x|', '-b|', '-f|'], {
        b: toolCall('search', { query: 'Oslo' }),
        f: { type: 'finish', reason: 'length' },
      });
      const call = (index: number, id: string) => {
        return { type: 'tool-call', index, id, name: 'search', arguments: '{"query":"Oslo"}' };
      };
      const request = { model: 'm', messages: QUESTION };
      expectObservable(talker.chat(request)).toBe('-a(bc)-x(d|)', {
        a: { type: 'text', text: 'a' },
        b: call(0, 'call_2'),
        c: call(1, 'call_3'),
        x: { type: 'text', text: 'x' },
        d: { type: 'finish', reason: 'tool_calls' },
      });
      expectObservable(talker.chat(request)).toBe('-b(d|)', {
        b: call(0, 'call_1'),
        d: { type: 'finish', reason: 'tool_calls' },
      });
      expectObservable(talker.chat(request)).toBe('-f|', { f: { type: 'finish', reason: 'length' } });
    }, EQUAL));

  it('fails where the diagram says so, with an error of the test or its own', () =>
    inVirtualTime(({ model, expectObservable }) => {
      const request = { model: 'm', messages: QUESTION };
      const error = new EngineError('MODEL_UNAVAILABLE', 'The model of the test is not available.');
      expectObservable(model(['--#']).chat(request)).toBe('--#', {}, error);
      const own = new Error('too hot');
      expectObservable(model(['-#'], { '#': own }).chat(request)).toBe('-#', {}, own);
      const none = model([]);
      const message =
        'The model of the test was asked 1 times and has 0 diagrams; give marbleModel one more, or find out who asks.';
      expectObservable(none.chat(request)).toBe('#', {}, new EngineError('MODEL_REQUEST', message));
    }, EQUAL));

  it('is unsubscribed with its run', () =>
    inVirtualTime(({ model, run, expectEvents, expectSubscriptions }) => {
      const talker = model(['--a--b|']);
      expectEvents(run(asking(talker), QUESTION), { t: text }, '^--!').toBe('--t');
      expectSubscriptions(talker.subscriptions[0] ?? []).toBe('^--!');
    }, EQUAL));
});

describe('time limits and retries', () => {
  it('take virtual time only', () =>
    inVirtualTime(({ model, run, expectEvents, expectSubscriptions }) => {
      const talker = model(['--#', '-#', '---a|']);
      const patient = graph<readonly ChatMessage[], unknown>('patient', (g) => {
        const node = g.node('model', asking(talker), { retry: { attempts: 3, delayMs: 1_000 } });
        g.edge(g.start, node);
        g.edge(node, g.end);
      });
      expectEvents(run(patient, QUESTION, { random: () => 0.5 }), { t: text, ...failed }).toBe(
        '--n 1000ms n 1002ms t(e|)',
      );
      expectSubscriptions(talker.subscriptions[0] ?? []).toBe('^-!');
    }, EQUAL));

  it('end what takes too long', () =>
    inVirtualTime(({ model, run, expectEvents, expectSubscriptions }) => {
      const talker = model(['--a 1m b|']);
      const hasty = step('hasty', () => talker.chat({ model: 'm', messages: QUESTION }), { timeoutMs: 500 });
      expectEvents(run(hasty, 0), failed).toBe('500ms (nf|)');
      expectSubscriptions(talker.subscriptions[0] ?? []).toBe('^ 499ms !');
      const slow = model(['- 60m a|']);
      expectEvents(run(asking(slow), QUESTION, { timeoutMs: 2_000 }), failed).toBe('2s (f|)');
    }, EQUAL));
});

describe('a tool of marbles', () => {
  it('plays the nth diagram for the nth call, beside the model', () =>
    inVirtualTime(({ model, tool, run, expectEvents, expectSubscriptions, flush }) => {
      const search = tool(SEARCH, ['---r|', '-r|'], { r: 'Rain.' });
      const talker = model(['-(cd|)', '--a|'], {
        c: toolCall('search', { query: 'Oslo' }),
        d: toolCall('search', { query: 'Bergen' }),
        a: 'Rain in both.',
      });
      const agent = graph<readonly ChatMessage[], unknown>('agent', (g) => {
        const node = g.node('model', chatModel(talker, { tools: [search] }), { merge: ([first]) => first as never });
        const tools = g.node('tools', toolsNode({ tools: [search] }));
        g.edge(g.start, node);
        g.streamBranch(node, { tools, end: g.end }, hasToolCall());
        g.edge(tools, node);
      });
      const letters = {
        s: eventOf('node-call', { call: { type: 'started', name: 'search' } }),
        e: 'run-settled',
      } as const;
      expectEvents(run(agent, QUESTION), letters).toBe('-(ss)---(e|)');
      expectSubscriptions(search.subscriptions[0] ?? []).toBe('-^---!');
      flush();
      expect(search.calls).toEqual([
        { args: { query: 'Oslo' }, frame: 1 },
        { args: { query: 'Bergen' }, frame: 1 },
      ]);
      expect(talker.requests[1]?.messages.map(({ content }) => content)).toEqual(['Rain.', 'Rain.']);
    }, EQUAL));

  it('asks, and is called again with the answer of the person', () =>
    inVirtualTime(({ tool, person, run, expectEvents, flush }) => {
      const search = tool(SEARCH, ['-q|', '--q|'], {
        q: ({ query }, call) => (call.answer === true ? `found ${query}` : call.interrupt(`Search ${query}?`)),
      });
      const asked = assistantMessage('', {
        toolCalls: [{ id: 'c1', name: 'search', arguments: '{"query":"Oslo"}' }],
      });
      const someone = person(['-----y|'], { y: true });
      const done = eventOf('run-settled', { value: { 0: { content: 'found Oslo' } } });
      const events$ = run(toolsNode({ tools: [search] }), asked, { person: someone });
      expectEvents(events$, { i: 'run-interrupted', e: done }).toBe('--i-------(e|)');
      flush();
      expect(someone.asked).toMatchObject([{ frame: 2, questions: [{ question: 'Search Oslo?' }] }]);
    }, EQUAL));
});

describe('a person of marbles', () => {
  const order = chain(
    ask(z.boolean(), () => 'Really?'),
    (isSure) => (isSure ? 'ordered' : 'dropped'),
  );

  it('answers after a time, and the run goes on', () =>
    inVirtualTime(({ person, run, expectEvents, expectSubscriptions }) => {
      const someone = person(['--- 1m n|'], { n: false });
      const letters = { i: 'run-interrupted', e: eventOf('run-settled', { value: 'dropped' }) } as const;
      expectEvents(run(order, 'piano', { person: someone }), letters).toBe('i 59999ms ---(e|)');
      expectSubscriptions(someone.subscriptions[0] ?? []).toBe('^ 59999ms ---!');
    }, EQUAL));

  it('leaves open what a letter has no answer for, and never answers without a diagram', () =>
    inVirtualTime(({ person, run, expectEvents }) => {
      const silent = run(order, 'piano', { person: person([]) });
      expectEvents(silent, { i: 'run-interrupted', e: 'run-settled' }).toBe('(i|)');
      const picky = person(['-y|', '--y|'], { y: ({ address }: { address: string }) => address === 'ask' });
      expectEvents(run(order, 'piano', { person: picky }), { i: 'run-interrupted', e: 'run-settled' }).toBe('i(e|)');
    }, EQUAL));

  it('is let go with its run', () =>
    inVirtualTime(({ person, run, expectEvents, expectSubscriptions }) => {
      const someone = person(['-----y|'], { y: true });
      expectEvents(run(order, 'piano', { person: someone }), { i: 'run-interrupted' }, '^--!').toBe('i');
      expectSubscriptions(someone.subscriptions[0] ?? []).toBe('^--!');
    }, EQUAL));
});

describe('events by letter', () => {
  const events = [
    { type: 'a', n: 1, deep: { list: [1, 2] } },
    { type: 'b', n: 2 },
    { type: 'a', n: 3 },
  ];

  it('are those that have one, the first that fits', () => {
    expect(eventsByLetter(events, { x: eventOf('a', { n: 3 }), y: 'a' })).toBe('yx');
    expect(eventsByLetter(events, { z: eventOf('a', { deep: { list: [1, 2] } }) })).toBe('z');
    expect(eventsByLetter(events, { z: eventOf('a', { deep: { list: [1] } }), n: (event) => event.n === 2 })).toBe('n');
    expect(messageOf(() => toLetters({ ab: 'a' }))).toContain(
      '"letters" must be an object with single letters; received "ab"',
    );
  });

  it('pass an error on, and let go of their source', () =>
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const source = { a: events[0], b: events[1] } as Record<string, { type: string }>;
      expectObservable(cold('ab-a#', source).pipe(toLetters({ y: 'a' }))).toBe('y--y#');
      expectObservable(of(...events).pipe(toLetters({ y: 'a', z: 'b' }))).toBe('(yzy|)');
      const long = cold('a-b-a-|', source);
      expectObservable(long.pipe(toLetters({ y: 'a' })), '^--!').toBe('y');
      expectSubscriptions(long.subscriptions).toBe('^--!');
    }, EQUAL));
});

describe('a wrong expectation', () => {
  const talk = (diagram: string, expected: string, options: VirtualTimeOptions = {}): string =>
    messageOf(() =>
      inVirtualTime(({ model, run, expectEvents }) => {
        expectEvents(run(asking(model([diagram])), QUESTION), { t: eventOf('node-chunk'), e: 'run-settled' }).toBe(
          expected,
        );
      }, options),
    );

  it('fails with both timelines, with node:assert and with another comparison', () => {
    const expected = [
      'Error: The timelines differ.',
      'expected:',
      '     3 ms  t',
      '     4 ms  |',
      'received:',
      '     2 ms  t',
      '     3 ms  t',
      '     3 ms  e',
      '     3 ms  |',
    ].join('\n');
    expect(talk('--a|', '---t|')).toBe(expected);
    expect(talk('--a|', '---t|', EQUAL)).toBe(expected);
  });

  it('says so of subscriptions, and hints at promises when something is missing', () => {
    const wrong = messageOf(() =>
      inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
        const source = cold('--a|');
        expectObservable(source).toBe('--a|');
        expectSubscriptions(source.subscriptions).toBe('^----!');
      }),
    );
    expect(wrong).toContain('subscribed at 0 ms, until 5 ms\nreceived:\n       subscribed at 0 ms, until 3 ms');
    const promised = messageOf(() =>
      inVirtualTime(({ run, expectEvents }) => {
        expectEvents(
          run(
            step('late', () => Promise.resolve(1)),
            0,
          ),
          { s: 'run-started', e: 'run-settled' },
        ).toBe('s(e|)');
      }),
    );
    expect(promised).toContain('What waits for a Promise, a file or a socket does not go on in virtual time.');
  });

  it('says what is no test, no diagram and no comparison', () => {
    expect(messageOf(() => inVirtualTime(async () => {}))).toContain('"test" must be a function without promises');
    expect(messageOf(() => inVirtualTime(({ model }) => void model(['^a|'])))).toContain(
      '"diagrams" must be marble diagrams',
    );
    expect(messageOf(() => inVirtualTime(() => {}, { equal: 5 as never }))).toContain(
      '"equal" must be a function; received 5',
    );
  });
});
