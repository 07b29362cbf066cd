/**
 * What one step of the operators costs: `npx tsx bench/operators.bench.ts`.
 *
 * Stock `expand` overflows after about a thousand synchronous steps, so it is measured in runs of 500; the others walk as many
 * steps in all. Each row is the median of several rounds, after one to warm up. Read the numbers as ratios.
 */
import { pathToFileURL } from 'node:url';
import { BehaviorSubject, EMPTY, expand, lastValueFrom, type MonoTypeOperatorFunction, of, range } from 'rxjs';
import { coalesce } from '../src/operators/coalesce.js';
import { expandQueue } from '../src/operators/expand-queue.js';
import { expandWaves, type WaveWorker } from '../src/operators/expand-waves.js';
import { fromAbortable } from '../src/operators/from-abortable.js';

/** One measurement: nanoseconds a step, the median of all rounds. */
export interface BenchRow {
  readonly name: string;
  readonly nsPerStep: number;
  readonly note: string;
}

const STEPS = 200_000;
const BELOW_OVERFLOW = 500;
const ROUNDS = 7;

/** Work that is a number and gives it at once, which leads to the next one. */
const counting: WaveWorker<number, number> = {
  announce: () => {},
  perform: (work) => work,
  begin: () => true,
  continues: () => {},
  stopped: () => {},
  isLast: () => true,
  receive: () => {},
  apply: (work, _, next) => {
    if (work < STEPS) next.push(work + 1);
  },
  failure: () => 0,
  unfinished: () => 0,
  waveEnded: () => {},
  paused: () => {},
};

/** Measures every operator; takes a few seconds. */
export async function benchOperators(): Promise<readonly BenchRow[]> {
  return [
    await row('promise loop', 'await of a resolved promise for each step', STEPS, promiseLoop),
    await row('expand', `runs of ${BELOW_OVERFLOW}, just below its overflow`, STEPS, () =>
      shortRuns(expand((x) => (x === BELOW_OVERFLOW ? EMPTY : of(x + 1)))),
    ),
    await row('expandQueue, short', `the same runs of ${BELOW_OVERFLOW}`, STEPS, () =>
      shortRuns(expandQueue((x) => (x === BELOW_OVERFLOW ? EMPTY : of(x + 1)))),
    ),
    await row('expandQueue, Observable', 'one run; each step leads to of(x)', STEPS, () =>
      lastValueFrom(of(1).pipe(expandQueue((x) => (x === STEPS ? EMPTY : of(x + 1))))),
    ),
    await row('expandQueue, array', 'one run; each step leads to [x]', STEPS, () =>
      lastValueFrom(of(1).pipe(expandQueue((x) => (x === STEPS ? [] : [x + 1])))),
    ),
    await row('expandQueue, no pauses', 'the same with yieldEveryMs: Infinity', STEPS, () =>
      lastValueFrom(
        of(1).pipe(expandQueue((x) => (x === STEPS ? [] : [x + 1]), { yieldEveryMs: Number.POSITIVE_INFINITY })),
      ),
    ),
    await row('expandQueue, wide', 'one value leads to all the others, which wait', STEPS, () =>
      lastValueFrom(of(0).pipe(expandQueue((x) => (x === 0 ? range(1, STEPS) : []), { concurrency: 1 }))),
    ),
    await row('expandWaves', 'one run; each step leads to a wave of one', STEPS, () =>
      lastValueFrom(of([1]).pipe(expandWaves(counting, { concurrency: 5 }))),
    ),
    await row('coalesce, ready', 'straight through', STEPS, () =>
      lastValueFrom(range(1, STEPS).pipe(coalesce({ ...summing, ready$: of(true) }))),
    ),
    await row('coalesce, merging', 'all values into one', STEPS, async () => {
      const ready$ = new BehaviorSubject(false);
      const sum = lastValueFrom(range(1, STEPS).pipe(coalesce({ ...summing, ready$ })));
      ready$.next(true);
      await sum;
    }),
    await row(
      'fromAbortable, finished',
      'a resolved promise; subscriptions one after another',
      STEPS / 10,
      async () => {
        const work$ = fromAbortable(() => Promise.resolve(1));
        for (let done = 0; done < STEPS / 10; done++) await lastValueFrom(work$);
      },
    ),
    await row('fromAbortable, cut short', 'unsubscribed at once, hence aborted', STEPS / 10, () => {
      const work$ = fromAbortable(() => new Promise<number>(() => {}));
      for (let done = 0; done < STEPS / 10; done++) work$.subscribe().unsubscribe();
    }),
  ];
}

const summing = { merge: (older: number, newer: number) => older + newer, maxSize: 1 };

async function promiseLoop(): Promise<number> {
  let x = 0;
  while (x < STEPS) x = await Promise.resolve(x + 1);
  return x;
}

async function shortRuns(operator: MonoTypeOperatorFunction<number>): Promise<void> {
  for (let run = 0; run < STEPS / BELOW_OVERFLOW; run++) await lastValueFrom(of(1).pipe(operator));
}

async function row(name: string, note: string, steps: number, run: () => unknown): Promise<BenchRow> {
  await run();
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = performance.now();
    await run();
    rounds.push(((performance.now() - startedAt) * 1e6) / steps);
  }
  const sorted = rounds.sort((a, b) => a - b);
  return { name, nsPerStep: Math.round(sorted[ROUNDS >> 1] ?? Number.NaN), note };
}

const isMain = process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href;
if (isMain) console.table(await benchOperators());
