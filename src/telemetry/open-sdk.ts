/** OpenTelemetry's SDK, set up from its standard variables. Only ever imported dynamically: loading it takes a third of a second. */
import type * as http from 'node:http';
import {
  type Attributes,
  type ContextManager,
  context,
  DiagLogLevel,
  diag,
  type Meter,
  metrics,
  propagation,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { NodeSDK, type NodeSDKConfiguration, resources, tracing } from '@opentelemetry/sdk-node';
import type { Log } from '../logger.js';
import { within } from '../operators/within.js';
import type { Family, MetricRegistry } from './metric-registry.js';
import { RunSpans, type StartRoot } from './run-spans.js';
import type { WatchedRun } from './run-watch.js';

/** What is to be exported. */
export interface SdkPlan {
  readonly traces: boolean;
  readonly metrics: boolean;
  /** Whether traces go out as protobuf over HTTP, the default. */
  readonly isProtobuf: boolean;
}

/** An SDK at work. */
export interface OpenSdk {
  /** Undefined when no traces are exported. */
  readonly watch: ((run: WatchedRun) => RunSpans) | undefined;
  /** Sends what is left; gives up after `closeMs`. */
  close(): Promise<void>;
}

/** What the SDK is given beside the environment. */
export interface SdkOptions {
  readonly plan: SdkPlan;
  readonly version: string;
  readonly log: Pick<Log, 'warn'>;
  readonly registry: MetricRegistry;
  /** Whether spans of runs hold questions and answers. */
  readonly showsTexts: boolean;
  /** How long the last spans may take to get out, in milliseconds. */
  readonly closeMs: number;
}

/** Starts the SDK of this process; there can be one at a time. */
export function openSdk({ plan, version, log, registry, closeMs, showsTexts }: SdkOptions): OpenSdk {
  // One export at a time: the standard 2,048 spans are lost in a burst of a few runs.
  process.env.OTEL_BSP_MAX_QUEUE_SIZE ??= '16384';
  diag.setLogger(throttled(log), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const agents: http.Agent[] = [];
  const ids = new RunIds();
  const sdk = new NodeSDK({
    // Context is handed on by hand: a context manager would follow every promise of the process.
    contextManager: null as unknown as ContextManager,
    instrumentations: [],
    // What else can be found out, such as the command line, may hold secrets.
    resourceDetectors: [resources.envDetector],
    resource: resources.defaultResource().merge(resources.resourceFromAttributes(resourceOf(version))),
    idGenerator: ids,
    logRecordProcessors: [],
    ...tracesOf(plan, agents),
    ...(plan.metrics ? {} : { metricReaders: [] }),
  });
  sdk.start();
  if (plan.metrics) mirrorMetrics(registry, metrics.getMeter('runnel', version));
  const tracer = trace.getTracer('runnel', version);
  return {
    watch: plan.traces ? (run) => new RunSpans(tracer, rootsWith(tracer, ids), run, { showsTexts }) : undefined,
    close: () => close(sdk, agents, closeMs),
  };
}

function tracesOf({ traces, isProtobuf }: SdkPlan, agents: http.Agent[]): Partial<NodeSDKConfiguration> {
  if (!traces) return { spanProcessors: [] };
  // The SDK creates other exporters itself; the last request of those cannot be cut short.
  if (!isProtobuf) return {};
  return {
    traceExporter: new OTLPTraceExporter({
      httpAgentOptions: async (protocol) => {
        const { Agent } = protocol === 'http:' ? await import('node:http') : await import('node:https');
        const agent = new Agent({ keepAlive: true, maxSockets: 4 });
        agents.push(agent);
        return agent;
      },
    }),
  };
}

function resourceOf(version: string): Attributes {
  return { 'service.name': 'ragflow-agent', 'service.namespace': 'ragflow', 'service.version': version };
}

/** A run begins a trace under its own id, so that the one leads to the other. */
class RunIds {
  next: string | undefined = undefined;
  readonly #random = new tracing.RandomIdGenerator();

  generateTraceId(): string {
    const { next } = this;
    return next !== undefined && /^(?!0{32})[0-9a-f]{32}$/.test(next) ? next : this.#random.generateTraceId();
  }

  generateSpanId(): string {
    return this.#random.generateSpanId();
  }
}

function rootsWith(tracer: Tracer, ids: RunIds): StartRoot {
  return (name, attributes, parent, traceId) => {
    ids.next = traceId;
    try {
      const startTime = performance.timeOrigin + performance.now();
      return tracer.startSpan(name, { attributes, startTime }, parent);
    } finally {
      ids.next = undefined;
    }
  };
}

async function close(sdk: NodeSDK, agents: readonly http.Agent[], closeMs: number): Promise<void> {
  // A collector that cannot be reached is no reason to fail while everything else ends well.
  const shutdown = sdk.shutdown().catch(() => {});
  await within(closeMs, shutdown, undefined);
  for (const agent of agents) agent.destroy();
  for (const api of [trace, metrics, propagation, context, diag]) api.disable();
}

/** Exports a registry through an OpenTelemetry meter: counters and gauges at each collection, histograms value by value from now on. */
export function mirrorMetrics(registry: MetricRegistry, meter: Meter): void {
  registry.forEach((read) => {
    const family = read();
    const { name, help: description, type } = family;
    if (type === 'histogram') {
      const advice = { explicitBucketBoundaries: [...family.bounds] };
      const histogram = meter.createHistogram(name, { description, advice });
      registry.mirror(name, (value, labels) => histogram.record(value, labels));
    } else if (type === 'counter') {
      meter.createObservableCounter(name, { description }).addCallback(observe(read));
    } else {
      meter.createObservableGauge(name, { description }).addCallback(observe(read));
    }
  });
}

/** What `Meter` passes to a callback. */
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

/** Telemetry logs at most one problem a minute, with the number of those left out. */
const PAUSE_MS = 60_000;

type Write = (message: string, ...rest: unknown[]) => void;

/** Logs problems of the SDK, such as a collector that is down, without filling the log. */
export function throttled(log: Pick<Log, 'warn'>, now: () => number = Date.now) {
  let spokenAt = Number.NEGATIVE_INFINITY;
  let leftOut = 0;
  const write: Write = (message) => {
    if (now() - spokenAt < PAUSE_MS) {
      leftOut += 1;
      return;
    }
    log.warn({ telemetry: String(message).slice(0, 500), leftOut }, 'telemetry has a problem; runs are not affected');
    spokenAt = now();
    leftOut = 0;
  };
  const nothing: Write = () => {};
  return { error: write, warn: write, info: nothing, debug: nothing, verbose: nothing };
}
