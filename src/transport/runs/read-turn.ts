/** Reading a turn from a request. */
import type { ParsedUrlQuery } from 'node:querystring';
import { z } from 'zod';
import { readTraceContext, type TraceContext } from '../../graph/trace-context.js';
import { checkId } from '../../hosting/ids.js';
import type { TurnRequest } from '../../hosting/start-command.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { queryText, readInput } from '../read-input.js';
import { isTruthy } from '../truth.js';

const object = z.custom<JsonObject>(isJsonObject, 'expected an object');
const text = z.union([z.string(), z.number().transform(String)], { error: 'expected a text' });
const question = z.string({ error: 'expected a text' }).nullish();
/** Anything goes: it came from JSON. */
const json = z.custom<Json>().optional();

/** Bodies of run requests; what clients send as null counts as absent. */
const turnSchema = z.looseObject({
  query: question,
  question: question,
  user_input: question,
  message: question,
  inputs: object.nullish(),
  files: z.array(z.custom<Json>()).nullish(),
  session_id: text.nullish(),
  user_id: text.nullish(),
  name: text.nullish(),
  version: text.nullish(),
  release: json,
  resume_from: text.nullish(),
  migrate: json,
  return_trace: json,
  detach: json,
  stream: json,
  chat_template_kwargs: object.nullish(),
  custom_header: object.nullish(),
});

/**
 * Reads a turn from a body, and from the query of the URL where the body is silent. The trace context is that of `headers`, which
 * are given only for callers whose traces this server may become a part of, else of the headers for tools.
 *
 * @throws EngineError BAD_REQUEST.
 */
export function readTurn(
  body: unknown,
  urlQuery: ParsedUrlQuery = {},
  headers: Readonly<Record<string, unknown>> = {},
): TurnRequest {
  const given = readInput(turnSchema, body ?? {});
  const own = (name: 'session_id' | 'version' | 'resume_from' | 'user_id' | 'name') =>
    filled(given[name]) ?? queryText(urlQuery, name);
  const sessionId = own('session_id');
  const resumeFrom = own('resume_from');
  const kwargs = given.chat_template_kwargs;
  return {
    query: firstFilled([
      given.query,
      given.question,
      given.user_input,
      given.message,
      queryText(urlQuery, 'user_input'),
    ]),
    inputs: given.inputs ?? {},
    files: (given.files ?? []).flat(),
    ...optional('sessionId', sessionId === undefined ? undefined : checkId('session_id', sessionId)),
    ...optional('userId', own('user_id')),
    ...optional('name', own('name')),
    ...optional('version', own('version')),
    isReleased: isTruthy(given.release ?? queryText(urlQuery, 'release')),
    ...optional('resumeFrom', resumeFrom === undefined ? undefined : checkId('resume_from', resumeFrom)),
    migrates: isTruthy(given.migrate),
    answersForm: false,
    returnsTrace: isTruthy(given.return_trace),
    detached: isTruthy(given.detach),
    streams: isTruthy(given.stream),
    variables: kwargs === undefined || kwargs === null ? {} : { 'sys.chat_template_kwargs': kwargs },
    headers: given.custom_header ?? {},
    trace: traceOf(headers, given.custom_header ?? {}),
    history: [],
  };
}

function traceOf(headers: Readonly<Record<string, unknown>>, custom: JsonObject): TraceContext {
  const trace = readTraceContext(headers);
  return trace.traceparent === undefined ? { ...trace, ...readTraceContext(custom) } : trace;
}

function filled(value: string | null | undefined): string | undefined {
  return value === null || value === '' ? undefined : value;
}

function firstFilled(values: readonly (string | null | undefined)[]): string {
  return values.find((value) => value !== undefined && value !== null && value !== '') ?? '';
}

/** A property only when there is a value; `exactOptionalPropertyTypes` tells absent from undefined. */
function optional<K extends string>(key: K, value: string | undefined): { [P in K]?: string } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]: string });
}
