/**
 * What steps of code cost: chains, parallels and graphs, their values and their chunks: `npm run bench -- compose`.
 *
 * "Events" means that somebody reads every event of the run; "silent" means that nobody does. Rows `against planOf` compare with the same
 * shape made of bare functions of the engine, which carry no values on their edges; both are measured in turns.
 */
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { filter, lastValueFrom, map, Observable } from 'rxjs';
import { chain } from '../src/compose/chain.js';
import { type GraphBuilder, graph } from '../src/compose/graph.js';
import type { NodeHandle } from '../src/compose/handles.js';
import { loop } from '../src/compose/loop.js';
import { observe } from '../src/compose/observers.js';
import { parallel } from '../src/compose/parallel.js';
import { invoke, run, stream } from '../src/compose/run.js';
import type { StepRunOptions } from '../src/compose/run-context.js';
import type { AnyStepLike, Step } from '../src/compose/step.js';
import { generator, operator } from '../src/compose/steps.js';
import { planOf } from '../src/graph/build.js';
import { EventWriter } from '../src/graph/event-json.js';
import type { EventLog } from '../src/graph/log.js';
import type { Plan } from '../src/graph/plan.js';
import { execute } from '../src/graph/run.js';
import { microsecondsPerStep, milliseconds, quantile, type Row } from './measure.js';

const EVENTS = { unit: 'us/node', bar: 3 };
const SILENT = { unit: 'us/node', bar: 1.5 };
const MAX_STEPS = 100_000_000;
const KIB = 1_024;
const MIB = KIB * KIB;

/** A step that gives what it gets. */
const same = (value: unknown): unknown => value;

/** Many steps; the types of `chain` end at twelve. */
const chainOf = chain as unknown as (...steps: readonly AnyStepLike[]) => Step<unknown, unknown>;

/** Measures steps; takes about a minute. */
export async function benchCompose(): Promise<readonly Row[]> {
  return [
    ...(await shapes()),
    ...(await observers()),
    ...(await growth()),
    ...(await manySteps()),
    ...(await rounds()),
    ...(await chunks()),
    ...(await slowReader()),
    ...(await building()),
    ...(await checkpoints()),
  ];
}

/** A step, and the same shape without values on its edges. */
interface Shape {
  readonly name: string;
  readonly nodes: number;
  readonly step: Step<unknown, unknown>;
  readonly plan: Plan;
}

async function shapes(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const shape of [chainShape(100), fanShape(100), layersShape(10)]) {
    const { name, nodes, step, plan } = shape;
    const events = await inTurns(
      nodes,
      () => lastValueFrom(run(step, { input: 1 })),
      () => lastValueFrom(run(plan, { input: null })),
    );
    const silent = await inTurns(
      nodes,
      () => invoke(step, 1),
      () => execute(plan, { input: null }),
    );
    rows.push(
      { name: `${name}, events`, value: events.cost, ...EVENTS },
      { name: `${name}, events, against planOf`, value: events.ratio, unit: 'x', bar: 1.3 },
      { name: `${name}, silent`, value: silent.cost, ...SILENT },
      { name: `${name}, silent, against planOf`, value: silent.ratio, unit: 'x', bar: 1.3 },
    );
  }
  return rows;
}

/** What one observer for the end of every step adds to a node. */
async function observers(): Promise<Row[]> {
  const { name, nodes, step } = chainShape(100);
  let told = 0;
  const observer = observe({
    end: () => {
      told += 1;
    },
  });
  const { more } = await inTurns(
    nodes,
    () => invoke(step, 1, { observe: [observer] }),
    () => invoke(step, 1),
  );
  if (told === 0) throw new Error('The observer was not told of anything.');
  return [{ name: `${name}, one observer for "end"`, value: more, unit: 'us/node more', bar: 0.5 }];
}

/**
 * Runs of about 20,000 nodes of the one and of the other, in turns: the cost of a node of the one, the median of the ratios, and that of what
 * the one costs more.
 */
