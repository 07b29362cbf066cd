/** Teams in virtual time: who begins when, and that everything ends at once. */
import { describe, expect, it } from 'vitest';
import { type AnyAgent, agent, handoff, parallelAgents, sequentialAgents } from '../../../src/entries/agents.js';
import { eventOf, inVirtualTime, type MarbleModel, toolCall } from '../../../src/entries/testing.js';

const ENDS = { e: 'run-settled', x: 'run-failed', c: 'run-cancelled' } as const;
const equal = (actual: unknown, expected: unknown) => expect(actual).toEqual(expected);
const subscriptions = ({ subscriptions: [first, ...more] }: MarbleModel) => [first ?? [], more.length] as const;

describe('teams in virtual time', () => {
  it('sequentialAgents: the next one begins when the one before has answered', () =>
    inVirtualTime(
      ({ model, run, expectEvents, expectSubscriptions }) => {
        const [a, b] = [model(['--a|'], { a: 'A' }), model(['---b|'], { b: 'B' })];
        const team = sequentialAgents({
          name: 't',
          agents: [agent({ name: 'a', model: a }), agent({ name: 'b', model: b })],
        });
        expectEvents(run(team, 'Go.'), ENDS).toBe('-------(e|)');
        expectSubscriptions(a.subscriptions[0] ?? []).toBe('^--!');
        expectSubscriptions(b.subscriptions[0] ?? []).toBe('---^---!');
      },
      { equal },
    ));

  it('parallelAgents: all begin at once, and the answer comes with the last one', () =>
    inVirtualTime(
      ({ model, run, expectEvents, expectSubscriptions }) => {
        const [a, b] = [model(['--a|'], { a: 'A' }), model(['-----b|'], { b: 'B' })];
        const team = parallelAgents({
          name: 't',
          agents: [agent({ name: 'a', model: a }), agent({ name: 'b', model: b })],
        });
        expectEvents(run(team, 'Go.'), { e: eventOf('run-settled', { value: { a: 'A', b: 'B' } }) }).toBe('------(e|)');
        expectSubscriptions(a.subscriptions[0] ?? []).toBe('^--!');
        expectSubscriptions(b.subscriptions[0] ?? []).toBe('^-----!');
      },
      { equal },
    ));

  it('parallelAgents: the failure of one ends the others in the same frame', () =>
    inVirtualTime(
      ({ model, run, expectEvents, expectSubscriptions }) => {
        const [a, b] = [model(['--#']), model(['-----b|'], { b: 'B' })];
        const team = parallelAgents({
          name: 't',
          agents: [agent({ name: 'a', model: a }), agent({ name: 'b', model: b })],
        });
        expectEvents(run(team, 'Go.'), ENDS).toBe('--(x|)');
        expectSubscriptions(b.subscriptions[0] ?? []).toBe('^-!');
      },
      { equal },
    ));

  it('parallelAgents: told failures leave the others at work', () =>
    inVirtualTime(
      ({ model, run, expectEvents, expectSubscriptions }) => {
        const [a, b] = [model(['--#']), model(['-----b|'], { b: 'B' })];
        const agents = [agent({ name: 'a', model: a }), agent({ name: 'b', model: b })];
        const events$ = run(parallelAgents({ name: 't', agents, failures: 'tell' }), 'Go.');
        expectEvents(events$, { e: eventOf('run-settled', { value: { b: 'B' } }) }).toBe('------(e|)');
        expectSubscriptions(b.subscriptions[0] ?? []).toBe('^-----!');
      },
      { equal },
    ));

  it('handoff: the next one begins when the answer that hands over is whole, and stops with the team', () =>
    inVirtualTime(
      ({ model, run, expectEvents, expectSubscriptions }) => {
        const a = model(['--h|'], { h: toolCall('transfer_to_b', {}) });
        const b = model(['---b---c|'], { b: 'B', c: 'C' });
        const team = handoff({ name: 't', agents: [agent({ name: 'a', model: a }), agent({ name: 'b', model: b })] });
        expectEvents(run(team, 'Go.'), { b: eventOf('node-chunk', { value: { content: 'B' } }) }, '-------!').toBe(
          '------b',
        );
        expectSubscriptions(a.subscriptions[0] ?? []).toBe('^--!');
        expectSubscriptions(b.subscriptions[0] ?? []).toBe('---^---!');
      },
      { equal },
    ));

  it('64 agents in 8 levels end in the frame in which they are stopped, with their timers', () =>
    inVirtualTime(
      ({ model, run, expectEvents, expectSubscriptions, flush, now }) => {
        const models: MarbleModel[] = [];
        const limits = { firstTokenMs: 500, silenceMs: 500, totalMs: 1_000 };
        const level = (depth: number): AnyAgent => {
          const agents: AnyAgent[] = Array.from({ length: 8 }, (_, at) => {
            const one = model(['---------a|'], { a: 'A' });
            models.push(one);
            return agent({ name: `a${depth}-${at}`, model: one, limits });
          });
          if (depth < 8) agents.push(level(depth + 1));
          return parallelAgents({ name: `level-${depth}`, agents });
        };
        expectEvents(run(level(1), 'Go.'), ENDS, '---!').toBe('---');
        flush();
        expect(models).toHaveLength(64);
        expect(now()).toBeLessThan(500);
        for (const one of models) {
          const [first, more] = subscriptions(one);
          expect(more).toBe(0);
          expectSubscriptions(first).toBe('^--!');
        }
      },
      { equal },
    ));
});
