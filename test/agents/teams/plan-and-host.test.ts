/** Plans that are worked off, hosts that ask specialists, and agents written by hand. */
import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { agent, agentFrom, agentTool, hostAgents, planExecute, sequentialAgents } from '../../../src/entries/agents.js';
import { chain, invoke } from '../../../src/index.js';
import { eventsOf } from '../loop/questions.js';
import { replies, talk } from '../loop/support.js';

const json = (value: unknown): string => JSON.stringify(value);

describe('planExecute', () => {
  it('plans, does the first step, and plans again with what came of it', async () => {
    const model = replies(
      json({ steps: ['Find it.', 'Say it.'] }),
      json({ steps: ['Say it.'] }),
      json({ answer: 'It is here.' }),
    );
    const executor = replies('Found.', 'Said.');
    const team = planExecute({ name: 'guide', model, executor: agent({ name: 'worker', model: executor }) });
    const events = await eventsOf(team, 'Where is it?');
    expect(events.at(-1)).toMatchObject({ type: 'run-settled', value: 'It is here.' });
    expect(talk(executor.requests[1]?.messages ?? [])).toEqual([
      'user: Where is it?',
      'user: Done so far:\n1. Find it.\n   => Found.\nLeft to be done:\n1. Say it.\n\nDo this step now, and nothing else:\nSay it.',
    ]);
    const plans = events.flatMap((event) =>
      event.type === 'node-notice' && event.name === 'plan' ? [event.data] : [],
    );
    expect(plans).toEqual([
      { steps: ['Find it.', 'Say it.'], done: [] },
      { steps: ['Say it.'], done: [{ step: 'Find it.', result: 'Found.' }] },
    ]);
  });

  it.each(['answer', 'fail'] as const)('when its steps are used up it can %s', async (whenExhausted) => {
    const team = planExecute({
      name: 'guide',
      model: replies(json({ steps: ['Again.'] })),
      executor: agent({ name: 'worker', model: replies('1', '2', '3') }),
      maxSteps: 2,
      whenExhausted,
    });
    const got = await invoke(team, 'Go.').catch((error: { code: string }) => error.code);
    expect(got).toBe(whenExhausted === 'fail' ? 'LIMIT_REACHED' : '2');
  });

  it('takes planners of your own, and refuses what is no plan', async () => {
    const executor = agent({ name: 'worker', model: replies('Done.') });
    const planner = agentFrom({ name: 'mine', run: () => ({ text: '', value: { steps: ['Do it.'] } }) });
    const replanner = agentFrom({ name: 'again', run: () => ({ text: '', value: { answer: 'Yes.' } }) });
    expect(await invoke(planExecute({ name: 'g', executor, planner, replanner }), 'Go.')).toBe('Yes.');
    const wrong = agentFrom<never>({ name: 'mine', run: () => 'no plan' });
    await expect(invoke(planExecute({ name: 'g', executor, planner: wrong, replanner }), 'Go.')).rejects.toMatchObject({
      code: 'OUTPUT_INVALID',
      message: expect.stringContaining('"mine"'),
    });
  });

  it('speaks Chinese', async () => {
    const model = replies(json({ steps: ['一'] }), json({ answer: '好' }));
    const team = planExecute({ name: 'g', model, executor: agentFrom({ name: 'e', run: () => '完' }), language: 'zh' });
    expect(await invoke(team, '做')).toBe('好');
    expect(talk(model.requests[0]?.messages ?? [])[0]).toContain('计划');
  });
});

