/** Each kind of live input and each mode of a stop in virtual time, as an agent and its runner's control see them. */
import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { LIVE } from '../../../src/agents/loop/live-control.js';
import { LiveInputs } from '../../../src/agents/runner/live-inputs.js';
import { turnGraph } from '../../../src/agents/runner/turn-graph.js';
import {
  type AnyAgent,
  agent,
  agentTool,
  type CancelMode,
  type CancelRequest,
  type UserInput,
} from '../../../src/entries/agents.js';
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
  const stop$ = new Subject<{ readonly mode: 'now' | 'after-step' }>();
  const live = new LiveInputs(['guide'], {
    delivered: ({ id }, _, round) => delivered.push(`${id} in round ${round}`),
    stopped: () => stop$.next({ mode: 'after-step' }),
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
  const requests: Record<string, CancelRequest> = {
    m: { mode: 'after-model' },
    t: { mode: 'after-tools' },
    r: { mode: 'after-round' },
    d: { mode: 'after-model', deep: true },
  };
  if (cancels !== '') hot(cancels, requests).subscribe((request) => live.cancelAt(request));
  const heard = () => answers.requests.map(({ messages }) => messages.map(({ content }) => content));
  return { read, answers, delivered, heard, options: { services: { [LIVE]: live }, cancel$: stop$ } };
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
