import { catchError, defer, map, type Observable, takeUntil, throwError, timer } from 'rxjs';
import { z } from 'zod';
import { toolFailed } from '../adapters/failures.js';
import { EngineError, toEngineError } from '../errors.js';
import type { JsonObject } from '../json.js';
import type { AnyTool, ToolCall, ToolEvent } from './tool.js';

/** How a call is bounded. */
export interface CallBounds {
  /** Milliseconds for the whole call. @default the tool's own */
  readonly timeoutMs?: number;
}

/**
 * Calls a tool with arguments from outside: checks them, bounds the time, and names the tool in every failure.
 *
 * ```text
 * tool      --p--p--r|
 * result    --p--p--r|       (progress, progress, result)
 *
 * tool      --p--p--p--      (no result within its time)
 * result    --p--p--#        (TOOL_FAILED; the call is unsubscribed)
 * ```
 *
 * Errors: `TOOL_ARGUMENTS` for arguments that do not fit, `TOOL_FAILED` for everything that failed beyond the tool; others pass.
 */
export function callTool(
  tool: AnyTool,
  args: JsonObject,
  call: ToolCall<never>,
  { timeoutMs = tool.timeoutSeconds * 1000 }: CallBounds = {},
): Observable<ToolEvent> {
  return defer(() => tool.call(checkArguments(tool, args), call)).pipe(
    takeUntil(expiry(timeoutMs)),
    catchError((error: unknown) => throwError(() => named(tool, error))),
  );
}

function checkArguments(tool: AnyTool, args: JsonObject): never {
  const parsed = z.object({ ...tool.arguments }).safeParse(args);
  if (parsed.success) return parsed.data as never;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'arguments'}: ${message}`);
  throw new EngineError('TOOL_ARGUMENTS', `the arguments do not fit: ${problems.join('; ')}`);
}

/** Errors when the time of the whole call is up; `timeout` would be content with the first sign of life. */
function expiry(timeoutMs: number): Observable<never> {
  return timer(timeoutMs).pipe(
    map((): never => {
      throw toolFailed(`there was no result within ${timeoutMs / 1000} seconds`);
    }),
  );
}

/** RAGFlow's wording: the model and the reader see which tool it was. */
function named(tool: AnyTool, error: unknown): EngineError {
  const { code, message, retryable, details, node } = toEngineError(error, 'TOOL_FAILED');
  return new EngineError(code, `${tool.component} error: ${message}`, {
    retryable,
    details,
    cause: error,
    ...(node && { node }),
  });
}
