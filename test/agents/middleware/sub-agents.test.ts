import { lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { agent } from '../../../src/agents/loop/agent.js';
import { agentTool } from '../../../src/agents/loop/agent-as-tool.js';
import { approve } from '../../../src/agents/middleware/approve.js';
import { subAgents } from '../../../src/agents/middleware/sub-agents.js';
import { agentFrom } from '../../../src/agents/teams/agent-from.js';
import { defineTool, draw, type EngineError, invoke, run } from '../../../src/index.js';
import { attempt, goOn, type RecordingModel, type Reply, recordingModel, told } from './support.js';

const give = (to: string | undefined, request: unknown = 'Do it.', id = 'd'): Exclude<Reply, string>[number] => ({
  tool: 'delegate',
  args: { ...(to !== undefined && { agent: to }), request },
  id,
});
const echo = (name: string) =>
  agentFrom({
    name,
    description: `Is ${name}.`,
    run: (messages) => `${name}: ${messages.map(({ content }) => content).join(' | ')}`,
  });
const results = (model: RecordingModel, round: number) =>
  told(model.requests[round] as never).filter((line) => line.startsWith('tool: '));
const lead = (model: RecordingModel, options: Parameters<typeof subAgents>[0]) =>
  agent({ name: 'lead', model, use: [subAgents(options)] });

describe('subAgents', () => {
  it('gives each request to the agent that was chosen, and reports in the order of the calls', async () => {
    const model = recordingModel([give('b', 'first', '1'), give('a', 'second', '2'), give('b', 'third', '3')], 'ok');
    expect(await invoke(lead(model, { agents: [echo('a'), echo('b')] }), 'go')).toBe('ok');
    expect(results(model, 1)).toEqual(['tool: b: first', 'tool: a: second', 'tool: b: third']);
    const [tool] = model.requests[0]?.tools ?? [];
    expect(tool?.description).toMatch(/\n- a: Is a\.\n- b: Is b\.\n- general: /);
    expect(tool?.parameters).toMatchObject({
      properties: { agent: { enum: ['a', 'b', 'general'] } },
      required: ['request'],
    });
  });

  it.each([
    [
      'an agent that is not there, with the nearest',
      give('wrter'),
      'There is no agent "wrter". The agents are: writer. Did you mean "writer"?',
    ],
    ['no agent', give(undefined), 'There is no agent "". The agents are: writer.'],
    ['a request that is empty', give('writer', ' '), 'The request is empty. Write what the agent has to do.'],
    ['a request that is no text', give('writer', 7), 'The request is empty. Write what the agent has to do.'],
  ])('answers %s, and goes on with the other calls', async (_, call, text) => {
    const model = recordingModel([call, give('writer', 'x', 'other')], 'ok');
    await invoke(lead(model, { agents: [echo('writer')], general: false }), 'go');
    expect(results(model, 1)).toEqual([`tool: ${text}`, 'tool: writer: x']);
  });

  it('has a general agent of the same model and tools, which cannot give work on', async () => {
    const look = defineTool({ name: 'look', description: 'Looks.', run: () => 'seen' });
    const model = recordingModel([give(undefined, 'Look!')], [{ tool: 'look' }], 'Looked.', 'ok');
    const made = agent({
      name: 'lead',
      model,
      instructions: 'Lead.',
      tools: [look],
      settings: { user: 'ada' },
      use: [subAgents()],
    });
    expect(await invoke(made, 'go')).toBe('ok');
    expect(told(model.requests[1] as never)).toEqual([
      expect.stringMatching(/^system: You are given a piece of work/),
      'user: Look!',
    ]);
    expect(model.requests[1]?.tools?.map(({ name }) => name)).toEqual(['look']);
    expect(model.requests[1]?.user).toBe('ada');
    expect(results(model, 3)).toEqual(['tool: Looked.']);
  });

  it('asks before tools are called by its general agent as before it calls them itself', async () => {
    const sent: string[] = [];
    const send = defineTool({ name: 'send', description: 'Sends.', run: () => void sent.push('sent') });
    const model = recordingModel([give(undefined, 'Send!')], [{ tool: 'send', id: 'c' }], 'Sent.', 'ok');
    const made = agent({ name: 'lead', model, tools: [send], use: [approve(['send']), subAgents()] });
    const asked = await invoke(made, 'go').catch((error: EngineError) => error);
    expect([sent, asked]).toMatchObject([[], { code: 'RUN_INTERRUPTED' }]);
  });

  it('makes the general agent as it is told to', async () => {
    const other = recordingModel('Mine.');
    const model = recordingModel([give('helper')], 'ok');
    await invoke(lead(model, { general: { name: 'helper', model: other, instructions: 'Help.' } }), 'go');
    expect(told(other.requests[0] as never)).toEqual(['system: Help.', 'user: Do it.']);
    expect(results(model, 1)).toEqual(['tool: Mine.']);
  });

  it('asks questions of inner agents at their addresses, and goes on inside after a restart', async () => {
    const sure = defineTool({
      name: 'sure',
      description: 'Asks.',
      run: (_, call) => (call.answer === undefined ? call.interrupt('Sure?') : `It is ${call.answer}.`),
    });
    const inner = recordingModel([{ tool: 'sure', id: 's' }], 'Written.');
    const outer = recordingModel([give('writer', 'x', '1'), give('echo', 'y', '2')], 'ok');
    const made = () => {
      const writer = agent({ name: 'writer', description: 'Writes.', model: inner, tools: [sure] });
      return lead(outer, { agents: [writer, echo('echo')], general: false });
    };
    const waits = await attempt(made(), 'go');
    expect(waits).toMatchObject({ questions: [{ address: 'agents[0]/writer/tools#s', question: 'Sure?' }] });
    expect(await goOn(made(), waits, { 'agents[0]/writer/tools#s': 'so' })).toEqual({ type: 'done', value: 'ok' });
    expect(inner.requests).toHaveLength(2);
    expect(results(outer, 1)).toEqual(['tool: Written.', 'tool: echo: y']);
  });

  it('tells what inner agents do as events of the run', async () => {
    const inner = agent({ name: 'writer', description: 'Writes.', model: recordingModel('Written.') });
    const model = recordingModel([give('writer')], 'ok');
    const events = await lastValueFrom(run(lead(model, { agents: [inner] }), { input: 'go' }).pipe(toArray()));
    const started = events.flatMap((event) =>
      event.type === 'node-notice' && event.name === 'agent-started' ? [[event.data, event.node]] : [],
    );
    expect(started).toEqual([
      [{ agent: 'lead' }, 'begin'],
      [{ agent: 'writer' }, expect.stringMatching(/writer\/begin$/)],
    ]);
  });

  it('tells the caller when an agent fails', async () => {
    const broken = agentFrom({ name: 'broken', description: 'Breaks.', run: () => Promise.reject(new Error('torn')) });
    const model = recordingModel([give('broken')], 'ok');
    expect(await invoke(lead(model, { agents: [broken] }), 'go')).toBe('ok');
    expect(results(model, 1)[0]).toContain('torn');
  });

  it.each([
    ['request', 'tool: echo: Do it.'],
    ['history', 'tool: echo: The start. | Do it.'],
  ] as const)('lets agents hear the %s', async (hears, text) => {
    const model = recordingModel([give('echo')], 'ok');
    await invoke(lead(model, { agents: [echo('echo')], hears }), 'The start.');
    expect(results(model, 1)).toEqual([text]);
  });

  it('stands beside agents as tools of the same names, at every depth', async () => {
    const inner = recordingModel([give('echo', 'deep')], 'Middle.');
    const middle = agent({
      name: 'middle',
      description: 'Gives on.',
      model: inner,
      use: [subAgents({ agents: [echo('echo')] })],
    });
    const model = recordingModel([give('middle'), { tool: 'echo', args: { request: 'side' }, id: 'e' }], 'ok');
    const made = agent({
      name: 'lead',
      model,
      tools: [agentTool(echo('echo'))],
      use: [subAgents({ agents: [echo('echo'), middle], language: 'zh' })],
    });
    expect(await invoke(made, 'go')).toBe('ok');
    expect(results(model, 1)).toEqual(['tool: Middle.', 'tool: echo: side']);
    expect(results(inner, 1)).toEqual(['tool: echo: deep']);
    expect(model.requests[0]?.tools?.[1]?.description).toMatch(/^把工作交给/);
    expect(draw(made)).toContain('middle');
  });

  it.each([
    ['no agent at all', { general: false }],
    ['what is no agent', { agents: [{}] }],
    ['an agent without a description', { agents: [agentFrom({ name: 'a', run: () => '' })] }],
    ['two agents of a name', { agents: [echo('a'), echo('a')] }],
    ['the name of the general agent twice', { agents: [echo('general')] }],
    ['a tool that models cannot call', { tool: 'give work' }],
    ['what they could not hear', { hears: 'all' }],
  ])('refuses %s', (_, options) => {
    expect(() => subAgents(options as never)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });
});
