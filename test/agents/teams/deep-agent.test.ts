/** An agent for long work: its list, its helpers, and what they share. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { agent, agentFrom, agentTool, approve, deepAgent, defineMiddleware } from '../../../src/entries/agents.js';
import { type ChatRequest, invoke, resumeFrom } from '../../../src/index.js';
import { attempt, throughJson } from '../../compose/support/waiting-runs.js';
import { eventsOf, questionsOf } from '../loop/questions.js';
import { echo, replies, say, talk } from '../loop/support.js';

const asking = (name: string, request: string, id = name) => ({
  name: 'delegate',
  arguments: { agent: name, request },
  id,
});
const offered = ({ tools = [] }: ChatRequest): string[] => tools.map(({ name }) => name);
const told = ({ messages }: ChatRequest): string => String(messages.find(({ role }) => role === 'system')?.content);

const law = agentFrom({
  name: 'law',
  description: 'Knows the law.',
  run: (messages) => `law on ${talk([...messages])}`,
});

describe('deepAgent', () => {
  it('gives several agents work at once, which hear what it writes them and nothing else', async () => {
    const model = replies(
      { calls: [asking('general', 'Count bridges.'), asking('law', 'May I swim?')] },
      'Seven.',
      'All done.',
    );
    expect(await invoke(deepAgent({ name: 'deep', model, agents: [law] }), 'A long question.')).toBe('All done.');
    const [first, inner, last] = model.requests as [ChatRequest, ChatRequest, ChatRequest];
    expect(offered(first)).toEqual(['write_todos', 'delegate']);
    expect(talk(inner.messages).slice(1)).toEqual(['user: Count bridges.']);
    expect(talk(last.messages).slice(-2)).toEqual(['tool: Seven.', 'tool: law on user: May I swim?']);
  });

  it('gives its general agent its own tools, hooks and list, and no agents', async () => {
    const heard: string[] = [];
    const hears = defineMiddleware({
      name: 'hears',
      beforeModel: (request, { agent: name }) => {
        heard.push(name);
        return request;
      },
    });
    const write = (content: string) => ({
      name: 'write_todos',
      arguments: { todos: [{ content, status: 'in_progress' }] },
    });
    const model = replies(
      { calls: [write('Outer work')] },
      { calls: [asking('general', 'Count.')] },
      { calls: [write('Inner work'), say('one')] },
      'Counted.',
      'Done.',
    );
    const tool = echo();
    await invoke(deepAgent({ name: 'deep', model, agents: [law], tools: [tool], use: [hears] }), 'Go.');
    expect(model.requests.map(offered)[2]).toEqual(['echo', 'write_todos']);
    expect(heard).toEqual(['deep', 'deep', 'general', 'general', 'deep']);
    expect(tool.calls).toEqual(['one']);
    expect(model.requests.map((request) => ['Outer', 'Inner'].filter((word) => told(request).includes(word)))).toEqual([
      [],
      ['Outer'],
      [],
      ['Inner'],
      ['Outer'],
    ]);
  });

  it('asks about calls of its general agent as about its own, and keeps both lists over a restart', async () => {
    const list = { name: 'write_todos', arguments: { todos: [{ content: 'Send it', status: 'pending' }] } };
    const model = replies(
      { calls: [list] },
      { calls: [asking('general', 'Send it.')] },
      { calls: [{ ...say('mail'), id: 'send' }] },
      'Sent.',
      'Done.',
    );
    const tool = echo();
    const make = () => deepAgent({ name: 'deep', model, tools: [tool], use: [approve(['echo'])] });
    const { questions, checkpoint } = await questionsOf(make(), 'Go.');
    expect(questions.map(({ address }) => address)).toEqual(['agents[0]/general/review#approve/send']);
    expect(tool.calls).toEqual([]);
    const address = String(questions[0]?.address);
    const end = await attempt(
      make() as never,
      resumeFrom(throughJson(checkpoint), { [address]: { approved: true } }) as never,
    );
    expect(end).toEqual({ status: 'done', value: 'Done.' });
    expect(tool.calls).toEqual(['mail']);
    expect(told(model.requests.at(-1) as ChatRequest)).toContain('[ ] Send it');
  });

  it('answers in a form, while its general agent answers with text and keeps nothing', async () => {
    const model = replies({ calls: [asking('general', 'Count.')] }, 'Seven.', '{"bridges": 7}');
    const output = z.object({ bridges: z.number() });
    const deep = deepAgent({ name: 'deep', model, output, outputKey: 'found', returnDirectly: [] });
    expect(await invoke(deep, 'How many?')).toEqual({ bridges: 7 });
    expect(model.requests).toHaveLength(3);
  });

  it('hears why an agent failed, and goes on', async () => {
    const broken = agent({ name: 'broken', description: 'Fails.', model: replies(new Error('no power')) });
    const model = replies({ calls: [asking('broken', 'Try.')] }, 'It has no power.');
    expect(await invoke(deepAgent({ name: 'deep', model, agents: [broken] }), 'Go.')).toBe('It has no power.');
    expect(talk(model.requests[1]?.messages ?? []).at(-1)).toContain('no power');
  });

  it('stops a general agent that calls for ever by its own count of rounds', async () => {
    const stopWhen = [({ round }: { readonly round: number }) => (round >= 2 ? 'Enough.' : undefined)];
    const calls = { calls: [say('again')] };
    const model = replies({ calls: [asking('general', 'Loop.')] }, calls, calls, 'I was stopped.', 'Done.');
    const tool = echo();
    expect(await invoke(deepAgent({ name: 'deep', model, tools: [tool], stopWhen }), 'Go.')).toBe('Done.');
    expect(tool.calls).toHaveLength(2);
  });

  it('leaves out what is switched off', async () => {
    const model = replies('Done.');
    await invoke(deepAgent({ name: 'deep', model, generalAgent: false, keepsTodos: false }), 'Go.');
    const [request] = model.requests as [ChatRequest];
    expect(offered(request)).toEqual([]);
    expect(told(request)).not.toContain('other agents');
  });

  it.each([
    ['text', 'Be kind.'],
    ['a function', () => 'Be kind.'],
  ] as const)('tells both agents its instructions, given as %s', async (_, instructions) => {
    const model = replies({ calls: [asking('general', 'Help.')] }, 'Helped.', 'Done.');
    await invoke(deepAgent({ name: 'deep', model, instructions }), 'Go.');
    expect(model.requests.map((request) => told(request).includes('Be kind.'))).toEqual([true, true, true]);
  });

  it('speaks Chinese', async () => {
    const model = replies('好。');
    await invoke(deepAgent({ name: 'deep', model, language: 'zh' }), '开始。');
    const [request] = model.requests as [ChatRequest];
    expect(told(request)).toContain('智能体');
    expect(told(request)).not.toMatch(/[a-z]{3} [a-z]{3}/);
  });

  it('is a tool of another agent, with the paths of its own helpers below', async () => {
    const inner = replies({ calls: [asking('general', 'Count.')] }, 'Seven.', 'Inner done.');
    const deep = deepAgent({ name: 'deep', description: 'Works long.', model: inner });
    const lead = agent({
      name: 'lead',
      model: replies({ calls: [{ name: 'deep', arguments: { request: 'Work.' } }] }, 'Done.'),
      tools: [agentTool(deep)],
    });
    const events = await eventsOf(lead, 'Go.');
    const started = events.flatMap((event) => (event.type === 'node-started' ? [event.node] : []));
    expect(started.filter((node) => node.endsWith('model'))).toEqual([
      'model',
      'agents/deep/model',
      'agents/deep/agents/general/model',
      'agents/deep/model',
      'model',
    ]);
  });

  it.each([
    ['a flag that is none', { generalAgent: 'yes' }, '"yes"'],
    ['another flag that is none', { keepsTodos: 1 }, '1'],
    ['agents that are none', { agents: [{}] }, 'agents'],
    ['agents that are no list', { agents: 5 }, '5'],
    [
      'an agent that is called as the general one',
      { agents: [agentFrom({ name: 'general', run: () => '' })] },
      '"general"',
    ],
    ['an agent without a description', { agents: [agentFrom({ name: 'mute', run: () => '' })] }, 'mute'],
    ['instructions that are none', { instructions: 5 }, '5'],
    ['a language that it does not speak', { language: 'fr' }, '"fr"'],
    ['names that are no options', { helper: true }, 'helper'],
  ])('refuses %s', (_, wrong, received) => {
    expect(() => deepAgent({ name: 'deep', ...wrong } as never)).toThrow(
      expect.objectContaining({ code: 'OPTION_INVALID', message: expect.stringContaining(received) }),
    );
  });
});
