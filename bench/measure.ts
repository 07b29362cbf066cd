/** What every benchmark gives, and how time is taken. */

/** One measurement, with what it must hold and what it should reach. */
export interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The worst value that is accepted; undefined: for comparison only. */
  readonly bar?: number;
  readonly aim?: number;
  /** Whether more is better. @default false */
  readonly isRate?: boolean;
}

export interface MeasureOptions {
  /** Rounds that count; the median is taken. @default 7 */
  readonly rounds?: number;
  /** Milliseconds of work before anything is measured, so that the compiler has seen it. @default 200 */
  readonly warmUpMs?: number;
}

/** Median milliseconds of a round, after some to warm up. */
export function milliseconds(work: () => unknown, options: MeasureOptions = {}): Promise<number> {
  return median(work, () => performance.now(), options);
}

async function median(
  work: () => unknown,
  now: () => number,
  { rounds = 7, warmUpMs = 200 }: MeasureOptions,
): Promise<number> {
  await warmUp(work, warmUpMs);
  const taken: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const startedAt = now();
    await work();
    taken.push(now() - startedAt);
  }
  return quantile(taken, 0.5);
}

/** Does work until so many milliseconds have passed, at least once. */
export async function warmUp(work: () => unknown, ms: number): Promise<void> {
  const until = performance.now() + ms;
  do await work();
  while (performance.now() < until);
}

/** Median microseconds of processor time for one of `steps` steps; what else the machine does hardly disturbs it. */
export async function microsecondsPerStep(
  steps: number,
  work: () => unknown,
  options: MeasureOptions = {},
): Promise<number> {
  return (await median(work, processorMicroseconds, options)) / steps;
}

function processorMicroseconds(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

export function quantile(values: readonly number[], at: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? Number.NaN;
}
