/** What an executor service answers, as far as it is relied on. */
import { z } from 'zod';
import { EngineError } from '../../../errors.js';
import type { Json } from '../../../json.js';
import { artifactType, isArtifact, MAX_ARTIFACTS } from '../artifact-rules.js';
import type { CodeArtifact, CodeResult } from '../code-runner.js';
import { isTooDeep } from '../json-depth.js';
import { takeMarkedResult } from './result-marker.js';

const STATUSES = [
  'success',
  'program_error',
  'resource_limit_exceeded',
  'unauthorized_access',
  'program_runner_error',
] as const;

const answerShape = z.looseObject({
  status: z.enum(STATUSES),
  stdout: z.string().nullish(),
  stderr: z.string().nullish(),
  exit_code: z.number().nullish(),
  detail: z.string().nullish(),
  time_used_ms: z.number().nullish(),
  memory_used_kb: z.number().nullish(),
  resource_limit_type: z.enum(['time', 'memory', 'output']).nullish(),
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
export function readExecutorAnswer(text: string, service: string): CodeResult {
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
  if (isTooDeep(text)) throw unusable(service, 'it is nested too deep');
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw unusable(service, 'it is not JSON');
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
