/** Every mode of a stop, in everything that an agent of a runner may be doing when it comes: what ends when, and which mode took hold. */
import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { LIVE } from '../../../src/agents/loop/live-control.js';
import { LiveInputs, type SafePointRequest } from '../../../src/agents/runner/live-inputs.js';
import { turnGraph } from '../../../src/agents/runner/turn-graph.js';
import {
  type AgentOptions,
  agent,
  agentTool,
  approve,
  backgroundWork,
  type CancelMode,
  type UserInput,
} from '../../../src/entries/agents.js';
import { eventOf, inVirtualTime, toolCall, type VirtualTime } from '../../../src/entries/testing.js';

const equal = (actual: unknown, expected: unknown) => expect(actual).toEqual(expected);
const ENDS = { e: 'run-settled', c: 'run-cancelled', i: 'run-interrupted' } as const;
const dig = toolCall('dig', {});
const VALUES = { c: dig, a: 'A' };

type Doing = 'the model speaks' | 'a tool is at work' | 'a try is waited for' | 'a call is held' | 'the agent rests';

/** An agent that does something from 2 on at the latest, and the subscriptions of what it waits for. */
function agentThat(doing: Doing, { model, tool }: Pick<VirtualTime, 'model' | 'tool'>) {
  const slow = tool({ name: 'dig', description: 'Digs.' }, ['---------r|'], { r: 'gold' });
  const digs = model(['-c|', '-a|', '-a|'], VALUES);
  const work = (afterMs: number): Partial<AgentOptions> => ({
    model: digs,
    tools: [slow],
    use: [backgroundWork({ tools: ['dig'], afterMs })],
  });
  const speaks = model(['---------a|'], VALUES);
  const fails = model(['-#', '-a|'], VALUES);
  const options: Record<Doing, Partial<AgentOptions>> = {
    'the model speaks': { model: speaks },
    'a tool is at work': { model: digs, tools: [slow] },
    'a try is waited for': {
      model: fails,
      retry: { attempts: 2, delayMs: 9, when: ({ type }) => type === 'failed' },
    },
    'a call is held': work(50),
    'the agent rests': work(0),
  };
  const atWork = doing === 'the model speaks' ? speaks : doing === 'a try is waited for' ? fails : slow;
  return { guide: agent({ name: 'guide', ...options[doing] }), subscriptions: atWork.subscriptions, digs };
}

/** What a runner would do: gives inputs, waits for safe points, and stops the run. */
function control({ hot }: Pick<VirtualTime, 'hot'>, request: SafePointRequest, at: string, inputs = '') {
  const modes: CancelMode[] = [];
  const delivered: string[] = [];
  const stop$ = new Subject<{ readonly mode: 'now' | 'after-step' }>();
  const live = new LiveInputs(['guide'], {
    delivered: ({ id }) => delivered.push(id),
    stopped: (mode) => {
      modes.push(mode);
      stop$.next({ mode: mode === 'now' ? 'now' : 'after-step' });
    },
  });
  const said: Record<string, UserInput> = {
    s: { id: 's', content: 'Short!' },
    n: { id: 'n', content: 'Now!', when: 'now' },
    p: { id: 'p', content: 'Other!', when: 'preempt' },
  };
  hot(inputs, said).subscribe((input) => {
    live.add(input);
    live.interrupt(input);
  });
  hot(at).subscribe(() => live.cancelAt(request));
  return { modes, delivered, live, options: { services: { [LIVE]: live }, cancel$: stop$ } };
}

const QUESTION = { messages: [{ role: 'user', content: 'Go.' }], values: {} } as const;

