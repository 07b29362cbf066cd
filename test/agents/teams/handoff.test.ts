/** Agents that decide themselves who goes on. */
import { lastValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  agent,
  agentFrom,
  agentTool,
  createRunner,
  handoff,
  sequentialAgents,
  supervisor,
} from '../../../src/entries/agents.js';
import { invoke } from '../../../src/index.js';
import { echo, type Reply, replies, say, talk } from '../loop/support.js';

const over = (to: string): Reply => ({ calls: [{ name: `transfer_to_${to}`, id: 'h' }] });

describe('handoff', () => {
  it('offers a tool for everyone that an agent may hand over to, and tells the next one what was said', async () => {
    const [first, second] = [replies(over('billing')), replies('Paid.')];
    const desk = handoff({
      name: 'desk',
      agents: [
        agent({ name: 'triage', model: first }),
        agent({ name: 'billing', description: 'Knows invoices.', model: second }),
        agent({ name: 'law', model: replies('x') }),
      ],
      to: { billing: [] },
    });
    expect(await invoke(desk, 'Is it paid?')).toBe('Paid.');
    expect(first.requests[0]?.tools?.map(({ name }) => name)).toEqual(['transfer_to_billing', 'transfer_to_law']);
    expect(first.requests[0]?.tools?.[0]?.description).toContain('Knows invoices.');
    expect(second.requests[0]?.tools ?? []).toEqual([]);
    expect(talk(second.requests[0]?.messages ?? [])).toEqual([
      'user: Is it paid?',
      'user: For context, from the agent "triage":\n(Handed over to billing.)',
    ]);
  });

  it('makes no other call of the answer that hands over', async () => {
    const tool = echo();
    const a = agent({ name: 'a', model: replies({ calls: [say('x'), { name: 'transfer_to_b' }] }), tools: [tool] });
    expect(await invoke(handoff({ name: 't', agents: [a, agent({ name: 'b', model: replies('B.') })] }), 'Go.')).toBe(
      'B.',
    );
    expect(tool.calls).toEqual([]);
  });

  it('goes back and forth, each agent with its own words as its own', async () => {
    const a = replies(over('b'), 'End.');
    const b = replies({ text: 'I say this.', calls: [{ name: 'transfer_to_a', id: 'h' }] });
    const team = handoff({ name: 't', agents: [agent({ name: 'a', model: a }), agent({ name: 'b', model: b })] });
    expect(await invoke(team, 'Go.')).toBe('End.');
    expect(talk(a.requests[1]?.messages ?? [])).toEqual([
      'user: Go.',
      'assistant:  [transfer_to_b]',
      'tool: Handed over to b.',
      'user: For context, from the agent "b":\nI say this.\n(Handed over to a.)',
    ]);
  });

  it('has a bound', async () => {
    const a = replies(over('b'));
    const b = replies(over('a'));
    const team = handoff({
      name: 't',
      agents: [agent({ name: 'a', model: a }), agent({ name: 'b', model: b })],
      maxHandoffs: 3,
    });
    await expect(invoke(team, 'Go.')).rejects.toMatchObject({
      code: 'LIMIT_REACHED',
      message: expect.stringContaining('"maxHandoffs"'),
    });
    expect([a.requests.length, b.requests.length]).toEqual([2, 2]);
  });

  it('can be fixed: who follows an agent, whatever it answers', async () => {
    const writer = agent({ name: 'writer', model: replies('Draft.') });
    const editor = agent({ name: 'editor', model: replies('Edited.') });
    const team = handoff({
      name: 't',
      agents: [writer, editor],
      to: { writer: [], editor: [] },
      followedBy: { writer: 'editor' },
    });
    expect(await invoke(team, 'Go.')).toBe('Edited.');
  });

  it('refuses names that no agent has, and lists those that there are', () => {
    const agents = [agent({ name: 'a', model: replies('x') }), agent({ name: 'b', model: replies('x') })];
    for (const options of [{ start: 'c' }, { to: { a: ['c'] } }, { to: { c: [] } }, { followedBy: { a: 'c' } }]) {
      expect(() => handoff({ name: 't', agents, ...options } as never)).toThrowError(
        expect.objectContaining({ code: 'HANDOFF_UNKNOWN', message: expect.stringContaining('"a", "b"') }),
      );
    }
  });

  it('fails when an agent written by hand names one that it may not hand over to', async () => {
    const a = agentFrom({ name: 'a', run: () => ({ handOver: 'c' }) });
    const b = agentFrom({ name: 'b', run: () => 'B.' });
    await expect(invoke(handoff({ name: 't', agents: [a, b] }), 'Go.')).rejects.toMatchObject({
      code: 'HANDOFF_UNKNOWN',
      message: expect.stringContaining('"b"'),
    });
  });

  it('leads out of a team that is a member of another one', async () => {
    const inner = sequentialAgents({
      name: 'inner',
      agents: [agent({ name: 'x', model: replies('X.') }), agent({ name: 'y', model: replies(over('outside')) })],
    });
    const outside = replies('Outside.');
    const team = handoff({ name: 't', agents: [inner, agent({ name: 'outside', model: outside })] });
    expect(await invoke(team, 'Go.')).toBe('Outside.');
    expect(talk(outside.requests[0]?.messages ?? []).slice(1)).toEqual([
      'user: For context, from the agent "x":\nX.',
      'user: For context, from the agent "y":\n(Handed over to outside.)',
    ]);
  });

  it('stays inside of an agent that is called as a tool', async () => {
    const team = handoff({
      name: 'desk',
      description: 'Helps.',
      agents: [agent({ name: 'a', model: replies(over('b')) }), agent({ name: 'b', model: replies('B.') })],
    });
    const outer = replies({ calls: [{ name: 'desk', arguments: { request: 'x' } }] }, 'Done.');
    expect(await invoke(agent({ name: 'lead', model: outer, tools: [agentTool(team)] }), 'Go.')).toBe('Done.');
    expect(talk(outer.requests[1]?.messages ?? []).at(-1)).toBe('tool: B.');
  });

  it.each([true, false])('begins the next turn with the agent that spoke last: %s', async (remembersSpeaker) => {
    const [a, b] = [replies(over('b')), replies('B.')];
    const team = handoff({
      name: 't',
      agents: [agent({ name: 'a', model: a }), agent({ name: 'b', model: b })],
      remembersSpeaker,
    });
    const runner = createRunner({ agent: team });
    await lastValueFrom(runner.run('One.', { session: 's' }));
    await lastValueFrom(runner.run('Two.', { session: 's' }));
    expect([a.requests.length, b.requests.length]).toEqual(remembersSpeaker ? [1, 2] : [2, 2]);
    expect(talk(b.requests[1]?.messages ?? [])).toContain('assistant: B.');
  });
});

