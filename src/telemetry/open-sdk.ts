/** OpenTelemetry's SDK, set up from its standard variables. Only ever imported dynamically: loading it takes a third of a second. */
import type * as http from 'node:http';
import {
  type Attributes,
  type ContextManager,
  context,
  DiagLogLevel,
  diag,
  metrics,
  propagation,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { NodeSDK, type NodeSDKConfiguration, resources, tracing } from '@opentelemetry/sdk-node';
import type { MetricBook } from './metric-book.js';
import { mirrorMetrics } from './mirror-metrics.js';
import { RunSpans, type StartRoot } from './run-spans.js';
import type { WatchedRun } from './run-watch.js';
import type { SdkPlan } from './sdk-plan.js';
import { type TelemetryLog, throttled } from './telemetry-log.js';

/** An SDK at work. */
export interface OpenSdk {
  /** Undefined when no traces are exported. */
  readonly watch: ((run: WatchedRun) => RunSpans) | undefined;
  /** Sends what is left; gives up after `closeMs`. */
  close(): Promise<void>;
}

/** What the SDK is told beside the environment. */
export interface SdkOptions {
  readonly plan: SdkPlan;
  readonly version: string;
  readonly log: TelemetryLog;
  readonly book: MetricBook;
  /** How long the last spans may take to get out, in milliseconds. */
  readonly closeMs: number;
}

/** Starts the SDK of this process; there can be one at a time. */
export function openSdk({ plan, version, log, book, closeMs }: SdkOptions): OpenSdk {
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
  if (plan.metrics) mirrorMetrics(book, metrics.getMeter('runnel', version));
  const tracer = trace.getTracer('runnel', version);
  return {
    watch: plan.traces ? (run) => new RunSpans(tracer, rootsWith(tracer, ids), run) : undefined,
    close: () => close(sdk, agents, closeMs),
  };
}

function tracesOf({ traces, isProtobuf }: SdkPlan, agents: http.Agent[]): Partial<NodeSDKConfiguration> {
  if (!traces) return { spanProcessors: [] };
  // The SDK makes the others by itself, but then nobody can hurry their last request.
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
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, closeMs);
  });
  // A collector that cannot be reached is no reason to fail while everything else ends well.
  await Promise.race([sdk.shutdown().catch(() => {}), late]);
  clearTimeout(timer);
  for (const agent of agents) agent.destroy();
  for (const api of [trace, metrics, propagation, context, diag]) api.disable();
}