describe('a stop', () => {
  const LATE = 99;
  // When the run ends, and what took hold; e: the run has its answer before it comes to such a point.
  const cases: readonly [Doing, CancelMode, string, CancelMode | undefined][] = [
    ['the model speaks', 'now', '-----(c|)', 'now'],
    ['the model speaks', 'after-model', '----------(c|)', 'after-model'],
    ['the model speaks', 'after-tools', '----------(e|)', undefined],
    ['the model speaks', 'after-round', '----------(c|)', 'after-round'],
    ['a tool is at work', 'now', '-----(c|)', 'now'],
    ['a tool is at work', 'after-model', '--------------(c|)', 'after-model'],
    ['a tool is at work', 'after-tools', '------------(c|)', 'after-tools'],
    ['a tool is at work', 'after-round', '------------(c|)', 'after-round'],
    ['a try is waited for', 'now', '-----(c|)', 'now'],
    ['a try is waited for', 'after-model', '------------(c|)', 'after-model'],
    ['a try is waited for', 'after-tools', '------------(e|)', undefined],
    ['a try is waited for', 'after-round', '------------(c|)', 'after-round'],
    ['a call is held', 'now', '-----(c|)', 'now'],
    ['a call is held', 'after-model', '--------------(c|)', 'after-model'],
    ['a call is held', 'after-tools', '------------(c|)', 'after-tools'],
    ['a call is held', 'after-round', '------------(c|)', 'after-round'],
    ['the agent rests', 'now', '-----(c|)', 'now'],
    ['the agent rests', 'after-model', '--------------(c|)', 'after-model'],
    ['the agent rests', 'after-tools', '------------(c|)', 'after-tools'],
    ['the agent rests', 'after-round', '------------(c|)', 'after-round'],
  ];
  const rows = cases.flatMap(([doing, mode, ends, held]) => [
    { doing, mode, ends, held, within: undefined },
    { doing, mode, ends, held, within: LATE },
    // In 3 ms none of them comes to a safe point.
    ...(mode === 'now' ? [] : [{ doing, mode, ends: '--------(c|)', held: 'now' as const, within: 3 }]),
  ]);

  it.each(rows)('while $doing: $mode, within $within ms', ({ doing, mode, ends, held, within }) =>
    inVirtualTime(
      (virtual) => {
        const { guide, subscriptions } = agentThat(doing, virtual);
        const request = { mode, ...(within !== undefined && { withinMs: within }) };
        const { modes, live, options } = control(virtual, request, '-----x');
        virtual.expectEvents(virtual.run(turnGraph(guide), QUESTION, options), ENDS).toBe(ends);
        const frames = ends.indexOf('(');
        virtual.hot(`${'-'.repeat(frames + 1)}x`).subscribe(() => live.close());
        virtual.flush();
        expect(modes).toEqual(held === undefined ? [] : [held]);
        // What was at work has ended with the run at the latest, and no timer is left behind it.
        for (const one of subscriptions) {
          expect(one.every(({ unsubscribedFrame }) => unsubscribedFrame <= frames)).toBe(true);
        }
        expect(virtual.now()).toBeLessThan(LATE);
      },
      { equal },
    ),
  );
});

describe('a stop of an agent that waits for another one', () => {
  // The inner model answers at 4 and 11, its tool at 9; the outer agent has the result at 11, and asks again until 13.
  const cases: readonly [CancelMode, boolean, string][] = [
    ['after-model', true, '----(c|)'],
    ['after-tools', true, '---------(c|)'],
    ['after-round', true, '---------(c|)'],
    ['after-model', false, '-------------(c|)'],
    ['after-tools', false, '-----------(c|)'],
    ['after-round', false, '-----------(c|)'],
  ];
  const rows = cases.flatMap(([mode, deep, ends]) => [undefined, 99].map((within) => ({ mode, deep, within, ends })));
  it.each(rows)('$mode, deep: $deep, within $within ms', ({ mode, deep, within, ends }) =>
    inVirtualTime(
      (virtual) => {
        const read = virtual.tool({ name: 'dig', description: 'Digs.' }, ['----r|'], { r: 'gold' });
        const inner = virtual.model(['-c|', '-a|'], VALUES);
        const outer = virtual.model(['-w|', '-a|'], { w: toolCall('writer', { request: 'Write.' }), a: 'A' });
        const writer = agent({ name: 'writer', description: 'Writes.', model: inner, tools: [read] });
        const guide = agent({ name: 'guide', model: outer, tools: [agentTool(writer)] });
        const request = { mode, deep, ...(within !== undefined && { withinMs: within }) };
        const { modes, live, options } = control(virtual, request, '---x');
        virtual.expectEvents(virtual.run(turnGraph(guide), QUESTION, options), ENDS).toBe(ends);
        virtual.hot(`${'-'.repeat(ends.indexOf('(') + 1)}x`).subscribe(() => live.close());
        virtual.flush();
        expect(modes).toEqual([mode]);
        expect(virtual.now()).toBeLessThan(99);
      },
      { equal },
    ),
  );
});