describe('supervisor', () => {
  it('gets the work back from those it hands it to, and alone answers', async () => {
    const lead = replies(over('writer'), over('critic'), 'All done.');
    const writer = replies('Draft.');
    const team = supervisor({
      name: 'team',
      lead: agent({ name: 'lead', model: lead }),
      agents: [agent({ name: 'writer', model: writer }), agent({ name: 'critic', model: replies('Fine.') })],
    });
    expect(await invoke(team, 'Write.')).toBe('All done.');
    expect(writer.requests[0]?.tools ?? []).toEqual([]);
    expect(talk(lead.requests[2]?.messages ?? []).filter((line) => line.startsWith('user'))).toEqual([
      'user: Write.',
      'user: For context, from the agent "writer":\nDraft.',
      'user: For context, from the agent "critic":\nFine.',
    ]);
  });

  it('can be a member of another one', async () => {
    const inner = supervisor({
      name: 'research',
      description: 'Finds things.',
      lead: agent({ name: 'chief', model: replies(over('finder'), 'Found it.') }),
      agents: [agent({ name: 'finder', model: replies('Here.') })],
    });
    const lead = replies(over('research'), 'Thanks.');
    const team = supervisor({ name: 'team', lead: agent({ name: 'lead', model: lead }), agents: [inner] });
    expect(await invoke(team, 'Find.')).toBe('Thanks.');
    expect(talk(lead.requests[1]?.messages ?? []).slice(3)).toEqual([
      'user: For context, from the agent "chief":\n(Handed over to finder.)',
      'user: For context, from the agent "finder":\nHere.',
      'user: For context, from the agent "chief":\nFound it.',
    ]);
  });
});
