/** What storing every event costs: `npm run bench -- journal`. The log is in memory; what a disk costs comes on top. */
import { lastValueFrom } from 'rxjs';
import { loadCanvas } from '../src/canvas/load-canvas.js';
import { runTurn } from '../src/canvas/turn.js';
import { planOf } from '../src/graph/build.js';
import { EventWriter } from '../src/graph/event-json.js';
import type { EventLog } from '../src/graph/log.js';
import { run } from '../src/graph/run.js';
import type { RunOptions } from '../src/graph/run-options.js';
import { documentOf } from './canvas.bench.js';
import { microsecondsPerStep, type Row } from './measure.js';

const NODES = 1_000;
const RUNS = 10;

/** Measures a canvas and a library graph with and without a log; takes a few seconds. */
export async function benchJournal(): Promise<readonly Row[]> {
  const canvas = loadCanvas(documentOf(NODES));
  const turn = (options: RunOptions) => lastValueFrom(runTurn(canvas, { query: 'hello' }, { run: 'r', ...options }));
  const plan = planOf(
    Object.fromEntries(Array.from({ length: NODES }, (_, at) => [`n${at}`, () => ({ text: 'done' })])),
  );
  const graph = (options: RunOptions) => lastValueFrom(run(plan, { input: null }, options));
  return [
    ...(await timesOf('canvas', turn)),
    ...(await timesOf('library graph of no-op nodes', graph)),
    {
      name: 'bytes written a step: 100,000 nodes against 20,000',
      value: await growthOfBytes(),
      unit: 'x',
      bar: 1.5,
      aim: 1.2,
    },
  ];
}

type Start = (options: RunOptions) => Promise<unknown>;

async function timesOf(what: string, start: Start): Promise<Row[]> {
  const cost = (options: () => RunOptions) =>
    microsecondsPerStep(NODES * RUNS, async () => {
      for (let done = 0; done < RUNS; done += 1) await start(options());
    });
  const without = await cost(() => ({}));
  const rows: Row[] = [];
  for (const durability of ['async', 'sync'] as const) {
    const kept = await cost(() => ({ log: counting().log, durability }));
    // A settlement that is waited for costs a turn of promises, which nothing beats that does nothing itself.
    const bar = what === 'canvas' || durability === 'async' ? { bar: 2.5 } : {};
    rows.push({
      name: `${what}: every settlement kept (${durability}) against none`,
      value: kept / without,
      unit: 'x',
      ...bar,
    });
  }
  return rows;
}

/** How the bytes a step grow with the graph; 1 is linear. */
async function growthOfBytes(): Promise<number> {
  const [small = Number.NaN, large = Number.NaN] = await Promise.all(
    [20_000, 100_000].map(async (count) => {
      const nodes = Array.from({ length: count }, (_, at): [string, () => { text: string }] => [
        `n${String(at).padStart(5, '0')}`,
        () => ({ text: 'done' }),
      ]);
      const { log, bytes } = counting();
      await lastValueFrom(run(planOf(Object.fromEntries(nodes)), { input: null }, { log, durability: 'sync' }));
      return bytes() / count;
    }),
  );
  return large / small;
}

/** Keeps nothing but the number of bytes it was given, snapshots included. */
function counting(): { readonly log: EventLog; bytes(): number } {
  const writer = new EventWriter();
  let bytes = 0;
  return {
    bytes: () => bytes,
    log: {
      append: (event) => {
        const { length } = writer.json(event);
        bytes += length;
        return length;
      },
      snapshot: ({ state }) => {
        const { length } = JSON.stringify(state);
        bytes += length;
        return length;
      },
      flush: async () => {},
    },
  };
}
