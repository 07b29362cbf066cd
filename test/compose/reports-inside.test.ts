/** What a step says, uses and calls inside another one (`within`) is in the events of the run. */
import { firstValueFrom, toArray } from 'rxjs';
import { expect, it } from 'vitest';
import { z } from 'zod';
import {
  type AnyStepLike,
  chain,
  chatModel,
  createScriptedModel,
  defineTool,
  invoke,
  map,
  observe,
  type RunEvent,
  run,
  type StepActivation,
  type StepRunOptions,
  step,
  toolsNode,
} from '../../src/index.js';

const model = createScriptedModel({ default: { reply: 'Hello Ada.' } });
const asked = [{ role: 'user' as const, content: 'Who?' }];
const eventsOf = (program: AnyStepLike, input: unknown, options?: StepRunOptions): Promise<RunEvent[]> =>
  firstValueFrom(run(program, { input }, options).pipe(toArray()));
const ofType = <T extends RunEvent['type']>(events: readonly RunEvent[], type: T) =>
  events.filter((event): event is Extract<RunEvent, { type: T }> => event.type === type);

const say = step('say', (n: number, at: StepActivation) => {
  at.emit('said', { n });
  return n;
});
const outer = step('outer', (n: number, at: StepActivation) => invoke(chain(say, say), n, { within: at }));

it('says what steps inside say, also two levels down', async () => {
  const outermost = step('outermost', (n: number, at: StepActivation) => invoke(outer, n, { within: at }));
  const notices = ofType(await eventsOf(map(outermost), [1]), 'node-notice');
  expect(notices.map(({ node, name, data }) => [node, name, data])).toEqual([
    ['map/outermost', 'said', { n: 1 }],
    ['map/outermost', 'said', { n: 1 }],
  ]);
});

it('counts the tokens of models inside, and has their calls with ids of their own', async () => {
  const single = await eventsOf(chatModel(model), asked);
  const twice = step('twice', async (_: unknown, at: StepActivation) => {
    const answers = [0, 1].map(() => invoke(chatModel(model), asked, { within: at }));
    return (await Promise.all(answers)).length;
  });
  const events = await eventsOf(twice, undefined);
  const used = ofType(events, 'run-settled')[0]?.usage.totalTokens;
  expect(used).toBeGreaterThan(0);
  expect(used).toBe(2 * (ofType(single, 'run-settled')[0]?.usage.totalTokens ?? 0));
  const calls = ofType(events, 'node-settled')[0]?.calls ?? [];
  expect(calls.map(({ kind, status }) => [kind, status])).toEqual([
    ['model', 'done'],
    ['model', 'done'],
  ]);
});

it('has the calls of a model inside a tool as parts of the call of the tool', async () => {
  const think = defineTool({
    name: 'think',
    description: 'Thinks.',
    input: z.object({}),
    run: async (_, call) => (await invoke(chatModel(model), asked, { within: call })).content,
  });
  const toolCalls = ['a', 'b'].map((id) => ({ id, name: 'think', arguments: '{}' }));
  const events = await eventsOf(toolsNode({ tools: [think] }), { role: 'assistant', content: '', toolCalls });
  const calls = ofType(events, 'node-settled')[0]?.calls ?? [];
  expect(calls.map(({ id, kind, parent }) => [id, kind, parent])).toEqual([
    [1, 'tool', undefined],
    [2, 'model', 1],
    [3, 'tool', undefined],
    [4, 'model', 3],
  ]);
});

it('warns of an observer that fails inside, as an event', async () => {
  const broken = observe.at('outer/chain/say', {
    end: () => {
      throw new Error('mine');
    },
  });
  const notices = ofType(await eventsOf(outer, 1, { observe: [broken] }), 'node-notice');
  expect(notices.filter(({ name }) => name === 'warning').map(({ node, data }) => [node, data])).toEqual([
    ['outer', { message: 'An observer of "outer/chain/say" failed in "end": mine. The run goes on without it.' }],
  ]);
});
