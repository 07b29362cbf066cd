/**
 * What the engine costs a node, in graphs of all shapes: `npm run bench -- graph`.
 *
 * "Events" means that somebody listens to every event of the run; "silent" means that nobody does. Bars and aims are those of
 * `docs/architecture.md`. Read the numbers as ratios to the rows of plain RxJS and of a plain loop beside them.
 */

import { setImmediate } from 'node:timers/promises';
import { EMPTY, expand, lastValueFrom, map, mergeMap, NEVER, Observable, of, range, Subject, take } from 'rxjs';
import { planOf } from '../src/graph/build.js';
import { link } from '../src/graph/link.js';
import type { NodeFunction } from '../src/graph/node.js';
import { delta, type NodeEvent, settled } from '../src/graph/node-events.js';
import type { Plan } from '../src/graph/plan.js';
import { execute, run } from '../src/graph/run.js';
import { spec } from '../test/graph/support/specs.js';
import { microsecondsPerStep, milliseconds, quantile, type Row } from './measure.js';

const EVENTS = { unit: 'us/node', bar: 3, aim: 1 };
const SILENT = { unit: 'us/node', bar: 1.5, aim: 0.3 };
const GROWTH = { unit: 'x', bar: 1.5, aim: 1.2 };
const MAX_STEPS = 100_000_000;
const nothing: NodeFunction = () => ({});

/** Measures the engine; takes about half a minute. */
export async function benchGraph(): Promise<readonly Row[]> {
  return [
    ...(await shapes()),
    ...(await loops()),
    await concurrentRuns(),
    await textRate(),
    await memoryOfWaitingRun(),
    await cancelling(),
    ...(await comparisons()),
  ];
}

async function shapes(): Promise<Row[]> {
  const chains = [100, 1_000, 10_000].map((count) => ({ name: `chain ${count}`, count, plan: planOf(nodesOf(count)) }));
  const fans = [100, 1_000, 10_000].map((width) => ({ name: `fan 1-${width}-1`, count: width + 2, plan: fan(width) }));
  const layered = [10, 100].map((side) => ({ name: `layers ${side}x${side}`, count: side * side, plan: layers(side) }));
  const rows: Row[] = [];
  for (const shapesOfOneKind of [chains, fans, layered]) {
    const costs: number[] = [];
    for (const { name, count, plan } of shapesOfOneKind) {
      const repeats = Math.max(1, Math.floor(20_000 / count));
      const cost = await microsecondsPerStep(count * repeats, () =>
        repeat(repeats, () => lastValueFrom(run(plan, { input: null }))),
      );
      const silent = await microsecondsPerStep(count * repeats, () =>
        repeat(repeats, () => execute(plan, { input: null })),
      );
      costs.push(cost);
      rows.push(
        { name: `${name}, events`, value: cost, ...EVENTS },
        { name: `${name}, silent`, value: silent, ...SILENT },
      );
    }
    const [smallest = Number.NaN] = costs;
    const kind = shapesOfOneKind[0]?.name.split(' ')[0];
    rows.push({
      name: `${kind}: growth from the smallest to the largest`,
      value: (costs.at(-1) ?? Number.NaN) / smallest,
      ...GROWTH,
    });
  }
  return rows;
}

async function loops(): Promise<Row[]> {
  const three = loopByEdges(1_000, 3);
  const long = loopByEdges(100_000, 1);
  const body = loopByBody(1_000);
  const watched = await microsecondsPerStep(3_000, () => lastValueFrom(run(three, { input: null })));
  const silent = await microsecondsPerStep(3_000, () => execute(three, { input: null }));
  const many = await microsecondsPerStep(100_000, () => execute(long, { input: null }), { rounds: 3 });
  const passes = await microsecondsPerStep(1_000, () => execute(body, { input: null }));
  return [
    { name: 'loop by edges, 1,000 rounds x 3 nodes, events', value: watched, ...EVENTS },
    { name: 'loop by edges, 1,000 rounds x 3 nodes, silent', value: silent, ...SILENT },
    { name: 'loop by edges, 100,000 rounds, silent', value: many, ...SILENT },
    { name: 'loop by a body, 1,000 rounds, silent', value: passes, unit: 'us/round' },
    await latestTimer(),
  ];
}

/** How late a timer of 1 ms is at worst while a loop of a million synchronous rounds runs. */
async function latestTimer(): Promise<Row> {
  let last = performance.now();
  let worst = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    worst = Math.max(worst, now - last - 1);
    last = now;
  }, 1);
  await execute(loopByEdges(1_000_000, 1), { input: null }, { maxSteps: MAX_STEPS });
  clearInterval(timer);
  return { name: 'timer of 1 ms during 1,000,000 synchronous rounds', value: worst, unit: 'ms late', bar: 50, aim: 20 };
}

async function concurrentRuns(): Promise<Row> {
  const plan = planOf(nodesOf(10, () => setImmediate({})));
  const waits: number[] = [];
  const start = (startedAt: number) =>
    new Promise<void>((resolve) => {
      let isFirst = true;
      run(plan, { input: null }).subscribe({
        next: ({ type }) => {
          if (type !== 'node-started' || !isFirst) return;
          isFirst = false;
          waits.push(performance.now() - startedAt);
        },
        complete: resolve,
      });
    });
  const thousand = () => {
    const startedAt = performance.now();
    return Promise.all(Array.from({ length: 1_000 }, () => start(startedAt)));
  };
  await repeat(3, thousand);
  waits.length = 0;
  await repeat(5, thousand);
  return {
    name: '1,000 runs of 10 nodes at once: p99 to the first node',
    value: quantile(waits, 0.99),
    unit: 'ms',
    bar: 20,
    aim: 1,
  };
}

