/** Teams whose order is fixed: one after the other, round after round, side by side. */
import { describe, expect, it } from 'vitest';
import {
  agent,
  agentFrom,
  agentTool,
  exitLoop,
  loopAgents,
  parallelAgents,
  sequentialAgents,
} from '../../../src/entries/agents.js';
import { EngineError, invoke, type RunEvent, resumeFrom } from '../../../src/index.js';
import { eventsOf, questionsOf } from '../loop/questions.js';
import { echo, replies, say, talk } from '../loop/support.js';

const failing = (name: string) =>
  agent({ name, model: replies(new EngineError('MODEL_UNAVAILABLE', `${name} is gone`)) });

/** Paths of the steps that started. */
const paths = (events: readonly RunEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'node-started' ? [event.node] : []));

describe('sequentialAgents', () => {
  it('tells each agent what those before it said and called, as context', async () => {
    const critic = replies('Fine.');
    const tool = echo();
    const writer = agent({
      name: 'writer',
      model: replies({ text: 'Let me see.', calls: [say('a')] }, 'A poem.'),
      tools: [tool],
    });
    const team = sequentialAgents({ name: 'desk', agents: [writer, agent({ name: 'critic', model: critic })] });
    expect(await invoke(team, 'Write.')).toBe('Fine.');
    expect(talk(critic.requests[0]?.messages ?? [])).toEqual([
      'user: Write.',
      'user: For context, from the agent "writer":\nLet me see.\n(called echo with {"text":"a"})\n(echo gave: echo a)\nA poem.',
    ]);
  });

  it('gives the answer of the last agent in its form', async () => {
    const last = agentFrom({
      name: 'count',
      run: (messages) => ({ text: 'counted', value: { messages: messages.length } }),
    });
    expect(
      await invoke(
        sequentialAgents({ name: 'desk', agents: [agent({ name: 'a', model: replies('x') }), last] }),
        'Go.',
      ),
    ).toEqual({
      messages: 2,
    });
  });

  it('has the agents in the paths of its events', async () => {
    const inner = sequentialAgents({ name: 'inner', agents: [agent({ name: 'a', model: replies('x') })] });
    const events = await eventsOf(
      sequentialAgents({ name: 'outer', agents: [inner, agent({ name: 'b', model: replies('y') })] }),
      'Go.',
    );
    expect(paths(events)).toEqual(expect.arrayContaining(['inner/a/model', 'b/model']));
  });

  it('fails with an agent that fails, and does not begin the next one', async () => {
    const next = replies('never');
    const team = sequentialAgents({ name: 'desk', agents: [failing('a'), agent({ name: 'b', model: next })] });
    await expect(invoke(team, 'Go.')).rejects.toMatchObject({ message: expect.stringContaining('a is gone') });
    expect(next.requests).toEqual([]);
  });

  it('as a tool tells its caller of a failure', async () => {
    const team = sequentialAgents({ name: 'desk', description: 'Works.', agents: [failing('a')] });
    const outer = replies({ calls: [{ name: 'desk', arguments: { request: 'x' } }] }, 'Sorry.');
    expect(await invoke(agent({ name: 'lead', model: outer, tools: [agentTool(team)] }), 'Go.')).toBe('Sorry.');
    expect(talk(outer.requests[1]?.messages ?? []).at(-1)).toBe('tool: a is gone');
  });

  it('cuts long results of tools for other agents', async () => {
    const long = agentFrom({
      name: 'reader',
      run: () => ({
        text: 'Read.',
        messages: [
          { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'read', arguments: '{}' }] },
          { role: 'tool', toolCallId: 'c', name: 'read', content: 'x'.repeat(10_000) },
          { role: 'assistant', content: 'Read.' },
        ],
      }),
    });
    const model = replies('ok');
    await invoke(sequentialAgents({ name: 'desk', agents: [long, agent({ name: 'b', model })] }), 'Go.');
    const told = talk(model.requests[0]?.messages ?? [])[1] ?? '';
    expect(told).toContain('x… (cut)');
    expect(told.length).toBeLessThan(4_200);
  });
});

describe('loopAgents', () => {
  it('goes round until the function says so', async () => {
    const writer = replies('1', '2', '3');
    const team = loopAgents({
      name: 'drafts',
      agents: [agent({ name: 'writer', model: writer }), agent({ name: 'critic', model: replies('Again.') })],
      until: ({ agent: name, text, round }) => name === 'writer' && text === '3' && round === 3,
    });
    expect(await invoke(team, 'Go.')).toBe('3');
    expect(talk(writer.requests[2]?.messages ?? [])).toEqual([
      'user: Go.',
      'assistant: 1',
      'user: For context, from the agent "critic":\nAgain.',
      'assistant: 2',
      'user: For context, from the agent "critic":\nAgain.',
    ]);
  });

  it('ends with the tool exitLoop, and leaves the loop around it running', async () => {
    const model = replies({ calls: [{ name: 'exit_loop', arguments: { answer: 'Inner.' } }] });
    const inner = loopAgents({ name: 'inner', agents: [agent({ name: 'a', model, tools: [exitLoop] })] });
    const outer = loopAgents({ name: 'outer', agents: [inner], maxRounds: 3 });
    expect(await invoke(outer, 'Go.')).toBe('Inner.');
    expect(model.requests).toHaveLength(3);
  });

  it('ends an agent that stands alone with the tool exitLoop, whatever it is called beside', async () => {
    const tool = echo();
    const model = replies({ calls: [{ name: 'exit_loop', arguments: { answer: 'Enough.' } }, say('a')] }, 'never');
    expect(await invoke(agent({ name: 'a', model, tools: [exitLoop, tool] }), 'Go.')).toBe('Enough.');
    expect([model.requests.length, tool.calls]).toEqual([1, ['a']]);
  });

  it.each(['answer', 'fail'] as const)('behind its last round it can %s', async (whenExhausted) => {
    const model = replies('a', 'b', 'c');
    const team = loopAgents({ name: 'l', agents: [agent({ name: 'x', model })], maxRounds: 2, whenExhausted });
    const told = await invoke(team, 'Go.').catch((error: EngineError) => error.code);
    expect(told).toBe(whenExhausted === 'fail' ? 'LIMIT_REACHED' : 'b');
    expect(model.requests).toHaveLength(2);
  });
});

