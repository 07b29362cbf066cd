import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { MetricBook } from './metric-book.js';

/** How often the event loop is looked at, in milliseconds. */
const RESOLUTION_MS = 20;

/** Adds what a process knows of itself. The delay of the event loop is measured from the first look on. */
export function addProcessGauges(book: MetricBook): void {
  let delays: IntervalHistogram | undefined;
  book.gauge(
    {
      name: 'runnel_event_loop_delay_seconds',
      help: 'How late timers were since the last look: the median, the 99th percentile, the worst.',
    },
    () => {
      if (delays === undefined) {
        delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
        delays.enable();
      }
      const late = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1e3);
      const isEmpty = delays.count === 0;
      const [p50, p99, max] = isEmpty ? [0, 0, 0] : [delays.percentile(50), delays.percentile(99), delays.max];
      delays.reset();
      return [
        { labels: { quantile: '0.5' }, value: late(p50) },
        { labels: { quantile: '0.99' }, value: late(p99) },
        { labels: { quantile: '1' }, value: late(max) },
      ];
    },
  );
  book.gauge({ name: 'process_resident_memory_bytes', help: 'Memory of this process.' }, () =>
    process.memoryUsage.rss(),
  );
}
