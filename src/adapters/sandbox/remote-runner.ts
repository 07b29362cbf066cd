/** Scripts at an executor service: the request, its answer, and the marked result in stdout. */
import { catchError, map, type Observable, throwError } from 'rxjs';
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import { isJsonObject, type Json, jsonExcess, parseJson } from '../../json.js';
import { invalidOption } from '../../operators/invalid-option.js';
import type { EgressClient, EgressResponse } from '../egress/egress-client.js';
import { artifactType, isArtifact, MAX_ARTIFACTS } from './artifact-rules.js';
import {
  CODE_LIMITS,
  CODE_STATUSES,
  type CodeArtifact,
  type CodeRequest,
  type CodeResult,
  type CodeRunner,
} from './code-runner.js';

export interface RemoteRunnerOptions {
  readonly http: EgressClient;
  /** Base URL of the service, set by the operator; `/run` is added. */
  readonly endpoint: string;
  /** Milliseconds that a script may run; the service has a limit of its own, too. 1 to 3,600,000. @default 10,000 */
  readonly timeoutMs?: number;
}

/** Milliseconds beside the script's own time: waiting for a container, starting it, sending files back. */
const GRACE_MS = 20_000;
/** Ten files of ten megabytes in Base64, and the rest. */
const MAX_ANSWER_BYTES = 160 * 1024 * 1024;

/**
 * Asks an executor service by its contract: `POST /run` with the source in Base64. One subscription is one request, which
 * is never sent again, since a script may have done something; unsubscribing closes its connection.
 *
 * @throws EngineError OPTION_INVALID.
 */
export function createRemoteRunner({ http, endpoint, timeoutMs = 10_000 }: RemoteRunnerOptions): CodeRunner {
  if (!(timeoutMs >= 1 && timeoutMs <= 3_600_000)) {
    throw invalidOption('createRemoteRunner', 'timeoutMs', '1 to 3600000', timeoutMs);
  }
  const base = baseOf(endpoint);
  return {
    run: (request) => post(http, base, request, Math.min(request.timeoutMs ?? timeoutMs, timeoutMs)),
    async close() {},
  };
}

function post(
  http: EgressClient,
  base: URL,
  { language, source, args, trace }: CodeRequest,
  timeoutMs: number,
): Observable<CodeResult> {
  const service = base.origin;
  return http
    .fetch({
      url: new URL('run', base).href,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code_b64: Buffer.from(source, 'utf8').toString('base64'), language, arguments: args }),
      timeoutMs: timeoutMs + GRACE_MS,
      maxBytes: MAX_ANSWER_BYTES,
      followRedirects: false,
      isFixedByOperator: true,
      ...trace,
    })
    .pipe(
      catchError((error: unknown) => throwError(() => unreachable(error, service))),
      map((response) => readExecutorAnswer(accepted(response, service), service)),
    );
}

/** The body, when the status says that it is an answer. */
function accepted(response: EgressResponse, service: string): string {
  if (response.status === 200) return response.text();
  const why = response.status === 422 ? 'it does not accept the request' : `it answered with status ${response.status}`;
  throw new EngineError('SANDBOX_FAILED', `The code executor at ${service} did not run the script: ${why}.`, {
    details: { status: response.status },
  });
}

/** Never retryable, even when the connection failed: the script may have run. */
function unreachable(error: unknown, service: string): EngineError {
  const why = error instanceof Error ? error.message : String(error);
  return new EngineError('SANDBOX_FAILED', `The code executor at ${service} gave no answer: ${why}`, { cause: error });
}

function baseOf(endpoint: string): URL {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw invalidOption('createRemoteRunner', 'endpoint', 'a URL with http or https', endpoint);
  }
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url;
}

// What an executor service answers, as far as it is relied on.