async function inTurns(nodes: number, one: () => unknown, other: () => unknown) {
  const repeats = Math.max(1, Math.floor(20_000 / nodes));
  const costs: number[] = [];
  const ratios: number[] = [];
  const differences: number[] = [];
  for (let turn = 0; turn < 5; turn += 1) {
    const costOf = (work: () => unknown) =>
      microsecondsPerStep(nodes * repeats, () => repeat(repeats, work), { rounds: 3 });
    const cost = await costOf(one);
    const beside = await costOf(other);
    costs.push(cost);
    ratios.push(cost / beside);
    differences.push(cost - beside);
  }
  return { cost: quantile(costs, 0.5), ratio: quantile(ratios, 0.5), more: quantile(differences, 0.5) };
}

async function growth(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const shapeOf of [chainShape, fanShape]) {
    const [small, large] = [shapeOf(100), shapeOf(10_000)];
    const { ratio } = await inTurns(
      large.nodes,
      () => invoke(large.step, 1),
      () => repeat(Math.round(large.nodes / small.nodes), () => invoke(small.step, 1)),
    );
    rows.push({ name: `${large.name} against ${small.name}, a node`, value: ratio, unit: 'x', bar: 1.5 });
  }
  return rows;
}

async function manySteps(): Promise<Row[]> {
  const { step } = chainShape(10_000);
  // The first run compiles the step, which `building` measures.
  await invoke(step, 1);
  const runs: { readonly worst: number; readonly took: number }[] = [];
  for (let round = 0; round < 7; round += 1) runs.push(await whileTimed(() => invoke(step, 1)));
  const worst = Math.max(...runs.map((one) => one.worst));
  return [
    {
      name: '10,000 synchronous steps',
      value: quantile(
        runs.map(({ took }) => took),
        0.5,
      ),
      unit: 'ms',
    },
    { name: 'timer of 1 ms during them', value: worst, unit: 'ms late', bar: 50 },
  ];
}

const ROUNDS = 1_000_000;

/** A million rounds: by an edge that leads back, and by the body of a loop; every round makes a text of its own. */
async function rounds(): Promise<Row[]> {
  const text = (round: number): string => `${round} `.padEnd(KIB, 'x');
  const roundOf = (value: string): number => Number.parseInt(value, 10);
  const work = (value: string): string => text(roundOf(value) + 1);
  const circle = graph<string, string>('circle', (g) => {
    const node = g.node('work', work);
    g.edge(g.start, node);
    g.branch(node, { again: node, done: g.end }, (value) => (roundOf(value) < ROUNDS ? 'again' : 'done'));
  });
  const body = loop(work, { until: (value) => roundOf(value) >= ROUNDS, maxRounds: ROUNDS });
  const rows: Row[] = [];
  for (const [name, step] of [
    ['a graph', circle],
    ['a loop', body],
  ] as const) {
    await invoke(step, text(ROUNDS - 10_000), { maxSteps: MAX_STEPS });
    const before = heapUsed();
    const { worst, took, heap } = await whileTimed(() => invoke(step, text(0), { maxSteps: MAX_STEPS }));
    rows.push(
      { name: `1,000,000 rounds of ${name} with 1 KB`, value: (took * 1_000) / ROUNDS, unit: 'us/round' },
      { name: `timer of 1 ms during the rounds of ${name}`, value: worst, unit: 'ms late', bar: 50 },
      { name: `heap at the end of the rounds of ${name}`, value: (heap - before) / MIB, unit: 'MB more', bar: 8 },
    );
  }
  return rows;
}

