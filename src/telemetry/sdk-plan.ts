/** What the standard variables ask for, read without loading anything. */

/** The environment of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What is to be exported. */
export interface SdkPlan {
  readonly traces: boolean;
  readonly metrics: boolean;
  /** Whether traces go out as protobuf over HTTP, the default. */
  readonly isProtobuf: boolean;
}

/** The standard variables that Runnel looks at itself; the SDK reads its own beside them. */
export const TELEMETRY_SETTINGS = [
  {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    default: 'unset',
    meaning:
      'OpenTelemetry collector for traces and metrics, such as http://localhost:4318; unset: nothing is loaded or sent. _TRACES_ENDPOINT and _METRICS_ENDPOINT choose one alone',
  },
  { name: 'OTEL_SERVICE_NAME', default: 'ragflow-agent', meaning: 'name of this service in traces' },
  {
    name: 'OTEL_TRACES_SAMPLER',
    default: 'parentbased_always_on',
    meaning: 'which runs are traced; parentbased_traceidratio with OTEL_TRACES_SAMPLER_ARG=0.1 takes every tenth',
  },
  {
    name: 'OTEL_PROPAGATORS',
    default: 'tracecontext,baggage',
    meaning: 'what outgoing requests carry; without baggage they name neither tenant nor session',
  },
] as const;

/** Undefined when nothing is to be exported. */
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