describe('parallelAgents', () => {
  const two = (options = {}) =>
    parallelAgents({
      name: 'both',
      description: 'Knows both.',
      agents: [agent({ name: 'a', model: replies('A.') }), agent({ name: 'b', model: replies('B.') })],
      ...options,
    });

  it('gives the values by name, and the texts under the names', async () => {
    expect(await invoke(two(), 'Go.')).toEqual({ a: 'A.', b: 'B.' });
    const outer = replies({ calls: [{ name: 'both', arguments: { request: 'x' } }] }, 'Done.');
    await invoke(agent({ name: 'lead', model: outer, tools: [agentTool(two())] }), 'Go.');
    expect(talk(outer.requests[1]?.messages ?? []).at(-1)).toBe('tool: a: A.\n\nb: B.');
  });

  it('lets none hear the others, and those behind it hear all', async () => {
    const [a, b, c] = [replies('A.'), replies('B.'), replies('C.')];
    const both = parallelAgents({
      name: 'both',
      agents: [agent({ name: 'a', model: a }), agent({ name: 'b', model: b })],
    });
    await invoke(sequentialAgents({ name: 'all', agents: [both, agent({ name: 'c', model: c })] }), 'Go.');
    expect(talk(b.requests[0]?.messages ?? [])).toEqual(['user: Go.']);
    expect(talk(c.requests[0]?.messages ?? []).slice(1)).toEqual([
      'user: For context, from the agent "a":\nA.',
      'user: For context, from the agent "b":\nB.',
    ]);
  });

  it('may combine the texts itself', async () => {
    const team = two({ combine: (answers: readonly { text: string }[]) => answers.map(({ text }) => text).join('') });
    const model = replies({ calls: [{ name: 'both', arguments: { request: 'x' } }] });
    const lead = agent({ name: 'lead', model, tools: [agentTool(team)], returnDirectly: ['both'] });
    expect(await invoke(lead, 'Go.')).toBe('A.B.');
  });

  it('fails with one of them, or tells of it', async () => {
    const agents = [failing('a'), agent({ name: 'b', model: replies('B.') })];
    await expect(invoke(parallelAgents({ name: 't', agents }), 'Go.')).rejects.toThrow('a is gone');
    expect(await invoke(parallelAgents({ name: 't', agents, failures: 'tell' }), 'Go.')).toEqual({ b: 'B.' });
    await expect(
      invoke(parallelAgents({ name: 't', agents: [failing('a')], failures: 'tell' }), 'Go.'),
    ).rejects.toThrow('a is gone');
  });

  it.each([[['a', 'b']], [['b', 'a']]])('takes answers to its questions one by one: %s', async (order) => {
    const asking = (name: string) =>
      agentFrom({
        name,
        run: (_, at) => (at.answer === undefined ? at.interrupt(`${name}?`) : `${name}: ${at.answer}`),
      });
    const team = () => parallelAgents({ name: 'both', agents: [asking('a'), asking('b')] });
    const first = await questionsOf(team(), 'Go.');
    expect(first.questions.map(({ address }) => address).sort()).toEqual(['a/run', 'b/run']);
    const stored = JSON.parse(JSON.stringify(first.checkpoint));
    const second = await questionsOf(team(), resumeFrom(stored, { [`${order[0]}/run`]: 1 }));
    expect(second.questions.map(({ address }) => address)).toEqual([`${order[1]}/run`]);
    const last = JSON.parse(JSON.stringify(second.checkpoint));
    expect(await invoke(team(), resumeFrom(last, { [`${order[1]}/run`]: 2 }))).toEqual(
      order[0] === 'a' ? { a: 'a: 1', b: 'b: 2' } : { a: 'a: 2', b: 'b: 1' },
    );
  });
});

describe('options of teams', () => {
  const one = agent({ name: 'a', model: replies('x') });
  it.each([
    [() => sequentialAgents({ name: 't', agents: [] as never }), 'OPTION_INVALID'],
    [() => sequentialAgents({ name: 't', agents: [{}] as never }), 'OPTION_INVALID'],
    [() => sequentialAgents({ name: 't', agents: [one, one] }), 'OPTION_INVALID'],
    [() => sequentialAgents({ name: 'a/b', agents: [one] }), 'PLAN_INVALID'],
    [() => sequentialAgents({ name: 't', agents: [one], member: 1 } as never), 'OPTION_INVALID'],
    [() => loopAgents({ name: 't', agents: [one], maxRounds: 0 }), 'OPTION_INVALID'],
    [() => loopAgents({ name: 't', agents: [one], until: 3 as never }), 'OPTION_INVALID'],
    [() => parallelAgents({ name: 't', agents: [one], failures: 'hide' as never }), 'OPTION_INVALID'],
    [() => agentFrom({ name: 't', run: 'x' as never }), 'OPTION_INVALID'],
  ])('are refused, case %#', (make, code) => {
    expect(make).toThrowError(expect.objectContaining({ code }));
  });
});