/** Runs work beside a timer of 1 ms: how late that was at worst, how long the work took, and the heap in use when it had its result. */
async function whileTimed(work: () => Promise<unknown>) {
  const startedAt = performance.now();
  let last = startedAt;
  let worst = 0;
  const tick = (): void => {
    const now = performance.now();
    worst = Math.max(worst, now - last - 1);
    last = now;
  };
  const timer = setInterval(tick, 1);
  const result = await work();
  const took = performance.now() - startedAt;
  // A run that never lets the timer in is as late as it is long.
  tick();
  clearInterval(timer);
  const heap = heapUsed();
  if (result === undefined) throw new Error('The run has no result.');
  return { worst, took, heap };
}

const CHUNKS = 1_000_000;

/** Chunks of a step through an edge, three operators, and the edge to the reader. */
async function chunks(): Promise<Row[]> {
  const three = [
    operator(map((value: number) => value + 1)),
    operator(filter((value: number) => value > 0)),
    operator(map((value: number) => value * 2)),
  ];
  const pushed = () =>
    new Observable<number>((subscriber) => {
      for (let chunk = 0; chunk < CHUNKS; chunk += 1) subscriber.next(chunk);
      subscriber.complete();
    });
  const pulled = generator(async function* count() {
    for (let chunk = 0; chunk < CHUNKS; chunk += 1) yield chunk;
  });
  const rows: Row[] = [];
  for (const [name, source, bar] of [
    ['a step that pushes', pushed, { bar: 1_000_000 }],
    ['a generator', pulled, {}],
  ] as const) {
    const step = chainOf(source, ...three);
    let seen = 0;
    const taken = await milliseconds(
      async () => {
        seen = 0;
        await stream(step, null).forEach(() => {
          seen += 1;
        });
      },
      { rounds: 3 },
    );
    if (seen < CHUNKS - 1) throw new Error(`Of ${CHUNKS} chunks ${seen} came.`);
    const rate = (CHUNKS / taken) * 1_000;
    rows.push({ name: `chunks of ${name} through three operators`, value: rate, unit: '/s', isRate: true, ...bar });
  }
  return rows;
}

/** A reader that takes a millisecond for a chunk of 1 KB, which its producer makes in less than one thousandth of that. */
async function slowReader(): Promise<Row[]> {
  const read = 300;
  const three = Array.from({ length: 3 }, () => operator(map((value: unknown) => value)));
  const rows: Row[] = [];
  for (const [name, behind] of [
    ['a generator', []],
    ['a generator behind three operators', three],
  ] as const) {
    let made = 0;
    const source = generator(async function* texts() {
      for (;;) {
        made += 1;
        yield `${made} `.padEnd(KIB, 'x');
      }
    });
    const step = chainOf(source, ...behind);
    const before = heapUsed();
    let seen = 0;
    let ahead = 0;
    for await (const _ of stream(step, null)) {
      seen += 1;
      await pause(1);
      ahead = Math.max(ahead, made - seen);
      if (seen === read) break;
    }
    const more = (heapUsed() - before) / MIB;
    rows.push(
      { name: `${name} ahead of a reader 1,000 times slower`, value: ahead, unit: 'chunks', bar: 128 },
      { name: `heap of ${name} and its slow reader`, value: more, unit: 'MB more', bar: 8 },
    );
    await nextTurn();
  }
  return rows;
}

/** Drawing a graph of 1,000 nodes, and its first run, which compiles it. */
async function building(): Promise<Row[]> {
  const draw = () => drawLine(1_000);
  const drawn = await milliseconds(draw);
  const compiled = await milliseconds(() => invoke(draw(), 1));
  return [
    { name: 'drawing a graph of 1,000 nodes', value: drawn, unit: 'ms', bar: 50 },
    { name: 'drawing, compiling and running it', value: compiled, unit: 'ms' },
  ];
}