describe('a stop while an input waits', () => {
  const cases: readonly [string, string, CancelMode, string][] = [
    ['for the next safe point', '---s', 'now', '-----(c|)'],
    ['for the next safe point', '---s', 'after-tools', '------------(c|)'],
    ['for the next safe point', '---s', 'after-round', '------------(c|)'],
    ['to open another turn', '---p', 'after-tools', '------------(c|)'],
    ['to open another turn', '---p', 'after-round', '------------(c|)'],
    ['behind a tool, at once', '---n', 'after-round', '------------(c|)'],
  ];
  it.each(cases)('%s (%s): %s keeps it for when the turn goes on', (_, inputs, mode, ends) =>
    inVirtualTime(
      (virtual) => {
        const { guide, digs } = agentThat('a tool is at work', virtual);
        const { modes, delivered, live, options } = control(virtual, { mode }, '-----x', inputs);
        virtual.expectEvents(virtual.run(turnGraph(guide), QUESTION, options), ENDS).toBe(ends);
        virtual.flush();
        expect([modes, delivered, digs.requests.length]).toEqual([[mode], [], 1]);
        const place = { name: 'guide', path: 'guide' };
        const isKept = inputs.includes('p') ? live.preempts(place) : live.waiting(place, []).length === 1;
        expect(isKept).toBe(true);
      },
      { equal },
    ),
  );

  it('that drops the call of the model: after-model holds in the frame of the drop, and what was said is kept', () =>
    inVirtualTime(
      (virtual) => {
        const speaks = virtual.model(['-a-------b|'], { a: 'A', b: 'B' });
        const { modes, delivered, options } = control(virtual, { mode: 'after-model' }, '---x', '-----n');
        const guide = agent({ name: 'guide', model: speaks });
        const letters = { u: eventOf('node-chunk', { value: { extra: { unfinished: true } } }), ...ENDS };
        virtual.expectEvents(virtual.run(turnGraph(guide), QUESTION, options), letters).toBe('-----(uc|)');
        virtual.expectSubscriptions(speaks.subscriptions[0] ?? []).toBe('^----!');
        virtual.flush();
        expect([modes, delivered]).toEqual([['after-model'], []]);
      },
      { equal },
    ));

  it('that ends a rest: after-round holds there, the work ends by itself, and the input is kept', () =>
    inVirtualTime(
      (virtual) => {
        const { guide, subscriptions, digs } = agentThat('the agent rests', virtual);
        const { modes, delivered, options } = control(virtual, { mode: 'after-round' }, '-----x', '-------s');
        virtual.expectEvents(virtual.run(turnGraph(guide), QUESTION, options), ENDS).toBe('------------(c|)');
        virtual.expectSubscriptions(subscriptions[0] ?? []).toBe('--^---------!');
        virtual.flush();
        expect([modes, delivered, digs.requests.length]).toEqual([['after-round'], [], 2]);
      },
      { equal },
    ));
});