const answerShape = z.looseObject({
  status: z.enum(CODE_STATUSES),
  stdout: z.string().nullish(),
  stderr: z.string().nullish(),
  exit_code: z.number().nullish(),
  detail: z.string().nullish(),
  time_used_ms: z.number().nullish(),
  memory_used_kb: z.number().nullish(),
  resource_limit_type: z.enum(CODE_LIMITS).nullish(),
  unauthorized_access_type: z.string().nullish(),
  artifacts: z
    .array(z.looseObject({ name: z.string(), mime_type: z.string().nullish(), content_b64: z.string() }))
    .nullish(),
  result: z.looseObject({ present: z.boolean().nullish(), value: z.json().optional() }).nullish(),
});

type Answer = z.infer<typeof answerShape>;

/**
 * Reads the body of an answer to `POST /run`.
 *
 * @throws EngineError SANDBOX_FAILED for anything else.
 */
function readExecutorAnswer(text: string, service: string): CodeResult {
  const answer = parse(text, service);
  const { status, detail, resource_limit_type: limit, unauthorized_access_type: unauthorized } = answer;
  const { memory_used_kb: memoryUsedKb } = answer;
  const { stdout, result } = resultOf(answer);
  return {
    status,
    stdout,
    stderr: answer.stderr ?? '',
    exitCode: answer.exit_code ?? (status === 'success' ? 0 : -1),
    timeUsedMs: answer.time_used_ms ?? 0,
    artifacts: artifactsOf(answer),
    ...(detail ? { detail } : {}),
    ...(limit ? { limit } : {}),
    ...(unauthorized ? { unauthorized } : {}),
    ...(typeof memoryUsedKb === 'number' ? { memoryUsedKb } : {}),
    ...(result === undefined ? {} : { result }),
  };
}

function parse(text: string, service: string): Answer {
  const body = parseJson(text);
  if (body === undefined) {
    throw unusable(service, jsonExcess(text) === undefined ? 'it is not JSON' : `it ${jsonExcess(text)}`);
  }
  const read = answerShape.safeParse(body);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw unusable(service, `${issue?.path.join('.') || 'the body'} is not as it should be`);
}

/** The structured result; services that know of none leave it on a marked line of stdout. */
function resultOf({ stdout, result }: Answer): { stdout: string; result?: { value: Json } } {
  const text = stdout ?? '';
  if (result?.present === true) return { stdout: text, result: { value: (result.value ?? null) as Json } };
  return takeMarkedResult(text);
}

/** Files that may come back; others are passed over, as the service does itself. */
function artifactsOf({ artifacts }: Answer): CodeArtifact[] {
  return (artifacts ?? []).slice(0, MAX_ARTIFACTS).flatMap(({ name, content_b64: content }) => {
    const bytes = new Uint8Array(Buffer.from(content, 'base64'));
    // The name decides, never what the service calls it: a type is what browsers go by.
    const mimeType = artifactType(name);
    return mimeType !== undefined && isArtifact(name, bytes.byteLength) ? [{ name, mimeType, bytes }] : [];
  });
}

function unusable(service: string, problem: string): EngineError {
  return new EngineError('SANDBOX_FAILED', `The answer of the code executor at ${service} cannot be used: ${problem}.`);
}

const MARKER = '__RAGFLOW_RESULT__:';

/**
 * Takes the structured result out of stdout, where executors put it as a marked line: `{"present": true, "value": …}` in
 * Base64.
 *
 * The last valid line wins; marked lines that cannot be read stay in the text.
 */
function takeMarkedResult(stdout: string): { stdout: string; result?: { value: Json } } {
  if (!stdout.includes(MARKER)) return { stdout };
  const lines: string[] = [];
  let result: { value: Json } | undefined;
  for (const line of stdout.split('\n')) {
    const found = line.startsWith(MARKER) ? decode(line.slice(MARKER.length).trim()) : undefined;
    if (found === undefined) lines.push(line);
    else result = found;
  }
  return { stdout: lines.join('\n'), ...(result === undefined ? {} : { result }) };
}

function decode(payload: string): { value: Json } | undefined {
  const marked = parseJson(Buffer.from(payload, 'base64').toString('utf8'));
  return isJsonObject(marked) && marked.present === true ? { value: marked.value ?? null } : undefined;
}
