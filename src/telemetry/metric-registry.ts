/**
 * Metrics of this process: counted as they happen, read on demand.
 *
 * Counting is a look into a map: nothing of OpenTelemetry is loaded for it. Each label has a bound on its values, beyond which
 * they are counted as `other`, so that names that users or documents choose cannot fill the memory.
 */

import type { metrics } from '@opentelemetry/sdk-node';
import { invalidOption } from '../operators/invalid-option.js';

/** Values by label. */
export type Labels = Readonly<Record<string, string>>;

/** Only ever grows. */
export interface Counter {
  add(value: number, ...labels: readonly string[]): void;
}

/** Counts values by size. */
export interface Histogram {
  observe(value: number, ...labels: readonly string[]): void;
}

/** The value of one combination of labels. */
export interface Point {
  readonly labels: Labels;
  readonly value: number;
}

/** The values of one combination of labels, by size. */
export interface Distribution {
  readonly labels: Labels;
  readonly count: number;
  readonly sum: number;
  /** How many were at most as large as the bound of the same place, and larger than the one before; one more for the rest. */
  readonly buckets: readonly number[];
}

/** Everything that is known of one metric. */
export type Family = { readonly name: string; readonly help: string } & (
  | { readonly type: 'counter' | 'gauge'; readonly points: readonly Point[] }
  | { readonly type: 'histogram'; readonly bounds: readonly number[]; readonly points: readonly Distribution[] }
);

/** Receives every value of a histogram. */
export type Mirror = (value: number, labels: Labels) => void;

/** Bounds of durations in seconds: those of Prometheus' clients, and some for runs that take long. */
export const SECONDS: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600, 3_600,
];

/** Values that one label may have before further ones count as `other`. */
const MAX_VALUES = 100;

/** Longest value of a label, in characters. */
const MAX_VALUE_LENGTH = 100;

const OTHER = 'other';

/** See the head of this file. */
export class MetricRegistry {
  readonly #families = new Map<string, () => Family>();
  readonly #histograms = new Map<string, HistogramSeries>();
  readonly #readers: ((read: () => Family) => void)[] = [];

  /** A counter, whose name ends with `_total`; `labels` name the values that are given with each number, in their order. */
  counter(name: string, help: string, labels: readonly string[] = []): Counter {
    const series = new Series<{ value: number }>(labels, () => ({ value: 0 }));
    this.#register(name, () => ({ name, help, type: 'counter', points: series.points() }));
    return {
      add(value, ...labels) {
        series.find(labels).value += value;
      },
    };
  }

  histogram(name: string, help: string, labels: readonly string[] = [], bounds = SECONDS): Histogram {
    const series = new HistogramSeries(bounds, labels);
    this.#histograms.set(name, series);
    this.#register(name, () => ({ name, help, type: 'histogram', bounds, points: series.points() }));
    return series;
  }

  /** Read on each collection; at most as many points as its labels may have values. */
  gauge(name: string, help: string, read: () => readonly Point[] | number): void {
    const points = (): readonly Point[] => {
      const value = read();
      return typeof value === 'number' ? [{ labels: {}, value }] : value;
    };
    this.#register(name, () => ({ name, help, type: 'gauge', points: points() }));
  }

  /** Everything, as it is now. */
  collect(): readonly Family[] {
    return [...this.#families.values()].map((read) => read());
  }

  /** Hands over every metric, also those that are added later, as something to look into. */
  forEach(reader: (read: () => Family) => void): void {
    this.#readers.push(reader);
    for (const read of this.#families.values()) reader(read);
  }

  /** Passes every further value of a histogram to `mirror`. */
  mirror(name: string, mirror: Mirror): void {
    const series = this.#histograms.get(name);
    if (series !== undefined) series.mirror = mirror;
  }

  #register(name: string, read: () => Family): void {
    if (this.#families.has(name)) throw invalidOption('MetricRegistry', 'name', 'a name that is not taken yet', name);
    this.#families.set(name, read);
    for (const reader of this.#readers) reader(read);
  }
}

/** Cells by the values of their labels. */
class Series<C extends object> {
  readonly #names: readonly string[];
  readonly #create: () => C;
  readonly #known: readonly Map<string, string>[];
  readonly #cells = new Map<string, C & { readonly labels: Labels }>();

  constructor(names: readonly string[], create: () => C) {
    this.#names = names;
    this.#create = create;
    this.#known = names.map(() => new Map());
  }

  find(given: readonly string[]): C & { readonly labels: Labels } {
    // Of labels one is the usual number; then its value is the key.
    const first = this.#valueOf(0, given[0]);
    let key = first;
    for (let at = 1; at < this.#names.length; at += 1) key += `\u0000${this.#valueOf(at, given[at])}`;
    return this.#cells.get(key) ?? this.#open(key);
  }

  points(): readonly (C & { readonly labels: Labels })[] {
    return [...this.#cells.values()].map((cell) => ({ ...cell }));
  }

  #open(key: string): C & { readonly labels: Labels } {
    const values = key.split('\u0000');
    const labels = Object.fromEntries(this.#names.map((name, at) => [name, values[at] ?? '']));
    const cell = { ...this.#create(), labels };
    this.#cells.set(key, cell);
    return cell;
  }

  #valueOf(at: number, given = ''): string {
    const known = this.#known[at];
    if (known === undefined) return '';
    const value = known.get(given);
    if (value !== undefined) return value;
    if (known.size >= MAX_VALUES || given.length > MAX_VALUE_LENGTH) return OTHER;
    // A separator within a value would make two series of one.
    const cleaned = given.replaceAll('\u0000', '');
    known.set(given, cleaned);
    return cleaned;
  }
}

interface Cell {
  count: number;
  sum: number;
  buckets: number[];
}

class HistogramSeries implements Histogram {
  readonly bounds: readonly number[];
  mirror: Mirror | undefined = undefined;
  readonly #series: Series<Cell>;

  constructor(bounds: readonly number[], labels: readonly string[]) {
    this.bounds = bounds;
    this.#series = new Series<Cell>(labels, () => ({ count: 0, sum: 0, buckets: Array(bounds.length + 1).fill(0) }));
  }

  observe(value: number, ...labels: readonly string[]): void {
    const cell = this.#series.find(labels);
    cell.count += 1;
    cell.sum += value;
    const { bounds } = this;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] as number)) at += 1;
    cell.buckets[at] = (cell.buckets[at] as number) + 1;
    this.mirror?.(value, cell.labels);
  }

  points(): readonly Distribution[] {
    return this.#series.points().map((cell) => ({ ...cell, buckets: [...cell.buckets] }));
  }
}

/** Media type of Prometheus' text format. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** A registry in Prometheus' text format; the library that writes it is loaded by the first call. */
export async function renderMetrics(registry: MetricRegistry): Promise<string> {
  const { PrometheusSerializer } = await import('@opentelemetry/exporter-prometheus');
  const serializer = new PrometheusSerializer(undefined, false, undefined, true, true);
  const resource = { attributes: {} } as metrics.ResourceMetrics['resource'];
  const scopeMetrics = [{ scope: { name: 'runnel' }, metrics: registry.collect().map(toData) }];
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
