/**
 * Random plans with everything that a journal records: joins, choices, bodies in bodies, live text, questions, failures, items
 * gathered one by one, writes.
 *
 * What a node settles with depends on the shape alone, never on the order of things, unless `isOrderly` is given up.
 */
import { concat, from, map, type Observable, reduce, throwError } from 'rxjs';
import { EngineError } from '../../../src/errors.js';
import { link, type NodeSpec } from '../../../src/graph/link.js';
import type { Activation, NodeFunction } from '../../../src/graph/node.js';
import { delta, interrupt, type NodeEvent, type Settled, settled, type Write } from '../../../src/graph/node-events.js';
import type { Plan } from '../../../src/graph/plan.js';
import type { JsonObject } from '../../../src/json.js';
import { createRandom, hash, type Random } from '../../support/random.js';
import { passes } from './containers.js';
import { predecessorsOf, randomDag, type Shape } from './random-graphs.js';
import type { SlowNodes } from './slow-nodes.js';
import { readValue, type SpecParts, spec } from './specs.js';
import { randomCycles } from './token-game.js';

const DEEPEST = 2;

/** Visits after which a node of a cycle leads nowhere any more. */
const MOST_VISITS = 4;

/** A node whose work may be taken step by step. */
type StepwiseNode = (at: Activation) => Observable<NodeEvent>;

export interface JournalPlanOptions {
  readonly seed: number;
  readonly slow: SlowNodes;
  /** Which nodes take time; the shape of the plan does not depend on it. */
  readonly random: Random;
  /** Nodes may also leave their body and write to what others write to: then the order of things tells. @default true */
  readonly isOrderly?: boolean;
  /** Hears of every activation. */
  readonly whenActivated?: (at: Activation) => void;
}

export function logPlan(options: JournalPlanOptions): Plan {
  const specs: NodeSpec[] = [];
  addScope(createRandom(options.seed), undefined, 0, specs, options);
  return link(specs, { variables: { 'env.clock': 0 } });
}

/** A graph with cycles whose nodes go where chance takes them, until each of them has run a few times. */
export function cyclicPlan({ seed, random, slow }: JournalPlanOptions): Plan {
  const shape = createRandom(seed);
  const { specs } = randomCycles(shape, (id) => ({
    streams: shape.chance(0.3) ? ['content'] : [],
    consumes: shape.chance(0.3) ? [`n${shape.int(8)}`] : [],
    ...(shape.chance(0.15)
      ? { onError: { method: 'continue-at', outputs: {}, targets: [`n${shape.int(8)}`, id] } }
      : {}),
  }));
  const wandering = specs.map((node): NodeSpec => {
    const targets = [...node.downstream, ...node.targets];
    const steps = (at: Activation): NodeEvent[] => wander(seed, node, targets, at);
    const slowly = slow.node(steps) as StepwiseNode;
    const isSlow = random.chance(0.5);
    return { ...node, create: () => (at) => (isSlow ? slowly(at) : from(steps(at))) };
  });
  return link(wandering, { variables: { 'env.clock': 0 } });
}

function wander(seed: number, { id, onError }: NodeSpec, targets: readonly string[], at: Activation): NodeEvent[] {
  const clock = readValue(at, 'env.clock') as number;
  const visits = ((readValue(at, `${id}@visits`) as number | null) ?? 0) + 1;
  const chance = hash(seed, id, visits, clock);
  // By its token, which is another one every time: a node that fails leaves nothing else behind to tell the visits by.
  if (onError !== undefined && clock < 30 && hash(seed, at.token) % 5 === 0) throw new Error('Lost the way.');
  if (chance % 4 === 0 && !isAnswered(at)) return [delta('content', 'Where to? '), interrupt({ question: id })];
  const next = visits < MOST_VISITS && clock < 60 ? targets.filter((_, index) => hash(chance, index) % 5 < 3) : [];
  const writes: Write[] = [{ to: { kind: 'variable', key: 'env.clock' }, value: clock + 1 }];
  const outcome = settled(
    { visits, content: 'On. ' },
    { writes, ...(chance % 3 === 0 && next.length > 0 ? {} : { next }) },
  );
  return [{ type: 'progress', nodeState: visits }, delta('content', 'On. '), outcome];
}