async function textRate(): Promise<Row> {
  const count = 1_000_000;
  const piece = delta('content', 'word ');
  const talker: NodeFunction = () =>
    new Observable<NodeEvent>((subscriber) => {
      for (let said = 0; said < count; said += 1) subscriber.next(piece);
      subscriber.next(settled({}));
    });
  const plan = planOf({ talker }, []);
  const taken = await milliseconds(() => lastValueFrom(run(plan, { input: null })), { rounds: 5 });
  return {
    name: 'pieces of text through one run',
    value: (count / taken) * 1_000,
    unit: '/s',
    bar: 1_000_000,
    aim: 3_000_000,
    isRate: true,
  };
}

async function memoryOfWaitingRun(): Promise<Row> {
  const collect = globalThis.gc;
  if (collect === undefined)
    return { name: 'an idle run (needs node --expose-gc)', value: Number.NaN, unit: 'KB', bar: 50 };
  const plan = planOf({ ...nodesOf(10), z: () => NEVER });
  const count = 2_000;
  collect();
  const before = process.memoryUsage().heapUsed;
  const subscriptions = range(0, count)
    .pipe(mergeMap(() => run(plan, { input: null })))
    .subscribe();
  collect();
  const value = (process.memoryUsage().heapUsed - before) / count / 1024;
  subscriptions.unsubscribe();
  return { name: 'an idle run of 11 nodes', value, unit: 'KB', bar: 50 };
}

/** Stops 10,000 nodes at work that listen to their signals. */
async function cancelling(): Promise<Row> {
  const plan = planOf(
    nodesOf(10_000, ({ signal }) => new Observable(() => () => signal.aborted)),
    [],
  );
  const taken = await milliseconds(() => {
    const abort = new AbortController();
    let isOver = false;
    run(plan, { input: null }, { signal: abort.signal, concurrency: 10_000 }).subscribe({
      complete: () => {
        isOver = true;
      },
    });
    abort.abort();
    if (!isOver) throw new Error('The run is not over when its signal was raised.');
  });
  return { name: 'start and cancel 10,000 nodes at work', value: taken, unit: 'ms' };
}

async function comparisons(): Promise<Row[]> {
  const steps = 500;
  const repeats = 40;
  const total = steps * repeats;
  const expanding = () => lastValueFrom(of(1).pipe(expand((x) => (x === steps ? EMPTY : of(x + 1)))));
  const promises = async () => {
    for (let x = 0; x < steps; ) x = await Promise.resolve(x + 1);
  };
  const wired = () => {
    const subjects = Array.from({ length: steps }, () => new Subject<number>());
    const nodes = subjects.slice(1).map((subject, at) =>
      subjects[at]
        ?.pipe(
          take(1),
          map((x) => x + 1),
        )
        .subscribe(subject),
    );
    const end = lastValueFrom(subjects.at(-1) as Subject<number>);
    subjects[0]?.next(1);
    subjects[0]?.complete();
    return end.finally(() => {
      for (const node of nodes) node?.unsubscribe();
    });
  };
  const rows: readonly (readonly [string, () => unknown])[] = [
    ['compared: one expand, runs of 500', expanding],
    ['compared: a promise loop', promises],
    ['compared: a graph of Subjects wired for each run', wired],
  ];
  const measured: Row[] = [];
  for (const [name, work] of rows) {
    measured.push({ name, value: await microsecondsPerStep(total, () => repeat(repeats, work)), unit: 'us/node' });
  }
  return measured;
}

async function repeat(times: number, work: () => unknown): Promise<void> {
  for (let done = 0; done < times; done += 1) await work();
}

function nodesOf(count: number, node: NodeFunction = nothing): Record<string, NodeFunction> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, node]));
}

function fan(width: number): Plan {
  const ids = Object.keys(nodesOf(width));
  const edges = ids.flatMap((id): [string, string][] => [
    ['s', id],
    [id, 'z'],
  ]);
  return planOf({ s: nothing, ...nodesOf(width), z: nothing }, edges);
}

/** Each node of a layer leads to three of the next. */
function layers(side: number): Plan {
  const edges = Array.from({ length: side * (side - 1) }, (_, at) => {
    const next = (Math.floor(at / side) + 1) * side;
    return [0, 1, 7].map((shift): [string, string] => [`n${at}`, `n${next + ((at + shift) % side)}`]);
  });
  return planOf(nodesOf(side * side), edges.flat());
}

function loopByEdges(rounds: number, length: number): Plan {
  let left = rounds;
  const turn: NodeFunction = () => {
    left -= 1;
    if (left > 0) return settled({}, { next: ['n0'] });
    // For the next run of the same plan.
    left = rounds;
    return settled({}, { next: ['z'] });
  };
  const last = `n${length - 1}`;
  const ids = Object.keys(nodesOf(length));
  const edges = ids.slice(1).map((id, at): [string, string] => [`n${at}`, id]);
  return planOf({ s: nothing, ...nodesOf(length), [last]: turn, z: nothing }, [
    ['s', 'n0'],
    ...edges,
    [last, 'n0'],
    [last, 'z'],
  ]);
}

function loopByBody(rounds: number): Plan {
  const box: NodeFunction = (at) =>
    new Observable<NodeEvent>((subscriber) => {
      let round = 0;
      const next = (): void => {
        round += 1;
        if (round > rounds) subscriber.next(settled({}));
        else subscriber.add(at.runBody({ key: String(round) }).subscribe(next));
      };
      next();
    });
  return link([spec('box', { activate: box, isContainer: true }), spec('x', { activate: nothing, parent: 'box' })]);
}
