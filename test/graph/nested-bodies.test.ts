/** Bodies inside bodies: questions at any depth, answered in any order, give what a run without questions gives. */
import { describe, expect } from 'vitest';
import type { RunEvent } from '../../src/graph/events.js';
import { link, type NodeSpec } from '../../src/graph/link.js';
import type { Activation, NodeFunction } from '../../src/graph/node.js';
import { interrupt, type NodeEvent, settled } from '../../src/graph/node-events.js';
import type { Plan } from '../../src/graph/plan.js';
import type { JsonObject } from '../../src/json.js';
import { createRandom, hash, property, type Random } from '../support/random.js';
import { passes } from './support/containers.js';
import { predecessorsOf, randomDag, type Shape } from './support/random-graphs.js';
import { SlowNodes } from './support/slow-nodes.js';
import { readValue, spec } from './support/specs.js';
import { watch, written } from './support/watch.js';

const DEEPEST = 3;

describe('nested bodies', () => {
  property(
    'asked at random nodes and resumed in any order, give what they give without questions',
    300,
    (random, seed) => expectUndisturbed(random, seed, 'asks'),
  );

  property('asked and stopped at random moments, give what they give undisturbed', 600, (random, seed) =>
    expectUndisturbed(random, seed, 'asks and stops'),
  );
});

async function expectUndisturbed(random: Random, seed: number, disturbance: 'asks' | 'asks and stops'): Promise<void> {
  const undisturbed = await finish(random, seed, 'none');
  const disturbed = await finish(random, seed, disturbance);
  expect(disturbed.told).toEqual(undisturbed.told);
  expect(disturbed.cells).toEqual(undisturbed.cells);
}

/** Runs the plan of a seed to its end, through as many resumes as it takes. */
async function finish(random: Random, seed: number, disturbance: 'none' | 'asks' | 'asks and stops') {
  const slow = new SlowNodes();
  const plan = nestedPlan(random, seed, disturbance !== 'none', slow);
  const events: RunEvent[] = [];
  let start: Parameters<typeof watch>[1] = { input: null };
  for (let resumes = 0; resumes < 1_000; resumes += 1) {
    const abort = new AbortController();
    const watched = watch(plan, start, { seq: events.length, signal: abort.signal, concurrency: 1 + random.int(5) });
    if (disturbance === 'asks and stops' && random.chance(0.3)) {
      for (let steps = random.int(20); steps > 0; steps -= 1) slow.step(random);
      abort.abort();
    } else {
      await slow.finish(random, () => watched.isOver);
    }
    events.push(...watched.events);
    expect(watched.error).toBeUndefined();
    const last = watched.events.at(-1) as RunEvent;
    const { state, pending } = watched.outcome as NonNullable<typeof watched.outcome>;
    if (last.type === 'run-settled') {
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
      return { told: toldBy(events), cells: written(plan, state).state.cells };
    }
    if (last.type === 'run-cancelled') {
      start = { checkpoint: written(plan, state, events.length) };
      continue;
    }
    expect(last.type).toBe('run-interrupted');
    expect(pending.length).toBeGreaterThan(0);
    expect(state.root.tokens.length).toBeGreaterThan(0);
    const answered = [random.pick(pending), ...random.some(pending, 0.3)];
    const answers = Object.fromEntries(answered.map(({ token }) => [String(token), true]));
    start = { checkpoint: written(plan, state, events.length), answers };
  }
  throw new Error('The run never ends.');
}

/** What settled where with what; order and token numbers depend on the questions, this does not. */
function toldBy(events: readonly RunEvent[]): string[] {
  return events
    .filter((event) => event.type === 'node-settled')
    .map(({ within = '', node, outputs }) => `${within} ${node} ${JSON.stringify(outputs)}`)
    .sort();
}

interface Setting {
  readonly random: Random;
  readonly seed: number;
  readonly asks: boolean;
  readonly slow: SlowNodes;
}

/** The shape depends on the seed alone, so that runs with and without questions have the same one. */
function nestedPlan(random: Random, seed: number, asks: boolean, slow: SlowNodes): Plan {
  const specs: NodeSpec[] = [];
  addScope(createRandom(seed), undefined, 0, specs, { random, seed, asks, slow });
  return link(specs);
}

/** Adds the nodes of a scope and of the bodies inside; gives the id of one of them. */
function addScope(
  shape: Random,
  parent: string | undefined,
  depth: number,
  specs: NodeSpec[],
  setting: Setting,
): string {
  const prefix = parent === undefined ? '' : `${parent}_`;
  const rename = (id: string) => `${prefix}${id}`;
  const shapes = randomDag(shape, { most: depth === 0 ? 10 : 5 }).map((node) => ({
    ...node,
    id: rename(node.id),
    downstream: node.downstream.map(rename),
    next: node.next?.map(rename),
  }));
  const before = predecessorsOf(shapes);
  for (const node of shapes) {
    const sources = (before.get(node.id) as Shape[]).map(({ id }) => id);
    const isContainer = depth < DEEPEST && shape.chance(0.25);
    const asksHere = shape.chance(0.25);
    const parts = { downstream: node.downstream, parent };
    if (isContainer) {
      specs.push(spec(node.id, { ...parts, isContainer }));
      const at = specs.length - 1;
      const isParallel = shape.chance(0.5);
      const result = addScope(shape, node.id, depth + 1, specs, setting);
      const activate = passes({
        rounds: shape.int(4),
        isParallel,
        // Passes side by side that shared their values would race for them.
        isIsolated: isParallel || shape.chance(0.5),
        result: [result, 'value'],
        itemOf: (activation, round) => `${readValue(activation, 'item') ?? ''}/${round}`,
      });
      specs[at] = spec(node.id, { ...parts, isContainer, activate });
    } else {
      specs.push(spec(node.id, { ...parts, activate: leaf(node, sources, asksHere, setting) }));
    }
  }
  return shape.pick(shapes).id;
}

function leaf(
  { id, next }: Shape,
  sources: readonly string[],
  asksHere: boolean,
  { random, seed, asks, slow }: Setting,
): NodeFunction {
  const settle = (at: Activation) => {
    const seen = sources.map((source) => JSON.stringify(readValue(at, `${source}@value`)));
    const value = hash(seed, id, String(readValue(at, 'item')), ...seen);
    return settled({ value }, next === undefined ? {} : { next });
  };
  const isAnswered = ({ token, answer }: Activation) =>
    Object.hasOwn((answer ?? {}) as JsonObject, token.slice(token.indexOf('/') + 1));
  const end = (at: Activation): NodeEvent =>
    asks && asksHere && !isAnswered(at) ? interrupt({ question: id }) : settle(at);
  return random.chance(0.4) ? slow.node((at) => [end(at)]) : (at) => end(at) as ReturnType<typeof settle>;
}
