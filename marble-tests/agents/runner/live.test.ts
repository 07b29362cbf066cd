/** Each kind of live input and each mode of a stop in virtual time, as an agent and its runner's control see them. */
import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { LIVE } from '../../../src/agents/loop/live-control.js';
import { LiveInputs, type SafePointRequest } from '../../../src/agents/runner/live-inputs.js';
import { turnGraph } from '../../../src/agents/runner/turn-graph.js';
import { type AnyAgent, agent, agentTool, type CancelMode, type UserInput } from '../../../src/entries/agents.js';
import {
  eventOf,
  inVirtualTime,
  toolCall,
  type VirtualRunOptions,
  type VirtualTime,
} from '../../../src/entries/testing.js';

const equal = (actual: unknown, expected: unknown) => expect(actual).toEqual(expected);
const ENDS = { e: 'run-settled', c: 'run-cancelled' } as const;
const call = toolCall('read', {});

/** An agent with a tool that takes 4 ms, and the control that a runner would give it; `guide` is the agent that speaks. */
function set({ model, tool, hot }: VirtualTime, diagrams: readonly string[], inputs: string, cancels = '') {
  const read = tool({ name: 'read', description: 'Reads.' }, ['----r|'], { r: 'It is long.' });
  const answers = model(diagrams, { c: call, a: 'A', b: 'B' });
  const delivered: string[] = [];
  const modes: CancelMode[] = [];
  const stop$ = new Subject<{ readonly mode: 'now' | 'after-step' }>();
  const live = new LiveInputs(['guide'], {
    delivered: ({ id }, _, round) => delivered.push(`${id} in round ${round}`),
    stopped: (mode) => {
      modes.push(mode);
      stop$.next({ mode: mode === 'now' ? 'now' : 'after-step' });
    },
  });
  const said: Record<string, UserInput> = {
    s: { id: 's', content: 'Short!' },
    n: { id: 'n', content: 'Now!', when: 'now' },
    p: { id: 'p', content: 'Other!', when: 'preempt' },
    t: { id: 't', content: 'Later!', when: 'next-turn' },
    w: { id: 'w', content: 'Writer!', to: 'writer' },
  };
  hot(inputs, said).subscribe((input) => {
    live.add(input);
    live.interrupt(input);
  });
  const requests: Record<string, SafePointRequest> = {
    m: { mode: 'after-model' },
    t: { mode: 'after-tools' },
    r: { mode: 'after-round' },
    d: { mode: 'after-model', deep: true },
    n: { mode: 'now' },
    w: { mode: 'after-tools', withinMs: 3 },
    W: { mode: 'after-tools', withinMs: 30 },
    D: { mode: 'after-tools', withinMs: 2, deep: true },
    a: { mode: 'any' },
  };
  if (cancels !== '') hot(cancels, requests).subscribe((request) => live.cancelAt(request));
  const heard = () => answers.requests.map(({ messages }) => messages.map(({ content }) => content));
  return { read, answers, delivered, modes, live, heard, options: { services: { [LIVE]: live }, cancel$: stop$ } };
}

/** The agent in a turn, as a runner runs it. */
function go({ run }: VirtualTime, guide: AnyAgent, options: VirtualRunOptions) {
  return run(turnGraph(guide), { messages: [{ role: 'user', content: 'Go.' }], values: {} }, options);
}

