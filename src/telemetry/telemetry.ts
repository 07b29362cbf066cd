/** Observes the runs of a process: metrics always, traces where a collector is configured. */

import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { Log } from '../logger.js';
import { Newest } from '../newest.js';
import { requireObject } from '../operators/invalid-option.js';
import { passThrough, type TraceSource } from '../trace-context.js';
import { createGraphMeters, type GraphMeters } from './graph-meters.js';
import { MetricRegistry } from './metric-registry.js';
import type { OpenSdk, SdkPlan } from './open-sdk.js';
import { createRunMeters, type RunMeters } from './run-meters.js';
import type { RunWatcher } from './run-watch.js';

/** Where a line of the log belongs in a trace. */
export interface TraceIds {
  readonly trace_id: string;
  readonly span_id: string;
}

/** See the head of this file. */
export interface Telemetry extends RunWatcher {
  readonly registry: MetricRegistry;
  readonly meters: RunMeters;
  readonly graphs: GraphMeters;
  /** Where the activations of all watched runs stand in their traces; without a collector, what their callers sent. */
  readonly trace: TraceSource;
  /** Of a run that started here not long ago; undefined when it is not traced. */
  idsOf(run: string): TraceIds | undefined;
  /** Sends what is left, for as long as `closeMs` at most. */
  close(): Promise<void>;
}

/** How telemetry is opened. */
export interface TelemetryOptions {
  /** Version of this program, an attribute of all traces. */
  readonly version: string;
  /** Receives warnings, such as that the collector cannot be reached. */
  readonly log: Pick<Log, 'warn'>;
  /** Milliseconds that the last spans may take to get out. @default 3000 */
  readonly closeMs?: number;
  /** Whether spans of runs hold questions and answers. @default false */
  readonly showsTexts?: boolean;
}

/** Runs whose ids are known, the newest: the end of a run is logged when its span is long gone. */
const MAX_REMEMBERED = 10_000;

/** Telemetry without traces: counts, and loads nothing. */
export function createTelemetry(): Telemetry {
  return assemble(new MetricRegistry(), undefined);
}

/**
 * Telemetry as the standard variables ask for it; nothing of OpenTelemetry is loaded unless they name a collector. A collector
 * that is down or slow costs spans, never time of a run.
 */
export async function openTelemetry(env: Environment, options: TelemetryOptions): Promise<Telemetry> {
  requireObject('openTelemetry', 'env', env, 'the environment, such as process.env');
  requireObject('openTelemetry', 'options', options, 'an object with "version" and "log"');
  const { version, log, closeMs = 3_000, showsTexts = false } = options;
  const plan = readSdkPlan(env);
  if (plan === undefined) return createTelemetry();
  const { openSdk } = await import('./open-sdk.js');
  const registry = new MetricRegistry();
  return assemble(registry, (sdkRegistry) =>
    openSdk({ plan, version, log, closeMs, showsTexts, registry: sdkRegistry }),
  );
}

function assemble(registry: MetricRegistry, open: ((registry: MetricRegistry) => OpenSdk) | undefined): Telemetry {
  const meters = createRunMeters(registry);
  const graphs = createGraphMeters(registry);
  addProcessGauges(registry);
  const sdk = open?.(registry);
  const traced = new Newest<TraceIds>({ maxCount: MAX_REMEMBERED });
  const sources = new Map<string, TraceSource>();
  return {
    registry,
    meters,
    graphs,
    trace: {
      contextOf: (token, call) => sources.get(token.slice(0, token.lastIndexOf('/')))?.contextOf(token, call) ?? {},
    },
    watch(run) {
      const meter = meters.watch(run.plan);
      const spans = sdk?.watch?.(run);
      sources.set(run.id, spans?.trace ?? passThrough(run.trace ?? {}));
      if (spans !== undefined) traced.put(run.id, spans.ids);
      return {
        event(event) {
          meter.event(event);
          spans?.event(event);
        },
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

/** The environment of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What the standard variables ask to export, read without loading anything; undefined for nothing. */
export function readSdkPlan(env: Environment): SdkPlan | undefined {
  if (filled(env.OTEL_SDK_DISABLED).toLowerCase() === 'true') return undefined;
  const wants = (kind: 'TRACES' | 'METRICS'): boolean => {
    const hasEndpoint = filled(env.OTEL_EXPORTER_OTLP_ENDPOINT) || filled(env[`OTEL_EXPORTER_OTLP_${kind}_ENDPOINT`]);
    return hasEndpoint !== '' && filled(env[`OTEL_${kind}_EXPORTER`]).toLowerCase() !== 'none';
  };
  const [traces, metrics] = [wants('TRACES'), wants('METRICS')];
  if (!traces && !metrics) return undefined;
  const protocol = filled(env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL) || filled(env.OTEL_EXPORTER_OTLP_PROTOCOL);
  const exporter = filled(env.OTEL_TRACES_EXPORTER);
  const isProtobuf = (protocol === '' || protocol === 'http/protobuf') && (exporter === '' || exporter === 'otlp');
  return { traces, metrics, isProtobuf };
}

function filled(value: string | undefined): string {
  return value?.trim() ?? '';
}

/** How often the event loop is looked at, in milliseconds. */
const RESOLUTION_MS = 20;

/** Adds what a process knows of itself. The delay of the event loop is measured from the first look on. */
export function addProcessGauges(registry: MetricRegistry): void {
  let delays: IntervalHistogram | undefined;
  registry.gauge(
    'runnel_event_loop_delay_seconds',
    'How late timers were since the last look: the median, the 99th percentile, the worst.',
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
  registry.gauge('process_resident_memory_bytes', 'Memory of this process.', () => process.memoryUsage.rss());
}

/** The same log, whose lines about a traced run (its id is in their field `run`) carry `trace_id` and `span_id`. */
export function withTraceIds(log: Log, idsOf: (run: string) => TraceIds | undefined): Log {
  const identified = (fields: object): object => {
    const run = 'run' in fields ? fields.run : undefined;
    const ids = typeof run === 'string' ? idsOf(run) : undefined;
    return ids === undefined ? fields : { ...fields, ...ids };
  };
  return {
    info: (fields, message) => log.info(identified(fields), message),
    warn: (fields, message) => log.warn(identified(fields), message),
    error: (fields, message) => log.error(identified(fields), message),
  };
}
