/** Calling tools, and tools as functions of models. */

import { catchError, defer, map, type Observable, takeUntil, throwError, timer } from 'rxjs';
import { z } from 'zod';
import { toolFailed } from '../adapters/failures.js';
import { EngineError, toEngineError } from '../errors.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { ToolDefinition } from '../models/chat-model.js';
import { requireMethods, requireObject } from '../operators/invalid-option.js';
import type { AnyTool, Shape, ToolCall, ToolEvent } from './tool.js';

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
 * Errors: `TOOL_ARGUMENTS` for arguments that do not fit, `TOOL_FAILED` for everything that failed beyond the tool; others
 * pass.
 */
export function callTool(
  tool: AnyTool,
  args: JsonObject,
  call: ToolCall<never>,
  bounds: CallBounds = {},
): Observable<ToolEvent> {
  requireMethods('callTool', 'tool', tool, ['call'], 'a tool of the library');
  requireObject('callTool', 'bounds', bounds);
  const { timeoutMs = tool.timeoutSeconds * 1000 } = bounds;
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

/** Errors when the time of the whole call is up; the operator `timeout` would only bound the first event. */
function expiry(timeoutMs: number): Observable<never> {
  return timer(timeoutMs).pipe(
    map((): never => {
      throw toolFailed(`there was no result within ${timeoutMs / 1000} seconds`);
    }),
  );
}

/** RAGFlow's wording: it names the tool for the model and the reader. */
function named(tool: AnyTool, error: unknown): EngineError {
  const { code, message, retryable, details, node } = toEngineError(error, 'TOOL_FAILED');
  return new EngineError(code, `${tool.component} error: ${message}`, {
    retryable,
    details,
    cause: error,
    ...(node && { node }),
  });
}

/** How a tool is shown to one model. */
export interface FunctionOptions {
  /** Its index among the tools of an Agent, appended to the name so that two of a kind differ. @default none */
  readonly index?: number;
  /** In place of the tool's own, where a document says so. */
  readonly name?: string;
  readonly description?: string;
}

/** Longest function name that providers take. */
const MAX_NAME = 64;

/** A tool as a function that a model may call. */
export function definitionOf(tool: AnyTool, { index, name, description }: FunctionOptions = {}): ToolDefinition {
  const own = [tool.summary, tool.advice].filter((part) => part !== undefined && part !== '').join(' ');
  return {
    name: functionName(name ?? tool.name, index),
    description: description ?? own,
    parameters: parametersSchema(tool.arguments as Shape),
  };
}

/** A name that every provider takes: letters, digits, `_` and `-`, with the index behind it. */
export function functionName(name: string, index?: number): string {
  const suffix = index === undefined ? '' : `_${index}`;
  const clean = name
    .trim()
    .replace(/\s+/g, '_')
    .replace(/[^A-Za-z0-9_-]/g, '');
  const started = /^[A-Za-z_]/.test(clean) ? clean : `tool_${clean}`;
  return `${started.slice(0, MAX_NAME - suffix.length)}${suffix}`;
}

/** Function names that no model mistakes for others: one that is taken gets a number. @param names as servers and users wrote them */
export function freeNames(names: readonly string[], taken: Iterable<string>): readonly string[] {
  const used = new Set(taken);
  return names.map((given, at) => {
    const plain = functionName(given);
    const name = used.has(plain) ? functionName(given, at) : plain;
    used.add(name);
    return name;
  });
}

/** The JSON schema of named fields; a field is required when it has no default. */
export function parametersSchema(shape: Shape): JsonObject {
  const schema = z.toJSONSchema(z.object({ ...shape }), { io: 'input', unrepresentable: 'any' }) as Json;
  if (!isJsonObject(schema)) return { type: 'object', properties: {} };
  const { $schema: _, additionalProperties: __, ...rest } = schema;
  return { required: [], ...rest };
}
