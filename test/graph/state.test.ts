/** States as JSON, and checkpoints that are refused. */
import { map, startWith } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Activation } from '../../src/graph/node.js';
import { interrupt, type NodeEvent, settled } from '../../src/graph/node-events.js';
import { restore, snapshot, stateFromJson, stateToJson } from '../../src/graph/snapshot.js';
import type { Json, JsonObject } from '../../src/json.js';
import { initialState } from './support/initial-state.js';
import { draw, planOfSpecs } from './support/specs.js';
import { lines, watch, watchToEnd, written } from './support/watch.js';

/** `s -> a -> z <- s`, where `a` asks, beside a box with one pass of its own values, whose node asks as well. */
const PLAN = planOfSpecs({
  s: { downstream: ['a', 'z'] },
  a: {
    downstream: ['z'],
    activate: ({ answer }) => (answer === undefined ? interrupt({ ask: 'a' }) : settled({ answer })),
  },
  z: {},
  box: { isContainer: true, activate: passOnce },
  x: {
    parent: 'box',
    isEntry: true,
    activate: ({ answer }) => (answer === undefined ? interrupt({ ask: 'x' }, { shown: 1 }) : { answer }),
  },
});

function passOnce(at: Activation) {
  const pass$ = at.runBody({ key: 'k', aliases: { item: [1] }, isolated: true, closing: true });
  return pass$.pipe(
    map((end): NodeEvent => (end.status === 'interrupted' ? interrupt() : settled({ done: true }))),
    startWith<NodeEvent>({ type: 'progress', nodeState: { at: 'k' }, outputs: { early: true } }),
  );
}

describe('a State', () => {
  it('is written with the ids of nodes', async () => {
    const { outcome } = await watchToEnd(PLAN);
    expect(written(PLAN, outcome!.state).state).toEqual({
      step: 1,
      nextToken: 6,
      cells: { s: { value: 's' }, box: { early: true } },
      variables: {},
      root: {
        key: '',
        tokens: [
          {
            id: 2,
            node: 'box',
            status: 'waiting',
            nodeState: { at: 'k' },
            frames: [
              {
                key: 'k',
                aliases: { item: [1] },
                isClosing: true,
                values: { cells: { s: { value: 's' }, x: { shown: 1 }, box: { early: true } }, variables: {} },
                tokens: [{ id: 5, node: 'x', status: 'waiting', payload: { ask: 'x' } }],
              },
            ],
          },
          { id: 3, node: 'a', status: 'waiting', payload: { ask: 'a' } },
          { id: 4, node: 'z', status: 'held' },
        ],
      },
      last: { token: 1, outputs: { value: 's' } },
    });
  });

  it('comes back from JSON as it was, and from its working form', async () => {
    const { outcome } = await watchToEnd(PLAN);
    const { state } = written(PLAN, outcome!.state);
    const read = stateFromJson(PLAN, state);
    expect(stateToJson(PLAN, read)).toEqual(state);
    const { frontier, root } = restore(PLAN, read);
    expect(stateToJson(PLAN, snapshot(frontier, root, read.last))).toEqual(state);
  });

  it('survives a change of order in the document', async () => {
    const drawing = 's -> a b -> z';
    const stop = { b: { activate: ({ answer }: Activation) => (answer === undefined ? interrupt({ ask: 1 }) : {}) } };
    const { outcome } = await watchToEnd(draw(drawing, stop));
    const { planHash, ...checkpoint } = written(draw(drawing, stop), outcome!.state);
    const reordered = draw(drawing, stop, ['z', 'b', 'a', 's']);
    const start = { checkpoint: { ...checkpoint, planHash: reordered.hash }, answers: 'yes' };
    expect(lines((await watchToEnd(reordered, start)).events)).toEqual([
      'run-started',
      'node-started b',
      'node-settled b',
      'node-started z',
      'node-settled z',
      'run-settled',
    ]);
  });
});

