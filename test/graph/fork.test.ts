/** Forks: from every point of a run another one goes on to the same end, and nothing that had settled runs again. */
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/graph/events.js';
import { forkAt, type RunHistory, waitingNodes, withChange } from '../../src/graph/fork.js';
import { readEvent } from '../../src/graph/log.js';
import type { Activation } from '../../src/graph/node.js';
import { settled } from '../../src/graph/node-events.js';
import type { Plan } from '../../src/graph/plan.js';
import type { RunOptions, Start } from '../../src/graph/run-options.js';
import type { Checkpoint } from '../../src/graph/state.js';
import type { JsonObject } from '../../src/json.js';
import { property, type Random } from '../support/random.js';
import { passes } from './support/containers.js';
import { logPlan } from './support/log-plans.js';
import { isEnd } from './support/memory-log.js';
import { SlowNodes } from './support/slow-nodes.js';
import { planOfSpecs, readValue } from './support/specs.js';
import { type Watched, watch, watchToEnd, written } from './support/watch.js';

/** A log with its first snapshot, or its last. */
class Kept {
  #checkpoint: string | undefined = undefined;
  readonly #isLast: boolean;

  constructor({ isLast = false }: { readonly isLast?: boolean } = {}) {
    this.#isLast = isLast;
  }

  #events: string[] = [];
  readonly open = {
    append: (event: RunEvent): void => {
      this.#events.push(JSON.stringify(event));
    },
    snapshot: (checkpoint: Checkpoint) => {
      if (this.#isLast) this.#checkpoint = JSON.stringify(checkpoint);
      this.#checkpoint ??= JSON.stringify(checkpoint);
    },
    flush: async () => {},
  };
  get history(): RunHistory {
    const checkpoint = JSON.parse(this.#checkpoint as string) as Checkpoint;
    const events = this.#events.map(readEvent).filter(({ seq }) => seq > checkpoint.seq);
    return { checkpoint, events };
  }
}

const KEEPS_ALL: RunOptions = { durability: 'async' };

/** A plan, its slow nodes, and who was activated. */
function stage(random: Random, seed: number) {
  const slow = new SlowNodes();
  const activated: Activation[] = [];
  const stage = {
    slow,
    activated,
    /** Given every activation; may throw. */
    onActivated: (_: Activation): void => {},
    plan: undefined as unknown as Plan,
  };
  stage.plan = logPlan({
    seed,
    random,
    slow,
    whenActivated: (at) => {
      activated.push(at);
      stage.onActivated(at);
    },
  });
  return stage;
}

async function finish(
  { plan, slow }: ReturnType<typeof stage>,
  start: Start,
  random: Random,
  options: RunOptions = {},
) {
  const kept = new Kept();
  const watched = watch(plan, start, { ...KEEPS_ALL, log: kept.open, concurrency: 1 + random.int(5), ...options });
  for (let turns = 0; !watched.isOver; turns += 1) {
    if (turns === 100_000) throw new Error('The run is stuck.');
    if (!slow.step(random)) await setImmediate();
  }
  expect(watched.error).toBeUndefined();
  return { watched, history: kept.history };
}

describe('a fork', () => {
  property('at any event goes on to the same end, and nothing settled runs again', 20, async (random, seed) => {
    const staged = stage(random, seed);
    let start: Start = { input: null };
    for (let turns = 0; turns < 20; turns += 1) {
      const { watched, history } = await finish(staged, start, random);
      const lastSeq = watched.events.at(-1)?.seq ?? 0;
      const every = Math.max(1, Math.floor(lastSeq / 40));
      for (let at = history.checkpoint.seq; at <= lastSeq; at += every) {
        staged.activated.length = 0;
        const forked = await finish(
          staged,
          { checkpoint: json(forkAt(staged.plan, history, at)), recovery: { starts: new Map() } },
          random,
        );
        expect(endOf(staged.plan, forked.watched), `fork at ${at}`).toEqual(endOf(staged.plan, watched));
        expect(againOf(history, at, staged.activated), `fork at ${at}`).toEqual([]);
      }
      const { outcome } = watched;
      if (outcome?.status === 'succeeded') return;
      start = { checkpoint: written(staged.plan, outcome?.state as never), answers: answersTo(watched) };
    }
    throw new Error('The run never ends.');
  });

  property('of a fork gives the same end too', 30, async (random, seed) => {
    const staged = stage(random, seed);
    const { watched, history } = await finish(staged, { input: null }, random);
    let checkpoint = json(forkAt(staged.plan, history, random.int((watched.events.at(-1)?.seq ?? 0) + 1)));
    for (let depth = 0; depth < 3; depth += 1) {
      const forked = await finish(staged, { checkpoint, recovery: { starts: new Map() } }, random);
      expect(endOf(staged.plan, forked.watched)).toEqual(endOf(staged.plan, watched));
      const lastSeq = forked.watched.events.at(-1)?.seq ?? 0;
      checkpoint = json(forkAt(staged.plan, forked.history, random.int(lastSeq + 1)));
    }
  });

  property('at the end of a failed run runs what failed, and nothing that had settled', 150, async (random, seed) => {
    const staged = stage(random, seed);
    const undisturbed = await finish(staged, { input: null }, random);
    const handled = new Set(staged.plan.nodes.flatMap(({ id, onError }) => (onError === undefined ? [] : [id])));
    const candidates = staged.activated.filter(({ node }) => !handled.has(node)).length;
    if (candidates === 0) return;
    let left = random.int(candidates);
    staged.onActivated = ({ node }) => {
      if (handled.has(node)) return;
      left -= 1;
      if (left === -1) throw new Error('Lost.');
    };
    const { watched, history } = await finish(staged, { input: null }, random);
    expect(watched.outcome?.status).toBe(left < 0 ? 'failed' : undisturbed.watched.outcome?.status);
    staged.activated.length = 0;
    staged.onActivated = () => {};
    const resumed = await finish(
      staged,
      { checkpoint: json(forkAt(staged.plan, history)), recovery: { starts: new Map() } },
      random,
    );
    expect(endOf(staged.plan, resumed.watched)).toEqual(endOf(staged.plan, undisturbed.watched));
    expect(againOf(history, Number.POSITIVE_INFINITY, staged.activated)).toEqual([]);
  });

  property('at the end of a cancelled run goes on where it was', 100, async (random, seed) => {
    const staged = stage(random, seed);
    const undisturbed = await finish(staged, { input: null }, random);
    const cancel = new AbortController();
    let left = random.int(staged.activated.length + 1);
    staged.onActivated = () => {
      left -= 1;
      if (left < 0) cancel.abort();
    };
    const { history } = await finish(staged, { input: null }, random, { signal: cancel.signal });
    staged.activated.length = 0;
    staged.onActivated = () => {};
    const resumed = await finish(
      staged,
      { checkpoint: json(forkAt(staged.plan, history)), recovery: { starts: new Map() } },
      random,
    );
    expect(endOf(staged.plan, resumed.watched)).toEqual(endOf(staged.plan, undisturbed.watched));
    expect(againOf(history, Number.POSITIVE_INFINITY, staged.activated)).toEqual([]);
  });

  it('in a body runs only the node that failed, not the passes before nor the nodes before it', async () => {
    const ran: string[] = [];
    let fails = true;
    const note = (at: Activation) => {
      ran.push(`${at.node}${readValue(at, 'index')}`);
      if (at.node === 'b' && readValue(at, 'index') === 1 && fails) throw new Error('no');
      return { value: at.node };
    };
    const container = {
      rounds: 3,
      isParallel: false,
      isIsolated: false,
      result: ['b', 'value'],
      itemOf: () => null,
    } as const;
    const plan = planOfSpecs({
      s: { downstream: ['box'] },
      box: { isContainer: true, activate: passes(container) },
      a: { parent: 'box', downstream: ['b'], activate: note },
      b: { parent: 'box', activate: note },
    });
    const kept = new Kept();
    const failed = await watchToEnd(plan, { input: null }, { ...KEEPS_ALL, log: kept.open });
    expect(failed.outcome?.status).toBe('failed');
    expect(ran.splice(0)).toEqual(['a0', 'b0', 'a1', 'b1']);
    fails = false;
    const resumed = await watchToEnd(plan, {
      checkpoint: json(forkAt(plan, kept.history)),
      recovery: { starts: new Map() },
    });
    expect(resumed.outcome?.status).toBe('succeeded');
    expect(ran).toEqual(['b1', 'a2', 'b2']);
  });

  it('says how far back it reaches', async () => {
    const plan = planOfSpecs({
      a: { downstream: ['b'], activate: () => ({ text: 'x'.repeat(200_000) }) },
      b: { downstream: ['c'], activate: () => ({ text: 'y'.repeat(300_000) }) },
      c: {},
    });
    const kept = new Kept({ isLast: true });
    await watchToEnd(plan, { input: null }, { durability: 'sync', log: kept.open });
    const start = kept.history.checkpoint.seq;
    expect(start).toBeGreaterThan(0);
    expect(() => forkAt(plan, kept.history, start - 1)).toThrow(
      expect.objectContaining({
        code: 'HISTORY_GONE',
        message: expect.stringContaining(`nothing is stored before event ${start}`),
      }),
    );
    const forked = await watchToEnd(plan, {
      checkpoint: json(forkAt(plan, kept.history, start)),
      recovery: { starts: new Map() },
    });
    expect(forked.outcome?.status).toBe('succeeded');
  });

  it('belongs to the graph that it was made with', async () => {
    const kept = new Kept();
    await watchToEnd(planOfSpecs({ a: {} }), { input: null }, { ...KEEPS_ALL, log: kept.open });
    expect(() => forkAt(planOfSpecs({ a: {}, b: {} }), kept.history)).toThrow(
      expect.objectContaining({ code: 'PLAN_CHANGED' }),
    );
  });

  it('follows changed inputs, variables and outputs', async () => {
    const plan = planOfSpecs({
      a: { downstream: ['b'], activate: (at) => ({ value: at.input }) },
      b: {
        activate: (at) => settled({ value: [readValue(at, 'a@value'), readValue(at, 'env.word')] }),
      },
    });
    const kept = new Kept();
    const first = await watchToEnd(
      plan,
      { input: 'one', variables: { 'env.word': 'red' } },
      { ...KEEPS_ALL, log: kept.open },
    );
    const settledA = first.events.find((event) => event.type === 'node-settled' && event.node === 'a')?.seq ?? 0;
    const play = async (at: number, change: Parameters<typeof withChange>[2]) => {
      const checkpoint = json(withChange(plan, forkAt(plan, kept.history, at), change));
      return (await watchToEnd(plan, { checkpoint, recovery: { starts: new Map() } })).outcome?.outputs;
    };
    expect(await play(0, { input: 'two' })).toEqual({ value: ['two', 'red'] });
    expect(await play(settledA, { input: 'two' })).toEqual({ value: ['one', 'red'] });
    expect(await play(settledA, { variables: { 'env.word': 'blue' } })).toEqual({ value: ['one', 'blue'] });
    expect(await play(settledA, { outputs: { a: { value: 'three' } } })).toEqual({ value: ['three', 'red'] });
    expect(() => withChange(plan, forkAt(plan, kept.history, 0), { outputs: { a: {} } })).toThrow(
      expect.objectContaining({ code: 'BAD_REQUEST', message: expect.stringContaining('no outputs yet') }),
    );
    expect(() => withChange(plan, forkAt(plan, kept.history, 0), { outputs: { z: {} } })).toThrow(/no such node/);
  });

  it('of a resumed run still has the answers, also those for bodies that were not opened again yet', async () => {
    const ask = (at: Activation) =>
      at.answer === undefined
        ? ({ type: 'interrupt', payload: { ask: at.node } } as const)
        : settled({ value: at.answer as JsonObject });
    const container = {
      rounds: 2,
      isParallel: true,
      isIsolated: true,
      result: ['f', 'value'],
      itemOf: () => null,
    } as const;
    const plan = planOfSpecs({
      box: { isContainer: true, activate: passes(container) },
      f: { parent: 'box', activate: ask },
    });
    const asked = await watchToEnd(plan);
    expect(asked.outcome?.status).toBe('waiting');
    const waiting = written(plan, asked.outcome?.state as never);
    expect(waitingNodes(plan, waiting)).toEqual(['f', 'f']);
    const kept = new Kept();
    const answered = await watchToEnd(plan, { checkpoint: waiting, answers: 7 }, { ...KEEPS_ALL, log: kept.open });
    expect(answered.outcome?.state.cells.get(0)).toEqual({ value: [7, 7] });
    const forked = await watchToEnd(plan, {
      checkpoint: json(forkAt(plan, kept.history, 0)),
      recovery: { starts: new Map() },
    });
    expect(forked.outcome?.status).toBe('succeeded');
    expect(forked.outcome?.state.cells.get(0)).toEqual({ value: [7, 7] });
  });
});

function json(checkpoint: Checkpoint): Checkpoint {
  return JSON.parse(JSON.stringify(checkpoint)) as Checkpoint;
}

/** How a run ended, but for the numbers of its tokens. */
function endOf(plan: Plan, { outcome }: Watched) {
  if (outcome === undefined) return undefined;
  const { cells, variables } = written(plan, outcome.state).state;
  const pending = outcome.pending.map(({ node, within, payload }) => JSON.stringify({ node, within, payload })).sort();
  return { status: outcome.status, error: outcome.error?.message, cells, variables, pending };
}

/** Tokens that had settled by then and were activated all the same. */
function againOf({ events }: RunHistory, at: number, activated: readonly Activation[]): string[] {
  const settledBefore = new Set(
    events.flatMap((event) => (event.seq <= at && isEnd(event) && 'token' in event ? [`r/${event.token}`] : [])),
  );
  return activated.flatMap(({ token, node }) => (settledBefore.has(token) ? [`${node} as ${token}`] : []));
}

function answersTo({ outcome }: Watched): JsonObject {
  return Object.fromEntries((outcome?.pending ?? []).map(({ token }) => [String(token), true]));
}