describe('a live input', () => {
  it('joins at the safe point behind the tools', () =>
    inVirtualTime(
      (virtual) => {
        const { read, answers, delivered, heard, options } = set(virtual, ['-c|', '-a|'], '---s');
        const guide = agent({ name: 'guide', model: answers, tools: [read] });
        virtual.expectEvents(go(virtual, guide, options), ENDS).toBe('---------(e|)');
        virtual.expectSubscriptions(answers.subscriptions[1] ?? []).toBe('-------^-!');
        virtual.flush();
        expect(delivered).toEqual(['s in round 2']);
        expect(heard()[1]?.at(-1)).toBe('Short!');
      },
      { equal },
    ));

  it('that came while the last answer was made opens another round, and the answer stays live', () =>
    inVirtualTime(
      (virtual) => {
        const { read, answers, delivered, options } = set(virtual, ['--a--|', '-b|'], '---s');
        const guide = agent({ name: 'guide', model: answers, tools: [read] });
        virtual
          .expectEvents(go(virtual, guide, options), {
            a: eventOf('node-chunk', { value: { content: 'A' } }),
            e: eventOf('run-settled', { value: { end: { text: 'B' } } }),
          })
          .toBe('--a----(e|)');
        virtual.flush();
        expect(delivered).toEqual(['s in round 2']);
      },
      { equal },
    ));

  it('`now` drops the call of the model in its frame, and asks again', () =>
    inVirtualTime(
      (virtual) => {
        const { read, answers, heard, options } = set(virtual, ['-a-------|', '-b|'], '----n');
        const guide = agent({ name: 'guide', model: answers, tools: [read] });
        virtual.expectEvents(go(virtual, guide, options), ENDS).toBe('------(e|)');
        virtual.expectSubscriptions(answers.subscriptions[0] ?? []).toBe('^---!');
        virtual.expectSubscriptions(answers.subscriptions[1] ?? []).toBe('----^-!');
        virtual.flush();
        expect(heard()[1]).toEqual(['Go.', 'A', 'Now!']);
      },
      { equal },
    ));

  it('`now` leaves a tool at work, and joins behind it', () =>
    inVirtualTime(
      (virtual) => {
        const { read, answers, delivered, options } = set(virtual, ['-c|', '-a|'], '---n');
        const guide = agent({ name: 'guide', model: answers, tools: [read] });
        virtual.expectEvents(go(virtual, guide, options), ENDS).toBe('---------(e|)');
        virtual.expectSubscriptions(read.subscriptions[0] ?? []).toBe('--^----!');
        virtual.flush();
        expect(delivered).toEqual(['n in round 2']);
      },
      { equal },
    ));

  it('`preempt` ends the agent behind its tools, without asking the model', () =>
    inVirtualTime(
      (virtual) => {
        const { read, answers, delivered, options } = set(virtual, ['-c|', '-a|'], '---p');
        const guide = agent({ name: 'guide', model: answers, tools: [read] });
        virtual.expectEvents(go(virtual, guide, options), ENDS).toBe('-------(e|)');
        virtual.flush();
        expect([answers.requests.length, delivered]).toEqual([1, []]);
      },
      { equal },
    ));

  it('`next-turn` is not told in this one', () =>
    inVirtualTime(
      (virtual) => {
        const { read, answers, delivered, options } = set(virtual, ['-c|', '-a|'], '---t');
        const guide = agent({ name: 'guide', model: answers, tools: [read] });
        virtual.expectEvents(go(virtual, guide, options), ENDS).toBe('---------(e|)');
        virtual.flush();
        expect(delivered).toEqual([]);
      },
      { equal },
    ));

  it('with `to` reaches an inner agent while its caller waits', () =>
    inVirtualTime(
      (virtual) => {
        const { read, answers, delivered, options } = set(virtual, ['-c|', '-a|'], '----w');
        const writer = agent({ name: 'writer', description: 'Writes.', model: answers, tools: [read] });
        const lead = virtual.model(['-c|', '-a|'], { c: toolCall('writer', { request: 'Write.' }), a: 'A' });
        const guide = agent({ name: 'guide', model: lead, tools: [agentTool(writer)] });
        virtual.expectEvents(go(virtual, guide, options), ENDS).toBe('-------------(e|)');
        virtual.expectSubscriptions(answers.subscriptions[1] ?? []).toBe('---------^-!');
        virtual.flush();
        expect(delivered).toEqual(['w in round 2']);
      },
      { equal },
    ));
});

describe('a stop that waits for a safe point', () => {
  it('for `withinMs` only is at once when there is none in time, and ends the tool at work in that frame', () =>
    inVirtualTime(
      (virtual) => {
        const { read, answers, modes, options } = set(virtual, ['-c|', '-a|'], '', '--w');
        const guide = agent({ name: 'guide', model: answers, tools: [read] });
        virtual.expectEvents(go(virtual, guide, options), ENDS).toBe('-----(c|)');
        virtual.expectSubscriptions(read.subscriptions[0] ?? []).toBe('--^--!');
        virtual.flush();
        expect(modes).toEqual(['now']);
      },
      { equal },
    ));

  it('holds there when it comes in time, and leaves no timer', () =>
    inVirtualTime(
      (virtual) => {
        const { read, answers, modes, live, options } = set(virtual, ['-c|', '-a|'], '', '--W');
        const guide = agent({ name: 'guide', model: answers, tools: [read] });
        virtual.expectEvents(go(virtual, guide, options), ENDS).toBe('-------(c|)');
        virtual.expectSubscriptions(read.subscriptions[0] ?? []).toBe('--^----!');
        virtual.hot('--------x').subscribe(() => live.close());
        virtual.flush();
        expect(modes).toEqual(['after-tools']);
        expect(virtual.now()).toBeLessThan(30);
      },
      { equal },
    ));

  it('at the first one of any kind', () =>
    inVirtualTime(
      (virtual) => {
        const { read, answers, modes, options } = set(virtual, ['-c|', '-a|'], '', '---a');
        const guide = agent({ name: 'guide', model: answers, tools: [read] });
        virtual.expectEvents(go(virtual, guide, options), ENDS).toBe('-------(c|)');
        virtual.expectSubscriptions(answers.subscriptions[1] ?? []).toBe([]);
        virtual.flush();
        expect(modes).toEqual(['after-tools']);
      },
      { equal },
    ));

  it('with `deep` and `withinMs` ends an inner agent whose tool takes longer, and all around it', () =>
    inVirtualTime(
      (virtual) => {
        const { read, answers, modes, options } = set(virtual, ['-c|', '-a|'], '', '-----D');
        const writer = agent({ name: 'writer', description: 'Writes.', model: answers, tools: [read] });
        const lead = virtual.model(['-c|', '-a|'], { c: toolCall('writer', { request: 'Write.' }), a: 'A' });
        const guide = agent({ name: 'guide', model: lead, tools: [agentTool(writer)] });
        virtual.expectEvents(go(virtual, guide, options), ENDS).toBe('-------(c|)');
        virtual.expectSubscriptions(read.subscriptions[0] ?? []).toBe('----^--!');
        virtual.expectSubscriptions(lead.subscriptions[1] ?? []).toBe([]);
        virtual.flush();
        expect(modes).toEqual(['now']);
      },
      { equal },
    ));

  it('is at once when that is asked for while what is at work is waited for', () =>
    inVirtualTime(
      (virtual) => {
        // The lead asks two agents at once; one is at its safe point at 4, the other one would be at 9.
        const { read, answers, modes, options } = set(virtual, ['-c|'], '', '---d---n');
        const slow = virtual.model(['-----b|'], { b: 'B' });
        const inner = (name: string, model: typeof slow) =>
          agentTool(agent({ name, description: 'Works.', model, tools: [read] }));
        const calls = [toolCall('quick', { request: 'Go.' }, 'q'), toolCall('slow', { request: 'Go.' }, 's')] as const;
        const lead = virtual.model(['-(qs|)'], { q: calls[0], s: calls[1] });
        const guide = agent({ name: 'guide', model: lead, tools: [inner('quick', answers), inner('slow', slow)] });
        virtual.expectEvents(go(virtual, guide, options), ENDS).toBe('-------(c|)');
        virtual.expectSubscriptions(slow.subscriptions[0] ?? []).toBe('-^-----!');
        virtual.expectSubscriptions(read.subscriptions[0] ?? []).toBe([]);
        virtual.flush();
        expect(modes).toEqual(['after-model', 'now']);
      },
      { equal },
    ));
});

