import { lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { type FlowNode, flow } from '../../marble-tests/components/flow-run.js';
import { checkpointOf, execute, run } from '../../src/graph/run.js';
import type { RunOutcome } from '../../src/graph/run-options.js';
import type { Checkpoint } from '../../src/graph/state.js';
import type { Json, JsonObject } from '../../src/json.js';

const FORM = { tips: 'about {item}', inputs: { word: { type: 'line', name: 'Word' } } };
const INPUT = { inputs: { list: ['x', 'y', 'z'] } };

/** Runs to the end, giving each pause the next answers; every checkpoint is stored and read back. */
async function converse(
  nodes: Readonly<Record<string, FlowNode>>,
  answers: readonly JsonObject[],
): Promise<readonly RunOutcome[]> {
  const plan = flow(nodes);
  const outcomes = [await execute(plan, { input: INPUT })];
  for (const [index, inputs] of answers.entries()) {
    const { state } = outcomes.at(-1) as RunOutcome;
    const stored = JSON.stringify(checkpointOf(plan, state, `run-${index}`, 0, 0));
    outcomes.push(await execute(plan, { checkpoint: JSON.parse(stored) as Checkpoint, answers: { inputs } }));
  }
  return outcomes;
}

const outputsOf = ({ plan, state }: RunOutcome, node: string): Json | undefined =>
  state.cells.get(plan.byId.get(node) ?? -1);

/** A form for each item of a list, and a node that joins item and answer. */
const asking = (container: string, params: JsonObject): Readonly<Record<string, FlowNode>> => ({
  begin: ['Begin', {}, ['each']],
  each: [container, { items_ref: 'begin@list', outputs: { words: { ref: 'join@value' } }, ...params }, ['end']],
  one: ['IterationItem', {}, ['ask'], 'each'],
  ask: ['UserFillUp', FORM, ['join'], 'each'],
  join: ['Work', { value: '{one@item}={ask@word}' }, [], 'each'],
  end: ['Work', { value: '{each@words}' }],
});

describe('containers in runs', () => {
  it('an Iteration asks for one item after the other', async () => {
    const outcomes = await converse(asking('Iteration', {}), [{ word: '1' }, { word: '2' }, { word: '3' }]);

    expect(outcomes.map(({ status }) => status)).toEqual(['waiting', 'waiting', 'waiting', 'succeeded']);
    expect(outcomes.map(({ pending }) => pending[0]?.payload.tips)).toEqual([
      'about x',
      'about y',
      'about z',
      undefined,
    ]);
    expect(outcomes.map((outcome) => outputsOf(outcome, 'each'))).toEqual([
      { words: [] },
      { words: ['x=1'] },
      { words: ['x=1', 'y=2'] },
      { words: ['x=1', 'y=2', 'z=3'] },
    ]);
    expect(outcomes.at(-1)?.outputs).toEqual({ value: ['x=1', 'y=2', 'z=3'] });
  });

  it.each(['Parallel', 'Iteration'])('a %s asks for all items at once when it may', async (container) => {
    const outcomes = await converse(asking(container, { max_concurrency: 2 }), [{ word: '1' }]);

    expect(outcomes.map(({ status }) => status)).toEqual(['waiting', 'succeeded']);
    expect(outcomes[0]?.pending.map(({ payload }) => payload.tips)).toEqual(['about x', 'about y', 'about z']);
    expect(outcomes[1]?.outputs).toEqual({ value: ['x=1', 'y=1', 'z=1'] });
  });

  it('nested Iterations forget what an outer round collected', async () => {
    const plan = flow({
      begin: ['Begin', {}, ['rows']],
      rows: ['Iteration', { items_ref: 'begin@rows', outputs: { all: { ref: 'cells@seen' } } }, ['end']],
      row: ['IterationItem', {}, ['cells'], 'rows'],
      cells: ['Iteration', { items_ref: 'row@item', outputs: { seen: { ref: 'shout@value' } } }, [], 'rows'],
      cell: ['IterationItem', {}, ['shout'], 'cells'],
      shout: ['Work', { value: '{item}!{index}' }, [], 'cells'],
      end: ['Work', { value: '{rows@all}' }],
    });

    const { outputs } = await execute(plan, { input: { inputs: { rows: [['a', 'b'], [], ['c']] } } });

    expect(outputs).toEqual({ value: [['a!0', 'b!1'], [], ['c!0']] });
  });

  it('a Loop inside an Iteration starts anew for every item', async () => {
    const plan = flow({
      begin: ['Begin', {}, ['each']],
      each: ['Iteration', { items_ref: 'begin@list', outputs: { seen: { ref: 'repeat@s' } } }, ['end']],
      one: ['IterationItem', {}, ['repeat'], 'each'],
      repeat: [
        'Loop',
        {
          loop_variables: [{ variable: 's', input_mode: 'constant', value: '', type: 'string' }],
          maximum_loop_count: 2,
        },
        [],
        'each',
      ],
      item: ['LoopItem', {}, ['add'], 'repeat'],
      add: ['Work', { value: '{repeat@s}{one@item}', write: 'repeat@s' }, [], 'repeat'],
      end: ['Work', { value: '{each@seen}' }],
    });

    expect((await execute(plan, { input: INPUT })).outputs).toEqual({ value: ['xx', 'yy', 'zz'] });
  });

  it.each([0, -1, undefined])(
    'a Loop with the maximum %s inside an Iteration runs no body, for any item',
    async (maximum) => {
      const plan = flow({
        begin: ['Begin', {}, ['each']],
        each: ['Iteration', { items_ref: 'begin@list', outputs: { seen: { ref: 'after@value' } } }, ['end']],
        one: ['IterationItem', {}, ['repeat'], 'each'],
        repeat: [
          'Loop',
          {
            loop_variables: [{ variable: 's', input_mode: 'constant', value: 'start', type: 'string' }],
            ...(maximum === undefined ? {} : { maximum_loop_count: maximum }),
          },
          ['after'],
          'each',
        ],
        item: ['LoopItem', {}, ['exit'], 'repeat'],
        exit: ['ExitLoop', {}, [], 'repeat'],
        after: ['Work', { value: '{one@item} {repeat@s}' }, [], 'each'],
        end: ['Work', { value: '{each@seen}' }],
      });

      const outcome = await execute(plan, { input: INPUT });
      expect(outcome.status).toBe('succeeded');
      expect(outcome.outputs).toEqual({ value: ['x start', 'y start', 'z start'] });
      expect(outputsOf(outcome, 'exit')).toBeUndefined();
    },
  );

  it('an Iteration inside a Loop with the maximum 0 does not run, and its outputs read as empty', async () => {
    const plan = flow({
      begin: ['Begin', {}, ['repeat']],
      repeat: ['Loop', { maximum_loop_count: 0 }, ['end']],
      item: ['LoopItem', {}, ['each'], 'repeat'],
      each: ['Iteration', { items_ref: 'begin@list', outputs: { seen: { ref: 'one@item' } } }, [], 'repeat'],
      one: ['IterationItem', {}, [], 'each'],
      end: ['Work', { value: 'seen:{each@seen}' }],
    });

    expect((await execute(plan, { input: INPUT })).outputs).toEqual({ value: 'seen:' });
  });

  it.each<[string, JsonObject, JsonObject, string]>([
    ['nothing', {}, {}, '[]'],
    ['one of two fields', { word: 'w' }, { word: 'w' }, '[w]'],
    ['another field', { other: 'x' }, { other: 'x' }, '[]'],
  ])('a form in a Loop settles with %s in every round, and asks again in the next one', async (_, given, own, text) => {
    const fields = { word: { type: 'line', name: 'Word' }, more: { type: 'line', name: 'More' } };
    const nodes: Readonly<Record<string, FlowNode>> = {
      begin: ['Begin', {}, ['repeat']],
      repeat: ['Loop', { maximum_loop_count: 2 }, ['end']],
      item: ['LoopItem', {}, ['ask'], 'repeat'],
      ask: ['UserFillUp', { tips: 'T', inputs: fields }, ['read'], 'repeat'],
      read: ['Work', { value: '[{ask@word}{ask@more}]' }, [], 'repeat'],
      end: ['Work', { value: '{read@value}' }],
    };
    const outcomes = await converse(nodes, [{ word: 'first', more: 'one' }, given]);

    expect(outcomes.map(({ status }) => status)).toEqual(['waiting', 'waiting', 'succeeded']);
    expect(outcomes[1]?.pending[0]?.payload.inputs).toEqual({
      word: { ...fields.word, value: null },
      more: { ...fields.more, value: null },
    });
    expect(outputsOf(outcomes[2] as RunOutcome, 'ask')).toEqual({ tips: 'T', ...own });
    expect(outcomes[2]?.outputs).toEqual({ value: text });
  });

  it('two forms at once both settle with the answer, whichever fields it has', async () => {
    const nodes: Readonly<Record<string, FlowNode>> = {
      begin: ['Begin', {}, ['a', 'b']],
      a: ['UserFillUp', { inputs: { x: { type: 'line' } } }, ['end']],
      b: ['UserFillUp', { inputs: { y: { type: 'line' } } }, ['end']],
      end: ['Work', { value: '{a@x}+{b@y}' }],
    };
    const outcomes = await converse(nodes, [{ x: '1' }]);

    expect(outcomes.map(({ status }) => status)).toEqual(['waiting', 'succeeded']);
    expect(outcomes[1]?.outputs).toEqual({ value: '1+' });
  });

  it('what a round of a Parallel writes is not seen outside of it', async () => {
    const plan = flow({
      begin: ['Begin', {}, ['each']],
      each: [
        'Parallel',
        { items_ref: 'begin@list', outputs: { seen: { ref: 'env.last' } }, max_concurrency: 3 },
        ['end'],
      ],
      write: ['Work', { value: '{item}', write: 'env.last' }, [], 'each'],
      end: ['Work', { value: '{each@seen} {env.last}' }],
    });

    expect((await execute(plan, { input: INPUT })).outputs).toEqual({ value: '["x", "y", "z"] ' });
  });

  it('a failed node of a body fails the run once', async () => {
    const plan = flow({
      begin: ['Begin', {}, ['each']],
      each: ['Iteration', { items_ref: 'begin@list' }],
      one: ['IterationItem', {}, ['bad'], 'each'],
      bad: ['Work', { fails: 'broken' }, [], 'each'],
    });

    const events = await lastValueFrom(run(plan, { input: INPUT }).pipe(toArray()));

    expect(events.filter(({ type }) => type === 'node-failed').map((event) => 'node' in event && event.node)).toEqual([
      'bad',
    ]);
    expect(events.at(-1)).toMatchObject({ type: 'run-failed', error: { message: 'broken', node: 'bad' } });
  });

  it('20,000 synchronous rounds of a Loop keep the stack flat', async () => {
    const plan = flow({
      begin: ['Begin', {}, ['repeat']],
      repeat: ['Loop', { maximum_loop_count: 20_000 }],
      item: ['LoopItem', {}, [], 'repeat'],
    });

    expect((await execute(plan, { input: {} })).status).toBe('succeeded');
  });
});
