/** The loop as a graph: it does what an agent does, in chunks, and can be drawn. */
import { lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { agent, reactGraph } from '../../../src/entries/agents.js';
import { chain, defineTool, draw, invoke, resumeFrom, stream } from '../../../src/index.js';
import { questionsOf } from './questions.js';
import { echo, type Reply, replies, say, talk } from './support.js';

describe('reactGraph', () => {
  const CONVERSATIONS: readonly (readonly Reply[])[] = [
    ['At once.'],
    [{ text: 'Let me see.', calls: [say('a'), say('b')] }, 'Both.'],
    [{ calls: [{ name: 'nothing' }] }, 'There is no such tool.'],
    [{ calls: [say('a')] }, { calls: [say('b')] }, 'Twice.'],
    [{ calls: [{ name: 'broken' }] }, 'Sorry.'],
  ];
  it.each(CONVERSATIONS)('asks the model as an agent does, conversation %#', async (...list) => {
    const broken = defineTool({
      name: 'broken',
      description: 'Fails.',
      run: () => {
        throw new Error('no disk');
      },
    });
    const [one, other] = [replies(...list), replies(...list)];
    const answer = await invoke(
      agent({ name: 'a', model: one, tools: [echo(), broken], instructions: 'Be brief.' }),
      'Go.',
    );
    const graph = reactGraph({ model: other, tools: [echo(), broken], instructions: 'Be brief.' });
    expect((await invoke(graph, 'Go.')).content).toBe(answer);
    expect(other.requests.map(({ messages }) => talk(messages))).toEqual(
      one.requests.map(({ messages }) => talk(messages)),
    );
  });

  it('gives its answer in chunks', async () => {
    const model = replies({ calls: [say('a')] }, 'Done.');
    const chunks = await lastValueFrom(stream(reactGraph({ model, tools: [echo()] }), 'Go.').pipe(toArray()));
    expect(chunks.map(({ content }) => content).join('')).toBe('Done.');
    expect(chunks.length).toBeGreaterThan(1);
  });

  it('asks a person in a tool, and goes on there', async () => {
    const sure = defineTool({
      name: 'sure',
      description: 'Asks.',
      run: (_, call) => (call.answer === undefined ? call.interrupt('Sure?') : `It is ${call.answer}.`),
    });
    const model = replies({ calls: [{ name: 'sure', id: 'c' }] }, 'Done.');
    const made = () => chain(reactGraph({ model, tools: [sure] }), ({ content }) => content);
    const { questions, checkpoint } = await questionsOf(made(), 'Go.');
    const [question] = questions;
    const resumed = resumeFrom(JSON.parse(JSON.stringify(checkpoint)), { [String(question?.address)]: 'sure' });
    expect(await invoke(made(), resumed)).toBe('Done.');
    expect(talk(model.requests[1]?.messages ?? []).at(-1)).toBe('tool: It is sure.');
  });

  it('is described by its nodes, and has a bound', async () => {
    const model = replies({ calls: [say('a')] });
    const react = reactGraph({ name: 'loop', model, tools: [echo()], maxRounds: 2 });
    expect(draw(react)).toMatch(/model[\s\S]*tools/);
    await expect(invoke(react, 'Go.')).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
    expect(model.requests).toHaveLength(2);
  });

  it.each([
    [{}],
    [{ tools: [], maxRounds: 0 }],
    [{ tools: [], name: 'a/b' }],
    [{ tools: [], other: 1 }],
    [{ tools: 3 }],
  ])('refuses %j', (options) => {
    expect(() => reactGraph(options as never)).toThrowError(
      expect.objectContaining({ code: expect.stringMatching(/^(OPTION|PLAN)_INVALID$/) }),
    );
  });
});
