import type { Meter } from '@opentelemetry/api';
import type { Family, MetricBook } from './metric-book.js';

/** Shows a book to an OpenTelemetry meter: counters and gauges when it looks, histograms value by value from now on. */
export function mirrorMetrics(book: MetricBook, meter: Meter): void {
  book.forEach((read) => {
    const family = read();
    const { name, help: description, type } = family;
    if (type === 'histogram') {
      const advice = { explicitBucketBoundaries: [...family.bounds] };
      const histogram = meter.createHistogram(name, { description, advice });
      book.mirror(name, (value, labels) => histogram.record(value, labels));
    } else if (type === 'counter') {
      meter.createObservableCounter(name, { description }).addCallback(observe(read));
    } else {
      meter.createObservableGauge(name, { description }).addCallback(observe(read));
    }
  });
}

/** What `Meter` asks of a callback. */
interface Result {
  observe(value: number, labels: Readonly<Record<string, string>>): void;
}

function observe(read: () => Family): (result: Result) => void {
  return (result) => {
    const family = read();
    if (family.type === 'histogram') return;
    for (const { value, labels } of family.points) result.observe(value, labels);
  };
}
