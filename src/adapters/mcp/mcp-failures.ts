/** Failures of an MCP server as messages for the model and for people, without secrets. */
import { EngineError } from '../../errors.js';
import { codeOf } from '../egress/failures.js';
import { quoteResponse, toolFailed } from '../failures.js';

/** The server that a failure is about, and what its message leaves out. */
export interface FailureContext {
  /** Name of the server. */
  readonly server: string;
  readonly timeoutSeconds: number;
  /** Texts that no message may repeat. */
  readonly secrets: readonly string[];
}

/**
 * An error of the client, the connection or the server as the error of a tool. Without `tool`: it failed to connect, or to
 * give its list.
 */
export function mcpFailure(
  thrown: unknown,
  { server, timeoutSeconds, secrets }: FailureContext,
  tool?: string,
): EngineError {
  const what = tool === undefined ? `MCP server "${server}"` : `Tool "${tool}" of MCP server "${server}"`;
  const status = statusOf(thrown);
  if (codeOf(thrown) === 'REQUEST_TIMEOUT')
    return toolFailed(`${what} gave no answer within ${timeoutSeconds} seconds.`);
  if (status === 401 || status === 403 || nameOf(thrown) === 'UnauthorizedError') {
    return toolFailed(`${what} refused the connection; its authentication settings may be wrong.`, { cause: thrown });
  }
  if (status === 429)
    return toolFailed(`${what} takes no more calls for the moment (status 429).`, { retryable: true });
  if (EngineError.is(thrown)) return toolFailed(`${what} cannot be used: ${thrown.message}`, { cause: thrown });
  if (status !== undefined) return toolFailed(`${what} answered with status ${status}.`, { retryable: status >= 500 });
  if (isLost(thrown)) return toolFailed(`${what} closed the connection before it answered.`, { cause: thrown });
  const why = quoteResponse(thrown instanceof Error ? thrown.message : String(thrown), secrets);
  return toolFailed(`${what} failed: ${why}`, { cause: thrown });
}

/**
 * Whether a request certainly did nothing because there is no such session, or no connection: a new session may repeat it.
 * Servers answer 404 by the specification when they do not know a session (any more), and many 400, but that may mean anything
 * else as well: only one that speaks of sessions counts.
 */
export function isUnknownSession(thrown: unknown): boolean {
  const status = statusOf(thrown);
  if (status === 400) return thrown instanceof Error && /session|initiali[sz]/i.test(thrown.message);
  if (status !== undefined) return status === 404;
  if (EngineError.is(thrown)) return (thrown.details as { reason?: unknown } | undefined)?.reason === 'ECONNREFUSED';
  return codeOf(thrown) === 'NOT_CONNECTED' || (thrown instanceof Error && thrown.message === 'Not connected');
}

/** The code that the protocol's library, or we, give to an answer that never came. */
function isLost(thrown: unknown): boolean {
  return codeOf(thrown) === 'CONNECTION_CLOSED' || (thrown instanceof Error && thrown.message === CONNECTION_LOST);
}

/** Stands for an answer whose stream ended without it. */
export const CONNECTION_LOST = 'the connection was closed before the answer came';

function nameOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.constructor.name : '';
}

/** The HTTP status of an error of the library; the older transport only writes it down. */
function statusOf(thrown: unknown): number | undefined {
  if (EngineError.is(thrown) || !(thrown instanceof Error)) return undefined;
  const { status, code } = thrown as Error & { readonly status?: unknown; readonly code?: unknown };
  const given = [status, code].find((one) => typeof one === 'number' && one >= 300 && one <= 599);
  if (typeof given === 'number') return given;
  const written = /\(HTTP (\d{3})\)/.exec(thrown.message)?.[1];
  return written === undefined ? undefined : Number(written);
}
