import { from, lastValueFrom, map, Subject, tap, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { agent } from '../../../src/agents/loop/agent.js';
import type { AnyAgent } from '../../../src/agents/loop/agent-end.js';
import { defineMiddleware } from '../../../src/agents/loop/middleware.js';
import { chain } from '../../../src/compose/chain.js';
import { invoke, run, stream } from '../../../src/compose/run.js';
import { operator } from '../../../src/compose/steps.js';
import { defineTool } from '../../../src/compose/tools/define-tool.js';
import type { ChatDelta, ChatModel, ChatRequest } from '../../../src/models/chat-model.js';
import { createScriptedModel } from '../../../src/models/scripted.js';

const lookUp = defineTool({ name: 'look_up', description: 'Looks up.', run: () => 'found' });

async function chunksOf(step: AnyAgent): Promise<unknown[]> {
  const chunks: unknown[] = [];
  for await (const chunk of stream(step, 'Go.')) chunks.push(chunk);
  return chunks;
}

/** Answers with the pieces of each round. */
function saying(...rounds: readonly (readonly ChatDelta[])[]): ChatModel {
  let round = 0;
  return { chat: () => from(rounds[Math.min(round++, rounds.length - 1)] as readonly ChatDelta[]) };
}

const text = (said: string): ChatDelta => ({ type: 'text', text: said });
const thought = (said: string): ChatDelta => ({ type: 'thinking', text: said });
const call: ChatDelta = { type: 'tool-call', index: 0, id: 'c1', name: 'look_up', arguments: '{}' };
const end: ChatDelta = { type: 'finish', reason: 'stop' };

describe('the answer of an agent as a stream', () => {
  it('comes in pieces where no tools are offered', async () => {
    const model = saying([thought('hm'), text('Take '), text('a coat.'), end]);
    expect(await chunksOf(agent({ name: 'guide', model }))).toEqual(['Take ', 'a coat.']);
  });

  it('comes with its first piece, which the next step of a chain gets at once', async () => {
    const pieces = new Subject<ChatDelta>();
    const model: ChatModel = { chat: () => pieces };
    const heard: string[] = [];
    const loud = operator<string, string>('loud', (chunks) =>
      chunks.pipe(
        map((chunk) => chunk.toUpperCase()),
        tap((chunk) => heard.push(chunk)),
      ),
    );
    const whole = invoke(chain(agent({ name: 'guide', model }), loud), 'Go.');
    pieces.next(text('Take '));
    await new Promise((resolve) => setImmediate(resolve));
    expect(heard).toEqual(['TAKE ']);
    pieces.next(text('a coat.'));
    pieces.complete();
    expect(await whole).toBe('TAKE A COAT.');
  });

  it('has nothing of rounds that end in calls, and comes whole behind tools that are still offered', async () => {
    const model = saying([text('Let me see.'), call, end], [text('It is '), text('found.'), end]);
    expect(await chunksOf(agent({ name: 'guide', model, tools: [lookUp] }))).toEqual(['It is found.']);
  });

  it('comes in pieces in the round in which tools are not offered any more', async () => {
    const requests: ChatRequest[] = [];
    const scripted = saying([call, end], [thought('hm'), text('It is '), text('found.'), end]);
    const model: ChatModel = {
      chat: (request) => {
        requests.push(request);
        return scripted.chat(request);
      },
    };
    const guide = agent({
      name: 'guide',
      model,
      tools: [lookUp],
      answerFrom: 'text',
      prepareRound: ({ tools }, { round }) => ({ tools: round > 1 ? [] : tools }),
    });
    expect(await chunksOf(guide)).toEqual(['It is ', 'found.']);
    expect(requests.map(({ tools = [] }) => tools.length)).toEqual([1, 0]);
  });

  it('begins with the first text where the agent is told that text is the answer', async () => {
    const model = saying([call, end], [thought('hm'), text('It is '), text('found.'), end]);
    const guide = agent({ name: 'guide', model, tools: [lookUp], answerFrom: 'text' });
    expect(await chunksOf(guide)).toEqual(['It is ', 'found.']);
  });

  it('fails when a call comes behind text that was said to be the answer', async () => {
    const model = saying([text('Let me see.'), call, end], [text('Found.'), end]);
    const guide = agent({ name: 'guide', model, tools: [lookUp], answerFrom: 'text' });
    await expect(invoke(guide, 'Go.')).rejects.toMatchObject({
      code: 'MODEL_RESPONSE',
      message: expect.stringContaining('had begun its answer when its model called "look_up"'),
    });
  });

  it.each([
    ['a form', { output: z.object({ a: z.number() }) }, '{"a":1}', { a: 1 }],
    ['further tries', { retry: { attempts: 2 } }, '{"a":1}', '{"a":1}'],
    ['a model that stands in', { failover: [createScriptedModel({ default: { reply: 'b' } })] }, '{"a":1}', '{"a":1}'],
    [
      'hooks behind the model',
      { use: [defineMiddleware({ name: 'm', afterAgent: ({ text: said }) => ({ text: `${said}!` }) })] },
      '{"a":1}',
      '{"a":1}!',
    ],
  ])('comes whole with %s', async (_, options, said, answer) => {
    const model = saying([text(said.slice(0, 3)), text(said.slice(3)), end]);
    expect(await chunksOf(agent({ name: 'guide', model, ...options } as never))).toEqual([answer]);
  });

  it('leaves its thoughts in the events of the run', async () => {
    const guide = agent({ name: 'guide', model: saying([thought('hm'), text('Take one.'), end]) });
    const events = await lastValueFrom(run(guide, { input: 'Go.' }).pipe(toArray()));
    const thoughts = events.filter((event) => event.type === 'node-notice' && event.name === 'reasoning');
    expect(thoughts).toMatchObject([{ node: 'say', data: { text: 'hm' } }]);
  });

  it('is one empty text when the model says nothing', async () => {
    expect(await chunksOf(agent({ name: 'guide', model: saying([end]) }))).toEqual(['']);
  });

  it('is the same whether it is streamed or not, and its end is told once', async () => {
    const guide = agent({ name: 'guide', model: saying([text('Take '), text('a coat.'), end]) });
    const events = await lastValueFrom(run(guide, { input: 'Go.' }).pipe(toArray()));
    const ended = events.filter((event) => event.type === 'node-notice' && event.name === 'agent-ended');
    expect(ended).toHaveLength(1);
    expect(await invoke(guide, 'Go.')).toBe('Take a coat.');
  });
});
