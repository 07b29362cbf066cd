/** Runs code at an executor service of the operator's. */
import { catchError, map, type Observable, throwError } from 'rxjs';
import { EngineError } from '../../../errors.js';
import { invalidOption } from '../../../operators/invalid-option.js';
import type { EgressClient, EgressResponse } from '../../egress/egress-client.js';
import type { CodeRequest, CodeResult, CodeRunner } from '../code-runner.js';
import { readExecutorAnswer } from './executor-answer.js';

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
 * Asks an executor service by its contract: `POST /run` with the source in Base64. One subscription is one request, which is never
 * sent again, since a script may have done something; unsubscribing closes its connection.
 *
 * @throws EngineError OPTION_INVALID.
 */
export function createRemoteRunner({ http, endpoint, timeoutMs = 10_000 }: RemoteRunnerOptions): CodeRunner {
  if (!(timeoutMs >= 1 && timeoutMs <= 3_600_000)) {
    throw invalidOption('createRemoteRunner', 'timeoutMs', '1 to 3600000', timeoutMs);
  }
  const base = baseOf(endpoint);
  const service = base.origin;
  return {
    run: (request) => post(http, base, request, Math.min(request.timeoutMs ?? timeoutMs, timeoutMs), service),
    async close() {},
  };
}

function post(
  http: EgressClient,
  base: URL,
  { language, source, args, trace }: CodeRequest,
  timeoutMs: number,
  service: string,
): Observable<CodeResult> {
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

/** Never retryable, whatever the connection says: nobody knows whether the script ran. */
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