describe('a stop at a safe point', () => {
  const cases: readonly [CancelMode, string, string, string][] = [
    // The model answers at 2, the tool at 7, the model at 9.
    ['after-model', '-m', '--(c|)', '^-!'],
    ['after-tools', '-t', '-------(c|)', '^-!'],
    ['after-round', '-r', '-------(c|)', '^-!'],
  ];
  it.each(cases)('%s lets what is at work end, and begins nothing', (_, cancels, ended, first) =>
    inVirtualTime(
      (virtual) => {
        const { read, answers, options } = set(virtual, ['-c|', '-a|'], '', cancels);
        const guide = agent({ name: 'guide', model: answers, tools: [read] });
        virtual.expectEvents(go(virtual, guide, options), ENDS).toBe(ended);
        virtual.expectSubscriptions(answers.subscriptions[0] ?? []).toBe(first);
        virtual.expectSubscriptions(answers.subscriptions[1] ?? []).toBe([]);
      },
      { equal },
    ),
  );

  it('now ends model and run in one frame', () =>
    inVirtualTime(
      (virtual) => {
        const { read, answers, options } = set(virtual, ['-----a|'], '');
        virtual.hot('--x').subscribe(() => options.cancel$.next({ mode: 'now' }));
        const guide = agent({ name: 'guide', model: answers, tools: [read] });
        virtual.expectEvents(go(virtual, guide, options), ENDS).toBe('--(c|)');
        virtual.expectSubscriptions(answers.subscriptions[0] ?? []).toBe('^-!');
      },
      { equal },
    ));

  it('now ends a tool at work in the same frame', () =>
    inVirtualTime(
      (virtual) => {
        const { read, answers, options } = set(virtual, ['-c|'], '');
        virtual.hot('----x').subscribe(() => options.cancel$.next({ mode: 'now' }));
        const guide = agent({ name: 'guide', model: answers, tools: [read] });
        virtual.expectEvents(go(virtual, guide, options), ENDS).toBe('----(c|)');
        virtual.expectSubscriptions(read.subscriptions[0] ?? []).toBe('--^-!');
      },
      { equal },
    ));

  it.each([
    ['-m', '---------(c|)', 'waits for the outer agent'],
    ['---d', '----(c|)', 'with `deep`, holds at an inner one'],
  ])('%s %s', (cancels, ended) =>
    inVirtualTime(
      (virtual) => {
        const late = cancels === '-m' ? '---m' : cancels;
        const { read, answers, options } = set(virtual, ['-c|', '-a|'], '', late);
        const writer = agent({ name: 'writer', description: 'Writes.', model: answers, tools: [read] });
        const lead = virtual.model(['-c|', '-a|'], { c: toolCall('writer', { request: 'Write.' }), a: 'A' });
        const guide = agent({ name: 'guide', model: lead, tools: [agentTool(writer)] });
        virtual.expectEvents(go(virtual, guide, options), ENDS).toBe(cancels === '-m' ? '-------------(c|)' : ended);
      },
      { equal },
    ),
  );
});
