/** What watches the runs of a process: numbers always, traces where somebody collects them. */
import { passThrough, type TraceSource } from '../graph/trace-context.js';
import { MetricBook } from './metric-book.js';
import type { OpenSdk } from './open-sdk.js';
import { addProcessGauges } from './process-gauges.js';
import { RunMeters } from './run-meters.js';
import type { RunWatch, RunWatcher } from './run-watch.js';
import { type Environment, readSdkPlan } from './sdk-plan.js';
import type { TelemetryLog } from './telemetry-log.js';

/** Where a line of the log belongs in a trace. */
export interface TraceIds {
  readonly trace_id: string;
  readonly span_id: string;
}

/** See the head of this file. */
export interface Telemetry extends RunWatcher {
  readonly book: MetricBook;
  readonly meters: RunMeters;
  /** Where the activations of all watched runs stand in their traces; without a collector, what their callers sent. */
  readonly trace: TraceSource;
  /** Of a run that started here not long ago; undefined when it is not traced. */
  idsOf(run: string): TraceIds | undefined;
  /** Sends what is left, for as long as `closeMs` at most. */
  close(): Promise<void>;
}

/** How telemetry is opened. */
export interface TelemetryOptions {
  /** Version of this program, for those who read the traces. */
  readonly version: string;
  /** Hears of a collector that cannot be reached. */
  readonly log: TelemetryLog;
  /** Milliseconds that the last spans may take to get out. @default 3000 */
  readonly closeMs?: number;
}

/** Runs whose ids are known, the newest: the end of a run is logged when its span is long gone. */
const MAX_REMEMBERED = 10_000;

/** Telemetry without traces: counts, and loads nothing. */
export function createTelemetry(): Telemetry {
  return assemble(new MetricBook(), undefined);
}

/**
 * Telemetry as the standard variables ask for it; nothing of OpenTelemetry is loaded unless they name a collector. A collector
 * that is down or slow costs spans, never time of a run.
 */
export async function openTelemetry(
  env: Environment,
  { version, log, closeMs = 3_000 }: TelemetryOptions,
): Promise<Telemetry> {
  const plan = readSdkPlan(env);
  if (plan === undefined) return createTelemetry();
  const { openSdk } = await import('./open-sdk.js');
  const book = new MetricBook();
  return assemble(book, (sdkBook) => openSdk({ plan, version, log, closeMs, book: sdkBook }));
}

function assemble(book: MetricBook, open: ((book: MetricBook) => OpenSdk) | undefined): Telemetry {
  const meters = new RunMeters(book);
  addProcessGauges(book);
  const sdk = open?.(book);
  const traced = new Map<string, TraceIds>();
  const sources = new Map<string, TraceSource>();
  const remember = (id: string, ids: TraceIds): void => {
    const [oldest] = traced.size < MAX_REMEMBERED ? [] : traced.keys();
    if (oldest !== undefined) traced.delete(oldest);
    traced.set(id, ids);
  };
  return {
    book,
    meters,
    trace: {
      contextOf: (token, call) => sources.get(token.slice(0, token.lastIndexOf('/')))?.contextOf(token, call) ?? {},
    },
    watch(run) {
      const meter = meters.watch(run.plan);
      const spans = sdk?.watch?.(run);
      sources.set(run.id, spans?.trace ?? passThrough(run.trace ?? {}));
      if (spans !== undefined) remember(run.id, spans.ids);
      return {
        event: spans === undefined ? (event) => meter.event(event) : both(meter, spans),
        close() {
          sources.delete(run.id);
          meter.close();
          spans?.close();
        },
      };
    },
    idsOf: (run) => traced.get(run),
    close: async () => sdk?.close(),
  };
}

function both(meter: RunWatch, spans: RunWatch): RunWatch['event'] {
  return (event) => {
    meter.event(event);
    spans.event(event);
  };
}
