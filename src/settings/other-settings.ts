/** Rows of the table of settings that no part of the engine reads: what tools, the command line and telemetry take. */
import { flag, optional, type Setting } from './setting.js';

/** The variables that tools read, all of them: a tool sees nothing else of the environment. */
export const tools = {
  tavily: keyOf('TAVILY_API_KEY', 'TavilySearch and TavilyExtract'),
  querit: keyOf('QUERIT_API_KEY', 'QueritSearch and QueritContents'),
  serpApi: keyOf('SERPAPI_API_KEY', 'Google (SerpApi)'),
  bgpt: keyOf('BGPT_API_KEY', 'BGPT'),
  deepl: keyOf('DEEPL_AUTH_KEY', 'DeepL'),
  jin10: keyOf('JIN10_SECRET_KEY', 'Jin10'),
  keenable: optional('KEENABLE_API_URL', 'where KeenableSearch asks; https, or http on this machine', {
    shown: 'https://api.keenable.ai',
  }),
};

/** How the command line reaches a server. */
export const client = {
  url: optional('RUNNEL_URL', 'address of the server that `runnel trace` asks', {
    shown: 'this machine, at RUNNEL_HOST and RUNNEL_PORT',
  }),
  apiKey: optional('RUNNEL_API_KEY', 'key that `runnel trace` sends', { isSecret: true }),
};

/** Standard variables of OpenTelemetry, whose SDK reads them; `src/telemetry/telemetry.ts` decides from them whether to load it. */
export const telemetry = {
  endpoint: optional(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'OpenTelemetry collector for traces and metrics, such as http://localhost:4318; unset: nothing is loaded or sent. _TRACES_ENDPOINT and _METRICS_ENDPOINT choose one alone',
  ),
  serviceName: optional('OTEL_SERVICE_NAME', 'name of this service in traces', { shown: 'ragflow-agent' }),
  sampler: optional(
    'OTEL_TRACES_SAMPLER',
    'which runs are traced; parentbased_traceidratio with OTEL_TRACES_SAMPLER_ARG=0.1 takes every tenth',
    { shown: 'parentbased_always_on' },
  ),
  texts: flag(
    'RUNNEL_TRACE_TEXTS',
    'spans of runs hold the question and the answer (input.value, output.value), for Langfuse and others; who reads the traces reads them',
  ),
  propagators: optional(
    'OTEL_PROPAGATORS',
    'what outgoing requests carry; without baggage they name neither tenant nor session',
    { shown: 'tracecontext,baggage' },
  ),
};

/** A key for the nodes of some tools. */
function keyOf(name: string, owners: string): Setting<string | undefined> {
  return optional(name, `key of ${owners}, for nodes that set none`, { isSecret: true });
}