describe('hostAgents', () => {
  const specialists = (law = replies('Law.'), tax = replies('Tax.')) => [
    agent({ name: 'law', description: 'Knows laws.', model: law }),
    agent({ name: 'tax', description: 'Knows taxes.', model: tax }),
  ];
  const both = {
    calls: [
      { name: 'law', arguments: { request: 'L?' } },
      { name: 'tax', arguments: { request: 'T?' } },
    ],
  };

  it('answers with what the specialists say, who hear the conversation', async () => {
    const law = replies('Law.');
    const model = replies(both);
    expect(await invoke(hostAgents({ name: 'host', model, agents: specialists(law) }), 'Well?')).toBe('Law.\n\nTax.');
    expect(model.requests).toHaveLength(1);
    expect(talk(law.requests[0]?.messages ?? [])).toEqual(['user: Well?', 'user: L?']);
  });

  it('can sum them up, without asking anyone again', async () => {
    const model = replies(both, 'In short.');
    expect(await invoke(hostAgents({ name: 'host', model, agents: specialists(), summary: true }), 'Well?')).toBe(
      'In short.',
    );
    expect(model.requests[1]?.tools ?? []).toEqual([]);
  });

  it('may answer itself, and needs to know what its specialists are for', async () => {
    expect(await invoke(hostAgents({ name: 'host', model: replies('Me.'), agents: specialists() }), 'Hi')).toBe('Me.');
    const silent = agent({ name: 'silent', model: replies('x') });
    expect(() => hostAgents({ name: 'host', agents: [silent] })).toThrowError(/"silent" has no "description"/);
  });
});

describe('agentFrom', () => {
  it('takes text, messages, streams, steps and forms', async () => {
    const of2 = <O>(run: Parameters<typeof agentFrom<O>>[0]['run']) =>
      invoke(agentFrom<O>({ name: 'a', run }), 'Hello.');
    expect(await of2(async () => 'later')).toBe('later');
    expect(await of2(() => of('in ', 'pieces'))).toBe('in pieces');
    expect(await of2(() => ({ role: 'assistant', content: 'message' }) as const)).toBe('message');
    expect(
      await of2(
        chain(
          (messages: readonly unknown[]) => messages.length,
          (count) => `${count} message`,
        ),
      ),
    ).toBe('1 message');
    await expect(of2(() => 3 as never)).rejects.toMatchObject({ code: 'OUTPUT_INVALID' });
  });

  it('hears others as context, and is heard so', async () => {
    const heard: string[] = [];
    const model = replies('B.');
    const first = agent({ name: 'b', model });
    const hand = agentFrom({
      name: 'hand',
      run: (messages) => {
        heard.push(...talk(messages));
        return 'Mine.';
      },
    });
    const last = replies('C.');
    await invoke(sequentialAgents({ name: 't', agents: [first, hand, agent({ name: 'c', model: last })] }), 'Go.');
    expect(heard).toEqual(['user: Go.', 'user: For context, from the agent "b":\nB.']);
    expect(talk(last.requests[0]?.messages ?? []).at(-1)).toBe('user: For context, from the agent "hand":\nMine.');
  });

  it('as a tool, tells why it failed', async () => {
    const broken = agentFrom({
      name: 'broken',
      description: 'Breaks.',
      run: () => Promise.reject(new Error('no disk')),
    });
    const outer = replies({ calls: [{ name: 'broken', arguments: { request: 'x' } }] }, 'Sorry.');
    expect(await invoke(agent({ name: 'lead', model: outer, tools: [agentTool(broken)] }), 'Go.')).toBe('Sorry.');
    expect(talk(outer.requests[1]?.messages ?? []).at(-1)).toContain('no disk');
  });

  it('sends repairs of a form to the agent alone', async () => {
    const output = z.object({ n: z.number() });
    const counter = agent({ name: 'counter', model: replies('none', '{"n": 1}'), output });
    const next = replies('ok');
    await invoke(sequentialAgents({ name: 't', agents: [counter, agent({ name: 'next', model: next })] }), 'Go.');
    expect(talk(next.requests[0]?.messages ?? []).filter((line) => line.startsWith('user'))).toEqual([
      'user: Go.',
      'user: For context, from the agent "counter":\nnone\n{"n": 1}',
    ]);
  });
});
