/** RAGFlow's way of reading requests: every field that does not fit has a line of its own. */
import type { z } from 'zod';
import { EngineError } from '../../errors.js';
import { badArgument } from '../../hosting/refusals.js';
import { parseJson } from '../../json.js';
import { type DeclareRoute, type Dialect, route } from '../http/route.js';
import type { ServerParts } from '../server-parts.js';
import { pythonText, pythonType } from './python-text.js';

/** What RAGFlow calls a number, a list or an object of a type that it cannot use. */
export const unusable = (message: string): EngineError => new EngineError('ARGUMENT_UNUSABLE', message);

const MALFORMED = 'Malformed JSON syntax: Missing commas/brackets or invalid encoding';

/** For routes whose bodies are checked field by field before anything else. */
export const STRICT: Dialect = {
  noKey: () => new EngineError('UNAUTHENTICATED', "<Unauthorized '401: Unauthorized'>"),
  query: (schema, query) => read(schema, { ...query }),
  checkBody({ request }) {
    const type = request.type;
    if (type !== 'application/json')
      throw badArgument(`Unsupported content type: Expected application/json, got ${type.slice(0, 200) || 'None'}`);
  },
  parse: (text) => parsed(text, MALFORMED),
  body: (schema, value) => {
    if (!isObject(value)) throw badArgument(`Invalid request payload: expected object, got ${pythonType(value)}`);
    return read(schema, value);
  },
};

/** For routes where a body may be absent, and says little of what does not fit. */
export const LOOSE: Dialect = {
  ...STRICT,
  checkBody() {},
  parse: (text) => (text === '' ? {} : parsed(text, MALFORMED)),
  body: (schema, value) => {
    if (!isObject(value))
      throw unusable(`The body must be an object; a '${pythonType(value)}' object has no attribute 'get'.`);
    return read(schema, value);
  },
};

/** Declares a route in {@link STRICT}. */
export const strictRoute: DeclareRoute<ServerParts> = (address, spec) => route(address, { dialect: STRICT, ...spec });

/** Declares a route in {@link LOOSE}. */
export const looseRoute: DeclareRoute<ServerParts> = (address, spec) => route(address, { dialect: LOOSE, ...spec });

/** The lines of what does not fit a schema; undefined when all does. */
export function misfits(schema: z.ZodType, value: unknown): string | undefined {
  const result = schema.safeParse(value);
  return result.success ? undefined : linesOf(result.error, value);
}

function read<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw badArgument(linesOf(result.error, value));
}

/** Lines of a message at most. */
const MAX_LINES = 20;

function linesOf({ issues }: z.ZodError, value: unknown): string {
  const lines = issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') {
      const isFloat = issue.code === 'custom' && issue.params?.isFloat === true;
      return [line(issue.path, issue.message, valueAt(value, issue.path), isFloat)];
    }
    return issue.keys.map((key) => {
      const path = [...issue.path, key];
      return line(path, 'Extra inputs are not permitted', valueAt(value, path), false);
    });
  });
  return lines.slice(0, MAX_LINES).join('\n');
}

function line(path: readonly PropertyKey[], message: string, value: unknown, isFloat: boolean): string {
  const field = path.map(String).join('.');
  return `Field: <${field.slice(0, 500)}> - Message: <${message}> - Value: <${pythonText(value, isFloat)}>`;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const name of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as Record<PropertyKey, unknown>)[name];
  }
  return at;
}

function parsed(text: string, message: string): unknown {
  const value = parseJson(text);
  if (value !== undefined) return value ?? {};
  throw badArgument(message);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
