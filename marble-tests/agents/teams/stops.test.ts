/** Stops of teams in virtual time: what is at work ends with them, at every depth, and what comes next does not begin. */
import { describe, expect, it } from 'vitest';
import {
  type AnyAgent,
  agent,
  agentTool,
  deepAgent,
  loopAgents,
  parallelAgents,
  sequentialAgents,
  supervisor,
} from '../../../src/entries/agents.js';
import { eventOf, inVirtualTime, type MarbleModel, type MarbleTool, toolCall } from '../../../src/entries/testing.js';

const ENDS = { e: 'run-settled', x: 'run-failed', c: 'run-cancelled' } as const;
const equal = (actual: unknown, expected: unknown) => expect(actual).toEqual(expected);
const now = { n: { mode: 'now' } } as const;

/** At work from one frame to another. */
const from = (start: number, end: number): string => `${'-'.repeat(start)}^${'-'.repeat(end - start - 1)}!`;

describe('a team that is stopped', () => {
  it.each(['by cancel$', 'by its reader'] as const)(
    'ends 64 agents in 8 levels of agents as tools in one frame, with their tools and timers, %s',
    (how) =>
      inVirtualTime(
        ({ model, tool, run, cold, expectEvents, expectSubscriptions, flush, now: virtualNow }) => {
          const agents: string[] = [];
          const tools: [number, MarbleTool<never>][] = [];
          const models: [number, MarbleModel][] = [];
          const limits = { firstTokenMs: 500, silenceMs: 500, totalMs: 1_000 };
          // Each lead calls seven others and the lead below it, so a level begins one frame behind the one above.
          const level = (depth: number): AnyAgent => {
            const begins = depth - 1;
            const leaves = Array.from({ length: 7 }, (_, at) => {
              const isTalking = at % 2 === 0;
              const work = tool({ name: 'work', description: 'Works.', timeoutMs: 700 } as never, ['-'.repeat(60)]);
              const one = isTalking ? model(['-'.repeat(60)]) : model(['-w|'], { w: toolCall('work') });
              if (isTalking) models.push([begins + 1, one]);
              else tools.push([begins + 3, work as never]);
              agents.push(`leaf-${at}`);
              return agent({ name: `leaf-${at}`, description: 'Works.', model: one, tools: [work], limits });
            });
            const below = depth < 8 ? [...leaves, level(depth + 1)] : leaves;
            const letters = Object.fromEntries(
              below.map(({ name }, at) => [String(at), toolCall(name, { request: 'Go.' }, `c${at}`)]),
            );
            const calls = model([`-(${Object.keys(letters).join('')}|)`, '-'.repeat(60)], letters);
            agents.push(`lead-${depth}`);
            return agent({
              name: `lead-${depth}`,
              description: 'Leads.',
              model: calls,
              limits,
              tools: below.map((one) => agentTool(one)),
            });
          };
          const team = level(1);
          expect(agents).toHaveLength(64);
          if (how === 'by cancel$') {
            const cancel$ = cold(`${'-'.repeat(30)}n`, now);
            expectEvents(run(team, 'Go.', { cancel$ }), ENDS).toBe(`${'-'.repeat(30)}(c|)`);
          } else {
            expectEvents(run(team, 'Go.'), ENDS, `${'-'.repeat(30)}!`).toBe('');
          }
          for (const [start, one] of tools) expectSubscriptions(one.subscriptions[0] ?? []).toBe(from(start, 30));
          for (const [start, one] of models) expectSubscriptions(one.subscriptions[0] ?? []).toBe(from(start, 30));
          flush();
          expect([tools.length, models.length]).toEqual([24, 32]);
          expect(virtualNow()).toBeLessThan(500);
        },
        { equal },
      ),
  );

  it('after-step lets members finish their steps within the time given, and stops the others', () =>
    inVirtualTime(
      ({ model, run, cold, expectEvents, expectSubscriptions }) => {
        const [a, b] = [model(['----a|'], { a: 'A' }), model(['-'.repeat(60)])];
        const agents = [agent({ name: 'a', model: a }), agent({ name: 'b', model: b })];
        const cancel$ = cold('--s', { s: { mode: 'after-step', withinMs: 10 } as const });
        const events$ = run(parallelAgents({ name: 't', agents }), 'Go.', { cancel$ });
        const letters = { a: eventOf('node-settled', { node: 'a/model' }), c: 'run-cancelled' } as const;
        expectEvents(events$, letters).toBe('-----a------(c|)');
        expectSubscriptions(a.subscriptions[0] ?? []).toBe('^----!');
        expectSubscriptions(b.subscriptions[0] ?? []).toBe(from(0, 12));
      },
      { equal },
    ));

  it('now, in the frame in which a member answers, begins no other one', () =>
    inVirtualTime(
      ({ model, run, cold, expectEvents, expectSubscriptions, flush }) => {
        const [a, b] = [model(['--a|'], { a: 'A' }), model(['b|'], { b: 'B' })];
        const agents = [agent({ name: 'a', model: a }), agent({ name: 'b', model: b })] as const;
        const events$ = run(sequentialAgents({ name: 't', agents }), 'Go.', { cancel$: cold('--n', now) });
        expectEvents(events$, ENDS).toBe('--(c|)');
        expectSubscriptions(a.subscriptions[0] ?? []).toBe('^-!');
        flush();
        expect(b.requests).toHaveLength(0);
      },
      { equal },
    ));

  it('ends the member of a loop that speaks, in its second round', () =>
    inVirtualTime(
      ({ model, run, expectEvents, expectSubscriptions, flush }) => {
        const [a, b] = [model(['--a|', '---a|'], { a: 'A' }), model(['-b|'], { b: 'B' })];
        const agents = [agent({ name: 'a', model: a }), agent({ name: 'b', model: b })];
        expectEvents(run(loopAgents({ name: 't', agents }), 'Go.'), ENDS, '-------!').toBe('');
        expectSubscriptions(a.subscriptions[0] ?? []).toBe('^--!');
        expectSubscriptions(b.subscriptions[0] ?? []).toBe('---^-!');
        expectSubscriptions(a.subscriptions[1] ?? []).toBe('-----^-!');
        flush();
        expect(b.requests).toHaveLength(1);
      },
      { equal },
    ));
});