describe('a stop beside a question to a person', () => {
  it.each([
    ['without a time, lets the other call end; the question waits with the run', undefined, '----------(i|)'],
    ['within a time that is too short, ends the other call', 3, '--------(c|)'],
  ])('%s', (_, within, ends) =>
    inVirtualTime(
      (virtual) => {
        const asking = virtual.tool({ name: 'ask', description: 'Asks.' }, ['-q|'], {
          q: (_args, call) => call.interrupt('Really?'),
        });
        const slow = virtual.tool({ name: 'dig', description: 'Digs.' }, ['--------r|'], { r: 'gold' });
        const calls = virtual.model(['-(cq|)'], { c: dig, q: toolCall('ask', {}, 'q') });
        const guide = agent({ name: 'guide', model: calls, tools: [asking, slow] });
        const request = { mode: 'after-tools' as const, ...(within !== undefined && { withinMs: within }) };
        const { options } = control(virtual, request, '-----x');
        virtual.expectEvents(virtual.run(turnGraph(guide), QUESTION, options), ENDS).toBe(ends);
        virtual
          .expectSubscriptions(slow.subscriptions[0] ?? [])
          .toBe(within === undefined ? '-^--------!' : '-^------!');
      },
      { equal },
    ),
  );

  it.each([
    ['now', '-----(c|)'],
    ['after-tools', '----------(i|)'],
  ] as const)('of a held call, %s', (mode, ends) =>
    inVirtualTime(
      (virtual) => {
        const asking = virtual.tool({ name: 'ask', description: 'Asks.' }, ['-q|'], {
          q: (_args, call) => call.interrupt('Really?'),
        });
        const slow = virtual.tool({ name: 'dig', description: 'Digs.' }, ['--------r|'], { r: 'gold' });
        const calls = virtual.model(['-(cq|)'], { c: dig, q: toolCall('ask', {}, 'q') });
        const use = [backgroundWork({ tools: ['dig', 'ask'], afterMs: 50 })];
        const guide = agent({ name: 'guide', model: calls, tools: [asking, slow], use });
        const { options } = control(virtual, { mode }, '-----x');
        virtual.expectEvents(virtual.run(turnGraph(guide), QUESTION, options), ENDS).toBe(ends);
      },
      { equal },
    ),
  );

  it('finds a run that waits for an approval over, and changes nothing', () =>
    inVirtualTime(
      (virtual) => {
        const { model, tool } = virtual;
        const slow = tool({ name: 'dig', description: 'Digs.' }, ['r|'], { r: 'gold' });
        const guide = agent({ name: 'guide', model: model(['-c|'], VALUES), tools: [slow], use: [approve(['dig'])] });
        const { modes, live, options } = control(virtual, { mode: 'after-tools', withinMs: 3 }, '-----x');
        virtual.expectEvents(virtual.run(turnGraph(guide), QUESTION, options), ENDS).toBe('--(i|)');
        virtual.hot('---x').subscribe(() => live.close());
        virtual.flush();
        expect(slow.subscriptions.flat()).toEqual([]);
        expect(modes).toEqual(['now']);
      },
      { equal },
    ));
});

describe('a graceful stop of a run without a runner', () => {
  const cases: readonly [Doing, number | undefined, string][] = [
    ['a try is waited for', undefined, '------------(c|)'],
    ['a try is waited for', 3, '--------(c|)'],
    ['a call is held', undefined, '------------(c|)'],
    ['a call is held', 3, '--------(c|)'],
    ['the agent rests', undefined, '------------(c|)'],
    ['the agent rests', 3, '--------(c|)'],
  ];
  it.each(cases)('while %s, within %s ms', (doing, within, ends) =>
    inVirtualTime(
      (virtual) => {
        const { guide, subscriptions } = agentThat(doing, virtual);
        const stop = { mode: 'after-step' as const, ...(within !== undefined && { withinMs: within }) };
        const cancel$ = virtual.cold('-----s', { s: stop });
        virtual.expectEvents(virtual.run(guide, 'Go.', { cancel$ }), ENDS).toBe(ends);
        virtual.flush();
        const frames = ends.indexOf('(');
        expect(subscriptions.flat().every(({ unsubscribedFrame }) => unsubscribedFrame <= frames)).toBe(true);
      },
      { equal },
    ),
  );
});
