import { describe, expect, it } from 'vitest';
import { type FlowNode, flow } from '../../marble-tests/components/flow-run.js';
import { createNode, fakeActivation, performNow } from '../../marble-tests/support/activation.js';
import { exitLoop } from '../../src/components/exit-loop.js';
import { settled } from '../../src/graph/node-events.js';
import { execute } from '../../src/graph/run.js';
import type { Json, JsonObject } from '../../src/json.js';

const EXIT: FlowNode = ['ExitLoop', {}, [], 'loop'];
const COUNTING: JsonObject = {
  loop_variables: [{ variable: 'n', input_mode: 'constant', type: 'number', value: 0 }],
  maximum_loop_count: 3,
};

/** Runs a Loop of three rounds with a body; the outputs by node, undefined for what did not run. */
async function loopWith(body: Readonly<Record<string, FlowNode>>): Promise<(node: string) => Json | undefined> {
  const plan = flow({
    begin: ['Begin', {}, ['loop']],
    loop: ['Loop', COUNTING, ['after']],
    ...body,
    after: ['Work', { value: 'after {loop@n}' }],
  });
  const { status, state } = await execute(plan, { input: {} });
  expect(status).toBe('succeeded');
  return (node) => state.cells.get(plan.byId.get(node) ?? -1);
}

describe('ExitLoop', () => {
  it.each<[string, Readonly<Record<string, FlowNode>>, string]>([
    [
      'in the first round',
      {
        item: ['LoopItem', {}, ['n'], 'loop'],
        n: ['Work', { value: 1, write: 'loop@n' }, ['exit'], 'loop'],
        exit: EXIT,
      },
      'after 1',
    ],
    ['as the first thing', { item: ['LoopItem', {}, ['exit'], 'loop'], exit: EXIT }, 'after 0'],
    [
      'before the rest of its round',
      {
        item: ['LoopItem', {}, ['exit', 'slow'], 'loop'],
        exit: EXIT,
        slow: ['Work', { ms: 1, value: 9, write: 'loop@n' }, [], 'loop'],
      },
      'after 0',
    ],
  ])('leaves the Loop %s', async (_, body, text) => {
    const outputs = await loopWith(body);
    expect(outputs('after')).toEqual({ value: text });
    expect(outputs('exit')).toEqual({});
    expect(outputs('slow')).toBeUndefined();
  });

  it('leaves only the Loop that it is in', async () => {
    const outputs = await loopWith({
      item: ['LoopItem', {}, ['inner'], 'loop'],
      inner: ['Loop', COUNTING, ['n'], 'loop'],
      one: ['LoopItem', {}, ['exit'], 'inner'],
      exit: ['ExitLoop', {}, [], 'inner'],
      n: ['Work', { value: '{loop@n}+', write: 'loop@n' }, [], 'loop'],
    });
    expect(outputs('after')).toEqual({ value: 'after 0+++' });
  });

  it('does nothing in an Iteration that is in no Loop', async () => {
    const plan = flow({
      begin: ['Begin', {}, ['each']],
      each: ['Iteration', { items_ref: 'begin@list', outputs: { seen: { ref: 'one@item' } } }, ['after']],
      one: ['IterationItem', {}, ['exit'], 'each'],
      exit: ['ExitLoop', {}, ['behind'], 'each'],
      behind: ['Work', { value: 'ran' }, [], 'each'],
      after: ['Work', { value: '{each@seen}' }],
    });
    const { state } = await execute(plan, { input: { inputs: { list: [1, 2] } } });
    const outputs = (node: string) => state.cells.get(plan.byId.get(node) ?? -1);
    expect(outputs('after')).toEqual({ value: [1, 2] });
    expect(outputs('behind')).toEqual({ value: 'ran' });
  });

  it.each([
    [['Iteration', 'Loop'], settled({}, { exit: true })],
    [['Iteration'], settled({})],
    [[], settled({})],
  ])('gives nothing within %j', (containerTypes, end) => {
    expect(performNow(createNode(exitLoop, {}, { containerTypes }), fakeActivation())).toEqual([end]);
  });
});