describe('a lead with others', () => {
  it('supervisor: begins again in the frame in which the work comes back', () =>
    inVirtualTime(
      ({ model, run, expectEvents, expectSubscriptions }) => {
        const lead = model(['--h|', '--a|'], { h: toolCall('transfer_to_writer'), a: 'Here.' });
        const writer = model(['---w|'], { w: 'Draft.' });
        const team = supervisor({
          name: 't',
          lead: agent({ name: 'lead', model: lead }),
          agents: [agent({ name: 'writer', model: writer })],
        });
        expectEvents(run(team, 'Go.'), { e: eventOf('run-settled', { value: 'Here.' }) }).toBe('----------(e|)');
        expectSubscriptions(lead.subscriptions[0] ?? []).toBe('^--!');
        expectSubscriptions(writer.subscriptions[0] ?? []).toBe('---^---!');
        expectSubscriptions(lead.subscriptions[1] ?? []).toBe('-------^--!');
      },
      { equal },
    ));

  it('deepAgent: goes on when the last of its helpers has answered, and they work side by side', () =>
    inVirtualTime(
      ({ model, run, expectEvents, expectSubscriptions }) => {
        const helper = (name: string, diagram: string): [MarbleModel, AnyAgent] => {
          const one = model([diagram], { a: 'A' });
          return [one, agent({ name, description: 'Helps.', model: one })];
        };
        const [slow, slowAgent] = helper('slow', '-----a|');
        const [fast, fastAgent] = helper('fast', '--a|');
        const give = (name: string) => toolCall('delegate', { agent: name, request: 'x' });
        const calls = { s: give('slow'), f: give('fast'), d: 'Done.' };
        const lead = model(['-(sf|)', '-d|'], calls);
        const team = deepAgent({ name: 't', model: lead, agents: [slowAgent, fastAgent], generalAgent: false });
        expectEvents(run(team, 'Go.'), { e: eventOf('run-settled', { value: 'Done.' }) }).toBe('---------(e|)');
        expectSubscriptions(slow.subscriptions[0] ?? []).toBe('-^-----!');
        expectSubscriptions(fast.subscriptions[0] ?? []).toBe('-^--!');
        expectSubscriptions(lead.subscriptions[1] ?? []).toBe('-------^-!');
      },
      { equal },
    ));
});
