import type { RunRecord } from '../../graph/service-ports.js';
import { OWN_RUNTIME } from './canvas-runtimes.js';

/** Upper bounds of the buckets of durations, in seconds. */
const BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 600, 3_600] as const;

/** Media type of Prometheus' text format. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Counts runs of this process as they end. */
export class RunMetrics {
  readonly #outcomes = new Map<string, number>();
  /** Runs that took no longer than the bucket of the same place. */
  readonly #buckets: number[] = BUCKETS.map(() => 0);
  #count = 0;
  #seconds = 0;

  add({ status, startedAt, finishedAt = startedAt }: RunRecord): void {
    const seconds = Math.max(0, finishedAt - startedAt) / 1000;
    this.#outcomes.set(status, (this.#outcomes.get(status) ?? 0) + 1);
    for (const [at, bound] of BUCKETS.entries()) {
      if (seconds <= bound) this.#buckets[at] = (this.#buckets[at] ?? 0) + 1;
    }
    this.#count += 1;
    this.#seconds += seconds;
  }

  /** In Prometheus' text format; names and labels are RAGFlow's. */
  render(): string {
    const runtime = `runtime="${OWN_RUNTIME}"`;
    const outcomes = [...this.#outcomes].map(
      ([outcome, count]) => `ragflow_canvas_runs_total{${runtime},outcome="${outcome}"} ${count}`,
    );
    const bucket = (bound: string, count: number): string =>
      `ragflow_canvas_run_duration_seconds_bucket{${runtime},le="${bound}"} ${count}`;
    return [
      '# HELP ragflow_canvas_runs_total Runs that ended, by how they did.',
      '# TYPE ragflow_canvas_runs_total counter',
      ...outcomes,
      '# HELP ragflow_canvas_run_duration_seconds How long runs took.',
      '# TYPE ragflow_canvas_run_duration_seconds histogram',
      ...BUCKETS.map((bound, at) => bucket(String(bound), this.#buckets[at] ?? 0)),
      bucket('+Inf', this.#count),
      `ragflow_canvas_run_duration_seconds_sum{${runtime}} ${this.#seconds}`,
      `ragflow_canvas_run_duration_seconds_count{${runtime}} ${this.#count}`,
      '',
    ].join('\n');
  }
}
