/** Work in the background, over time: when it is moved, when it is told, and what ends it. */
import { takeUntil } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { agent, agentTool, backgroundWork } from '../../../src/entries/agents.js';
import { eventOf, inVirtualTime, type MarbleModel, toolCall } from '../../../src/entries/testing.js';

const equal = (actual: unknown, expected: unknown) => expect(actual).toEqual(expected);
const said = (name: string, data: object = {}) => eventOf('node-notice', { name, data });
const LETTERS = {
  s: said('work-started'),
  m: said('work-moved'),
  d: said('work-ended', { status: 'done' }),
  x: said('work-ended', { status: 'stopped' }),
  l: said('work-ended', { status: 'late' }),
  c: said('work-ended', { status: 'cancelled' }),
  q: said('work-asks'),
  t: said('work-told'),
  i: 'run-interrupted',
  e: 'run-settled',
  f: 'run-failed',
} as const;
const { c: _, ...LETTERS_OF_WAITS } = LETTERS;
const dig = toolCall('dig', {});

/** The messages of a request, as texts. */
const told = ({ requests }: MarbleModel, round: number) =>
  (requests[round]?.messages ?? []).map(({ role, content }) => `${role}: ${String(content)}`);

describe('backgroundWork', () => {
  it('gives the result in its round when the call ends before it is moved', () =>
    inVirtualTime(
      ({ model, tool, run, expectEvents, flush }) => {
        const talker = model(['-a|', '-b|'], { a: dig, b: 'Found.' });
        const slow = tool({ name: 'dig', description: 'Digs.' }, ['---r|'], { r: 'gold' });
        const use = [backgroundWork({ tools: ['dig'], afterMs: 10 })];
        const lead = agent({ name: 'lead', model: talker, tools: [slow], use });
        expectEvents(run(lead, 'Dig.'), LETTERS).toBe('--s---d-(e|)');
        flush();
        expect(told(talker, 1).at(-1)).toBe('tool: gold');
      },
      { equal },
    ));

  it('moves a call after a while, and tells of its end at the next safe point, once', () =>
    inVirtualTime(
      ({ model, tool, run, expectEvents, expectSubscriptions, flush }) => {
        const talker = model(['a|', '-----b|', '-c|'], { a: dig, b: toolCall('look', {}), c: 'Gold.' });
        const slow = tool({ name: 'dig', description: 'Digs.' }, ['------r|'], { r: 'gold' });
        const look = tool({ name: 'look', description: 'Looks.' }, ['-r|'], { r: 'seen' });
        const use = [backgroundWork({ tools: ['dig'], afterMs: 3 })];
        const lead = agent({ name: 'lead', model: talker, tools: [slow, look], use });
        expectEvents(run(lead, 'Dig.'), LETTERS).toBe('-s--m---d---t-(e|)');
        expectSubscriptions(slow.subscriptions[0] ?? []).toBe('-^------!');
        flush();
        expect(told(talker, 1).at(-1)).toMatch(/^tool: It goes on in the background as w1\./);
        expect(told(talker, 2).filter((text) => text.includes('gold'))).toEqual([
          expect.stringMatching(/^user: Work in the background has ended\.[\s\S]*w1 \(dig\): done\ngold$/),
        ]);
      },
      { equal },
    ));

  it('moves a call at once when the model asks for it, and awaits it behind the answer', () =>
    inVirtualTime(
      ({ model, tool, run, expectEvents, flush }) => {
        const asked = toolCall('dig', { in_background: true });
        const talker = model(['a|', 'b|', '---c|'], { a: asked, b: 'Later.', c: 'Gold.' });
        const slow = tool({ name: 'dig', description: 'Digs.', input: z.strictObject({}) }, ['----r|'], { r: 'gold' });
        const lead = agent({ name: 'lead', model: talker, tools: [slow], use: [backgroundWork({ tools: ['dig'] })] });
        expectEvents(run(lead, 'Dig.'), LETTERS).toBe('-(sm)-(dt)(e|)');
        flush();
        expect(slow.calls.map(({ args }) => args)).toEqual([{}]);
        expect(talker.requests).toHaveLength(3);
      },
      { equal },
    ));

  it('cancels what is at work when the agent ends, if it is to', () =>
    inVirtualTime(
      ({ model, tool, run, expectEvents, expectSubscriptions }) => {
        const talker = model(['a|', '---b|'], { a: dig, b: 'Never mind.' });
        const slow = tool({ name: 'dig', description: 'Digs.' }, ['----------r|'], { r: 'gold' });
        const use = [backgroundWork({ tools: ['dig'], afterMs: 2, whenEnded: 'cancel' })];
        const lead = agent({ name: 'lead', model: talker, tools: [slow], use });
        expectEvents(run(lead, 'Dig.'), LETTERS).toBe('-s-m---(ce|)');
        expectSubscriptions(slow.subscriptions[0] ?? []).toBe('-^-----!');
      },
      { equal },
    ));

  it('stops a work when the model says so', () =>
    inVirtualTime(
      ({ model, tool, run, expectEvents, expectSubscriptions, flush }) => {
        const talker = model(['a|', '---b|', 'c|'], { a: dig, b: toolCall('stop_work', { id: 'w1' }), c: 'Stopped.' });
        const slow = tool({ name: 'dig', description: 'Digs.' }, ['----------r|'], { r: 'gold' });
        const use = [backgroundWork({ tools: ['dig'], afterMs: 2 })];
        const lead = agent({ name: 'lead', model: talker, tools: [slow], use });
        expectEvents(run(lead, 'Dig.'), LETTERS).toBe('-s-m---x(e|)');
        expectSubscriptions(slow.subscriptions[0] ?? []).toBe('-^-----!');
        flush();
        expect(told(talker, 2).at(-1)).toBe('tool: w1 is stopped.');
      },
      { equal },
    ));

  it('stops a work that takes too long, and tells', () =>
    inVirtualTime(
      ({ model, tool, run, expectEvents, expectSubscriptions, flush }) => {
        const talker = model(['a|', 'b|', '---c|'], { a: dig, b: 'Waiting.', c: 'Gave up.' });
        const slow = tool({ name: 'dig', description: 'Digs.' }, ['----------r|'], { r: 'gold' });
        const use = [backgroundWork({ tools: ['dig'], afterMs: 1, maxMs: 5 })];
        const lead = agent({ name: 'lead', model: talker, tools: [slow], use });
        expectEvents(run(lead, 'Dig.'), LETTERS).toBe('-sm---(lt)(e|)');
        expectSubscriptions(slow.subscriptions[0] ?? []).toBe('-^----!');
        flush();
        expect(told(talker, 2).at(-1)).toMatch(/w1 \(dig\): stopped, since it took too long\nIt was stopped/);
      },
      { equal },
    ));

  it.each([
    ['until the work has ended', 9, '-sm---d-(e|)', 'tool: w1 (dig): done\ngold'],
    ['at most as long as it is told', 0.002, '-sm----(e|)', 'tool: w1 has not ended yet. You are told when it has.'],
  ])('waits %s', (_, seconds, events, text) =>
    inVirtualTime(
      ({ model, tool, run, expectEvents, flush }) => {
        const talker = model(['a|', 'b|', '-c|'], {
          a: dig,
          b: toolCall('wait_work', { id: 'w1', seconds }),
          c: 'So.',
        });
        const slow = tool({ name: 'dig', description: 'Digs.' }, [seconds === 9 ? '----r|' : '---------r|'], {
          r: 'gold',
        });
        const use = [backgroundWork({ tools: ['dig'], afterMs: 1, whenEnded: 'cancel' })];
        const lead = agent({ name: 'lead', model: talker, tools: [slow], use });
        expectEvents(run(lead, 'Dig.'), LETTERS_OF_WAITS).toBe(events);
        flush();
        expect(told(talker, 2).at(-1)).toBe(text);
      },
      { equal },
    ),
  );

  it('ends with its agent in the same tick, and so does what works inside it', () =>
    inVirtualTime(
      ({ model, tool, run, cold, expectEvents, expectSubscriptions }) => {
        const inner = model(['----------x|'], { x: 'Deep.' });
        const slow = tool({ name: 'dig', description: 'Digs.' }, ['------------r|'], { r: 'gold' });
        const outer = model(['(ab|)', '----c|'], { a: dig, b: toolCall('helper', { request: 'Help.' }, 'h'), c: 'x' });
        const helper = agentTool(agent({ name: 'helper', description: 'Helps.', model: inner }));
        const use = [backgroundWork({ tools: ['dig'], afterMs: 2 })];
        const lead = agent({ name: 'lead', model: outer, tools: [slow, helper], use });
        const left = cold('-------x');
        expectEvents(run(lead, 'Dig.').pipe(takeUntil(left)), { m: LETTERS.m, c: LETTERS.c }).toBe('--(mm)-|');
        expectSubscriptions(slow.subscriptions[0] ?? []).toBe('^------!');
        expectSubscriptions(inner.subscriptions[0] ?? []).toBe('^------!');
      },
      { equal },
    ));

  it.each([
    ['before it is moved', 50, '-q|', '-s-(qi)--d(e|)', 2],
    ['when the agent has nothing else to do', 0, '----q|', '-(sm)-(qi)--(dt)(e|)', 3],
  ])('passes a question on to a person %s', (_, afterMs, asks, events, requests) =>
    inVirtualTime(
      ({ model, tool, run, person, expectEvents, flush }) => {
        const answers = afterMs === 0 ? ['a|', 'b|', '---c|'] : ['a|', 'c|'];
        const talker = model(answers, { a: dig, b: 'Soon.', c: 'Gold.' });
        const slow = tool({ name: 'dig', description: 'Digs.' }, [asks, '--r|'], {
          q: (_args, call) => call.interrupt('Really?'),
          r: 'gold',
        });
        const use = [backgroundWork({ tools: ['dig'], afterMs })];
        const lead = agent({ name: 'lead', model: talker, tools: [slow], use });
        const ada = person(['---y|'], { y: 'yes' });
        expectEvents(run(lead, 'Dig.', { person: ada }), LETTERS).toBe(events);
        flush();
        expect(talker.requests).toHaveLength(requests);
      },
      { equal },
    ),
  );
});
