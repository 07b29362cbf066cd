import type { metrics } from '@opentelemetry/sdk-node';
import type { Family, MetricBook } from './metric-book.js';

/** Media type of Prometheus' text format. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** A book in Prometheus' text format; the library that writes it is loaded by the first call. */
export async function renderMetrics(book: MetricBook): Promise<string> {
  const { PrometheusSerializer } = await import('@opentelemetry/exporter-prometheus');
  const serializer = new PrometheusSerializer(undefined, false, undefined, true, true);
  const resource = { attributes: {} } as metrics.ResourceMetrics['resource'];
  const scopeMetrics = [{ scope: { name: 'runnel' }, metrics: book.collect().map(toData) }];
  return `${serializer.serialize({ resource, scopeMetrics }).trimEnd()}\n`;
}

// The numbers of the SDK's own tables; importing them would load all of it.
const CUMULATIVE = 1 as metrics.AggregationTemporality.CUMULATIVE;
const HISTOGRAM = 0 as metrics.DataPointType.HISTOGRAM;
const GAUGE = 2 as metrics.DataPointType.GAUGE;
const SUM = 3 as metrics.DataPointType.SUM;
const NO_TIME: [number, number] = [0, 0];
const TIMES = { startTime: NO_TIME, endTime: NO_TIME };

function toData(family: Family): metrics.MetricData {
  const { name, help: description } = family;
  const base = {
    descriptor: { name, description, unit: '', valueType: 1 },
    aggregationTemporality: CUMULATIVE,
  };
  if (family.type === 'histogram') {
    const { bounds: boundaries } = family;
    const dataPoints = family.points.map(({ labels: attributes, count, sum, buckets }) => ({
      ...TIMES,
      attributes,
      value: { count, sum, buckets: { boundaries: [...boundaries], counts: [...buckets] } },
    }));
    return { ...base, dataPointType: HISTOGRAM, dataPoints };
  }
  const dataPoints = family.points.map(({ labels: attributes, value }) => ({ ...TIMES, attributes, value }));
  if (family.type === 'gauge') return { ...base, dataPointType: GAUGE, dataPoints };
  return { ...base, dataPointType: SUM, isMonotonic: true, dataPoints };
}