describe('a checkpoint', () => {
  it('of another graph is refused with PLAN_CHANGED', () => {
    const plan = draw('a -> b');
    const watched = watch(draw('a -> b; c'), { checkpoint: written(plan, initialState(plan)) });
    expect(watched.events).toEqual([]);
    expect(watched.error).toMatchObject({ code: 'PLAN_CHANGED', message: expect.stringContaining(plan.hash) });
  });

  const token = (parts: JsonObject): Json => ({ id: 1, node: 's', status: 'ready', ...parts });
  const root = (...tokens: Json[]): JsonObject => ({ root: { key: '', tokens } });
  it.each<{ what: string; state?: Json; parts?: JsonObject }>([
    { what: 'no state', state: null },
    { what: 'a list as its state', state: [] },
    { what: 'an empty state', state: {} },
    { what: 'a negative step', parts: { step: -1 } },
    { what: 'a step that is a fraction', parts: { step: 1.5 } },
    { what: 'cells that are no objects', parts: { cells: { s: 3 } } },
    { what: 'the cell of an unknown node', parts: { cells: { nobody: {} } } },
    { what: 'variables that are no object', parts: { variables: [] } },
    { what: 'fields that it does not know', parts: { more: true } },
    { what: 'a token without a node', parts: root({ id: 1, status: 'ready' }) },
    { what: 'a token on an unknown node', parts: root(token({ node: 'nobody' })) },
    { what: 'a token of id 0', parts: root(token({ id: 0 })) },
    { what: 'a token at work', parts: root(token({ status: 'running' })) },
    { what: 'a token that is not born yet', parts: root(token({ id: 100 })) },
    { what: 'two tokens of one id', parts: root(token({}), token({ node: 'a' })) },
    { what: 'a token of a body at the top level', parts: root(token({ node: 'x' })) },
    { what: 'a held token where nothing is joined', parts: root(token({ status: 'held' })) },
    {
      what: 'two held tokens at one join',
      parts: root(token({}), token({ id: 2, node: 'z', status: 'held' }), token({ id: 3, node: 'z', status: 'held' })),
    },
    { what: 'a pass of a node without a body', parts: root(token({ frames: [{ key: 'k', tokens: [] }] })) },
    {
      what: 'a pass with tokens of the top level',
      parts: root(token({ node: 'box', frames: [{ key: 'k', tokens: [token({ id: 2 })] }] })),
    },
    {
      what: 'two passes of one key',
      parts: root(
        token({
          node: 'box',
          frames: [
            { key: 'k', tokens: [] },
            { key: 'k', tokens: [] },
          ],
        }),
      ),
    },
    {
      what: 'a pass whose cells are no objects',
      parts: root(
        token({ node: 'box', frames: [{ key: 'k', tokens: [], values: { cells: { x: 3 }, variables: {} } }] }),
      ),
    },
  ])('with $what is refused with CHECKPOINT_INVALID', ({ state, parts }) => {
    const base = { step: 0, nextToken: 10, cells: {}, variables: {}, ...root(token({})) };
    const bad = state === undefined ? { ...base, ...parts } : state;
    const checkpoint = { ...written(PLAN, initialState(PLAN)), state: bad as JsonObject };
    const watched = watch(PLAN, { checkpoint });
    expect(watched.error).toMatchObject({ code: 'CHECKPOINT_INVALID' });
    expect(watched.events).toEqual([]);
  });

  it.each([
    { what: 'null', checkpoint: null },
    { what: 'text', checkpoint: 'checkpoint' },
    { what: 'a later version', checkpoint: { ...written(PLAN, initialState(PLAN)), version: 2 } },
  ])('that is $what is refused with CHECKPOINT_INVALID', ({ checkpoint }) => {
    const watched = watch(PLAN, { checkpoint: checkpoint as never });
    expect(watched.error).toMatchObject({ code: 'CHECKPOINT_INVALID' });
  });
});

describe('a resumed run', () => {
  it('gives answers only to those who asked, and goes on numbering where it is told to', async () => {
    const first = await watchToEnd(PLAN);
    const checkpoint = written(PLAN, first.outcome!.state, first.events.length);
    const { events, outcome } = await watchToEnd(PLAN, { checkpoint, answers: 'yes' }, { seq: checkpoint.seq });
    expect(events[0]).toMatchObject({ type: 'run-started', resumed: true, input: 'yes', seq: first.events.length + 1 });
    expect(written(PLAN, outcome!.state).state.cells).toMatchObject({ a: { answer: 'yes' }, box: { done: true } });
    expect(outcome?.status).toBe('succeeded');
  });

  it('without answers asks again', async () => {
    const first = await watchToEnd(PLAN);
    const again = await watchToEnd(PLAN, { checkpoint: written(PLAN, first.outcome!.state) });
    expect(again.outcome?.pending).toEqual(first.outcome?.pending);
    expect(again.outcome?.pending).toEqual([
      { node: 'x', within: 'box/k', token: 5, payload: { ask: 'x' } },
      { node: 'a', token: 3, payload: { ask: 'a' } },
    ]);
    expect(written(PLAN, again.outcome!.state).state).toEqual(written(PLAN, first.outcome!.state).state);
  });

  it('at a State with nothing left to do settles at once', async () => {
    const plan = draw('a');
    const done = await watchToEnd(plan);
    const again = await watchToEnd(plan, { checkpoint: written(plan, done.outcome!.state) });
    expect(lines(again.events)).toEqual(['run-started', 'run-settled']);
    expect(again.outcome?.outputs).toEqual({ value: 'a' });
  });
});