async function checkpoints(): Promise<Row[]> {
  const { step, nodes } = chainShape(1_000);
  const invoked = (options: () => StepRunOptions) => () => invoke(step, 'done', { run: 'r', ...options() });
  const kept = await inTurns(
    nodes,
    invoked(() => ({ log: counting().log, durability: 'async' })),
    invoked(() => ({})),
  );
  const bytesPerStep = async (count: number): Promise<number> => {
    const { log, bytes } = counting();
    await invoke(chainShape(count).step, 'done', { run: 'r', log, durability: 'sync' });
    return bytes() / count;
  };
  return [
    { name: 'every settlement of a chain kept (async) against none', value: kept.ratio, unit: 'x', bar: 2.5 },
    {
      name: 'bytes written a step: 20,000 steps against 2,000',
      value: (await bytesPerStep(20_000)) / (await bytesPerStep(2_000)),
      unit: 'x',
      bar: 1.5,
    },
  ];
}

/** Keeps nothing but the number of bytes it was given, snapshots included. */
function counting(): { readonly log: EventLog; bytes(): number } {
  const writer = new EventWriter();
  let bytes = 0;
  const count = (length: number): number => {
    bytes += length;
    return length;
  };
  return {
    bytes: () => bytes,
    log: {
      append: (event) => count(writer.json(event).length),
      snapshot: ({ state }) => count(JSON.stringify(state).length),
      flush: async () => {},
    },
  };
}

function chainShape(count: number): Shape {
  const step = chainOf(...Array.from({ length: count }, () => same));
  return { name: `chain ${count}`, nodes: count, step, plan: planOf(bare(count)) };
}

/** One value to all of so many steps, and their results as one object. */
function fanShape(width: number): Shape {
  const step = parallel(Object.fromEntries(idsOf(width).map((id) => [id, same]))) as Step<unknown, unknown>;
  const edges = idsOf(width).flatMap((id): [string, string][] => [
    ['s', id],
    [id, 'z'],
  ]);
  const nothing = () => ({});
  // Start and end of a parallel are no nodes.
  return {
    name: `fan-out 1-${width}-1`,
    nodes: width,
    step,
    plan: planOf({ s: nothing, ...bare(width), z: nothing }, edges),
  };
}

/** Each step of a layer leads to three of the next. */
function layersShape(side: number): Shape {
  const pairs = Array.from({ length: side * (side - 1) }, (_, at) => {
    const next = (Math.floor(at / side) + 1) * side;
    return [0, 1, 7].map((shift): [number, number] => [at, next + ((at + shift) % side)]);
  }).flat();
  const step = graph<unknown, unknown>('layers', (g) => {
    const nodes = idsOf(side * side).map((id) => g.node(id, same, { merge: ([first]) => first }));
    const at = (index: number) => nodes[index] as NodeHandle<unknown, unknown>;
    const exit = g.node('exit', same, { merge: ([first]) => first });
    for (let index = 0; index < side; index += 1) g.edge(g.start, at(index));
    for (const [from, to] of pairs) g.edge(at(from), at(to));
    for (let index = side * (side - 1); index < side * side; index += 1) g.edge(at(index), exit);
    g.edge(exit, g.end);
  });
  const plan = planOf(
    bare(side * side),
    pairs.map(([from, to]) => [`n${from}`, `n${to}`]),
  );
  return { name: `layers ${side}x${side}`, nodes: side * side, step, plan };
}

function drawLine(count: number): Step<unknown, unknown> {
  return graph<unknown, unknown>('line', (g: GraphBuilder<unknown, unknown>) => {
    let last: NodeHandle<unknown, unknown> | undefined;
    for (const id of idsOf(count)) {
      const node = g.node(id, same);
      g.edge(last ?? g.start, node);
      last = node;
    }
    if (last !== undefined) g.edge(last, g.end);
  });
}

function bare(count: number) {
  return Object.fromEntries(idsOf(count).map((id) => [id, () => ({})]));
}

function idsOf(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `n${at}`);
}

async function repeat(times: number, work: () => unknown): Promise<void> {
  for (let done = 0; done < times; done += 1) await work();
}

/** Bytes in use after a collection, as far as one can be asked for. */
function heapUsed(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