/** Adds the nodes of a scope and of the bodies inside; gives the id of one of them. */
function addScope(
  shape: Random,
  parent: string | undefined,
  depth: number,
  specs: NodeSpec[],
  options: JournalPlanOptions,
): string {
  const rename = (id: string) => (parent === undefined ? id : `${parent}_${id}`);
  const shapes = randomDag(shape, { most: depth === 0 ? 10 : 4 }).map((node) => ({
    ...node,
    id: rename(node.id),
    downstream: node.downstream.map(rename),
    next: node.next?.map(rename),
  }));
  const before = predecessorsOf(shapes);
  const writers = new Set(shapes.filter(() => shape.chance(0.3)).map(({ id }) => id));
  for (const node of shapes) {
    const sources = (before.get(node.id) as Shape[]).map(({ id }) => id);
    const parts = writers.has(node.id)
      ? writer(shape, node, sources, options)
      : depth < DEEPEST && shape.chance(0.2)
        ? container(shape, node.id, depth, specs, options)
        : leaf(shape, node, sources, writers, options);
    const { activate = () => ({}) } = parts;
    const observed: NodeFunction = (at) => {
      options.whenActivated?.(at);
      return activate(at);
    };
    specs.push(spec(node.id, { ...parts, downstream: node.downstream, parent, activate: observed }));
  }
  return shape.pick(shapes).id;
}

function container(
  shape: Random,
  id: string,
  depth: number,
  specs: NodeSpec[],
  options: JournalPlanOptions,
): SpecParts {
  const isParallel = shape.chance(0.5);
  const isIsolated = isParallel || shape.chance(0.5);
  const rounds = shape.int(4);
  const result = addScope(shape, id, depth + 1, specs, options);
  const itemOf = (at: Activation, round: number) => `${readValue(at, 'item') ?? ''}/${round}`;
  return { isContainer: true, activate: passes({ rounds, isParallel, isIsolated, result: [result, 'value'], itemOf }) };
}

/** Says its text in pieces. Some break off and are tried again, some ask first. */
function writer(
  shape: Random,
  { id }: Shape,
  sources: readonly string[],
  { seed, slow, random }: JournalPlanOptions,
): SpecParts {
  const pieces = Array.from({ length: shape.int(4) }, (_, at) => `${id}.${at} `);
  const breaksOff = shape.chance(0.2);
  const asks = shape.chance(0.2);
  const isSlow = random.chance(0.5);
  const said = pieces.map((text) => delta('content', text));
  const steps = (at: Activation): NodeEvent[] => {
    if (asks && !isAnswered(at)) return [...said.slice(1), interrupt({ question: id })];
    return [...said, settled({ of: id, value: digest(seed, id, at, sources), content: pieces.join('') })];
  };
  const slowly = slow.node(steps) as StepwiseNode;
  return {
    streams: ['content'],
    retry: { attempts: 2, delayMs: 0 },
    activate: (at) => {
      if (breaksOff && at.attempt === 1) return concat(from(said.slice(0, 1)), throwError(busy));
      return isSlow ? slowly(at) : from(steps(at));
    },
  };
}

function leaf(
  shape: Random,
  node: Shape,
  sources: readonly string[],
  writers: ReadonlySet<string>,
  options: JournalPlanOptions,
): SpecParts {
  const read = sources.filter((source) => writers.has(source) && shape.chance(0.6));
  if (read.length > 0) return { consumes: read, activate: reader(node, sources, read, options.seed) };
  const kind = shape.pick([
    'plain',
    'plain',
    'plain',
    'asks',
    'gathers',
    'fails',
    'gives up',
    'skipped',
    'disorderly',
  ] as const);
  const activate = worker(kind, node, sources, options);
  const onError = (method: 'default' | 'continue-at') => ({
    method,
    outputs: { of: node.id, value: 1 },
    targets: node.downstream,
  });
  if (kind === 'fails') return { activate, onError: onError('default') };
  if (kind === 'gives up')
    return { activate, onError: onError(node.downstream.length > 0 ? 'continue-at' : 'default') };
  // Nobody comes to the node itself before it has run.
  return kind === 'skipped' && shape.chance(0.5)
    ? { activate, needs: [shape.pick(sources.length > 0 ? sources : [node.id])] }
    : { activate };
}

function worker(
  kind: string,
  { id, next }: Shape,
  sources: readonly string[],
  { seed, slow, random, isOrderly = true }: JournalPlanOptions,
): NodeFunction {
  const settle = (at: Activation): Settled => {
    const outputs = { of: id, value: digest(seed, id, at, sources) };
    const isLoose = kind === 'disorderly' && !isOrderly;
    const clock = isLoose ? hash(seed, id, readValue(at, 'env.clock') as number) : 0;
    return settled(outputs, {
      ...(next === undefined ? {} : { next }),
      writes: [
        { to: { kind: 'variable', key: `env.${id}` }, value: outputs.value },
        ...(isLoose ? [{ to: { kind: 'variable', key: 'env.clock' } as const, value: clock }] : []),
      ],
      ...(isLoose && clock % 3 === 0 ? { exit: true } : {}),
    });
  };
  const steps = (at: Activation): NodeEvent[] => {
    if (kind === 'asks' && !isAnswered(at)) return [interrupt({ question: id }, { of: id, value: 0 })];
    return kind === 'gathers' ? [...gather(at), settle(at)] : [settle(at)];
  };
  const slowly = slow.node(steps) as StepwiseNode;
  const isSlow = random.chance(0.4);
  return (at) => {
    if (kind === 'fails' || kind === 'gives up') throw new Error('no');
    if (kind !== 'gathers') return isSlow ? slowly(at) : (steps(at)[0] as Settled);
    const withItems = (event: NodeEvent): NodeEvent =>
      event.type === 'settled' ? { ...event, outputs: { ...event.outputs, items: at.outputs.items ?? [] } } : event;
    return (isSlow ? slowly(at) : from(steps(at))).pipe(map(withItems));
  };
}

/** Five items, each kept together with how many there are. */
function gather({ nodeState }: Activation): NodeEvent[] {
  const done = typeof nodeState === 'number' ? nodeState : -1;
  return Array.from({ length: 5 - done }, (_, at): NodeEvent => {
    const count = done + 1 + at;
    if (count === 0) return { type: 'progress', nodeState: 0, outputs: { items: [] } };
    return { type: 'progress', nodeState: count, append: { items: count } };
  });
}

/** Reads texts live, one after the other. */
function reader({ id, next }: Shape, sources: readonly string[], read: readonly string[], seed: number): NodeFunction {
  return (at) => {
    const texts = read.map((source) => at.stream(`${source}@content`));
    const others = sources.filter((source) => !read.includes(source));
    return concat(...texts).pipe(
      reduce((content, { text }) => content + text, ''),
      map((content) =>
        settled({ of: id, value: digest(seed, id, at, others), content }, next === undefined ? {} : { next }),
      ),
    );
  };
}

function digest(seed: number, id: string, at: Activation, sources: readonly string[]): number {
  const seen = sources.map((source) => JSON.stringify(readValue(at, `${source}@value`)));
  return hash(seed, id, String(readValue(at, 'item')), ...seen);
}

function isAnswered({ token, answer }: Activation): boolean {
  return Object.hasOwn((answer ?? {}) as JsonObject, token.slice(token.indexOf('/') + 1));
}

const busy = () => new EngineError('MODEL_UNAVAILABLE', 'Busy.', { retryable: true });
