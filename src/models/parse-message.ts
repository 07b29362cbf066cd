/** Typed values out of a model's answer. */
import { EngineError } from '../errors.js';
import { type Json, parseJson, whyNotJson } from '../json.js';
import { invalidOption, requireObject, requireSchema } from '../operators/invalid-option.js';
import { pathOfIssue, type StandardSchema } from '../standard-schema.js';
import type { AssistantMessage } from './messages.js';

/** Where {@link parseMessage} finds the value. */
export interface ParseMessageOptions {
  /** The text of the answer, or the arguments of its first tool call. @default 'content' */
  readonly from?: 'content' | 'toolCall' | undefined;
  /** With `from: 'toolCall'`: the first call of this tool. @default the first call of any tool */
  readonly tool?: string | undefined;
  /** Names and positions with dots between them, such as `result.items.0`. @default the whole value */
  readonly path?: string | undefined;
}

/** Characters of an answer that an error quotes. */
const MAX_QUOTED = 200;

/** Problems that an error names. */
const MAX_ISSUES = 5;

/** Begins and ends a block of code in Markdown. */
const FENCE = '```';

/** Blocks of an answer that are tried. */
const MAX_BLOCKS = 100;

/**
 * A function that reads a value from a model's message and checks it: `parseMessage(z.object({ title: z.string() }))(message).title`.
 *
 * Content must be JSON, alone or in a fenced block of Markdown; of the first hundred blocks the first that is JSON counts. The function throws
 * `OUTPUT_INVALID`, which says at which path, what was expected and what was received.
 * @throws EngineError `OPTION_INVALID` for an empty name in `path`; and when it is called, for a schema that only checks asynchronously.
 */
export function parseMessage<T>(
  schema: StandardSchema<unknown, T>,
  options: ParseMessageOptions = {},
): (message: Pick<AssistantMessage, 'content' | 'toolCalls'>) => T {
  if (schema === undefined)
    throw invalidOption('parseMessage', 'schema', 'a Standard Schema, such as z.object({ … })', schema);
  requireSchema('parseMessage', 'schema', schema);
  requireObject('parseMessage', 'options', options, 'an object');
  const { from = 'content', tool, path = '' } = options;
  const names = path === '' ? [] : path.split('.');
  if (names.includes('')) {
    throw new EngineError(
      'OPTION_INVALID',
      `parseMessage: path must be names with single dots between them; received ${JSON.stringify(path)}.`,
    );
  }
  return (message) => {
    const { value, where } = from === 'content' ? contentOf(message) : argumentsOf(message, tool);
    return check(schema, valueAt(value, names, where), path, where);
  };
}

/** A value of an answer, and the name of its place in errors. */
interface Found {
  readonly value: Json;
  readonly where: string;
}

function contentOf({ content }: Pick<AssistantMessage, 'content'>): Found {
  const where = 'The content of the answer';
  const whole = parseJson(content.trim());
  if (whole !== undefined) return { value: whole, where };
  for (const block of fencedBlocks(content)) {
    const value = parseJson(block.trim());
    if (value !== undefined) return { value, where };
  }
  throw invalid(`${where} ${whyNotJson(content.trim())}`, content, '');
}

/** The texts between fences; what stands behind the first fence in its line is the language. */
function* fencedBlocks(text: string): Generator<string> {
  let open = text.indexOf(FENCE);
  for (let blocks = 0; open >= 0 && blocks < MAX_BLOCKS; blocks += 1) {
    const start = text.indexOf('\n', open);
    const end = start < 0 ? -1 : text.indexOf(FENCE, start);
    if (end < 0) return;
    yield text.slice(start, end);
    open = text.indexOf(FENCE, end + FENCE.length);
  }
}

function argumentsOf({ toolCalls = [] }: Pick<AssistantMessage, 'toolCalls'>, tool: string | undefined): Found {
  const call = toolCalls.find(({ name }) => tool === undefined || name === tool);
  if (call === undefined) {
    const wanted = tool === undefined ? 'no tool call' : `no call of the tool "${tool}"`;
    throw invalid(`The answer has ${wanted}`, toolCalls.map(({ name }) => name).join(', '), '');
  }
  const where = `The arguments of the call of "${call.name}"`;
  const text = call.arguments.trim() || '{}';
  const value = parseJson(text);
  if (value === undefined) throw invalid(`${where} ${whyNotJson(text).replace(/^is /, 'are ')}`, text, '');
  return { value, where };
}

/** The value at a path; own properties only. */
function valueAt(value: Json, names: readonly string[], where: string): Json {
  let found: Json = value;
  names.forEach((name, at) => {
    const next = memberOf(found, name);
    if (next === undefined) {
      const path = names.slice(0, at + 1).join('.');
      throw invalid(`${where} has nothing at "${path}"`, JSON.stringify(found), path);
    }
    found = next;
  });
  return found;
}

function memberOf(value: Json, name: string): Json | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return /^(?:0|[1-9]\d*)$/.test(name) ? value[Number(name)] : undefined;
  return Object.hasOwn(value, name) ? (value as Readonly<Record<string, Json>>)[name] : undefined;
}

function check<T>(schema: StandardSchema<unknown, T>, value: Json, path: string, where: string): T {
  const result = schema['~standard'].validate(value);
  if (result instanceof Promise) {
    // Its failure would end the process otherwise.
    result.catch(() => {});
    throw new EngineError('OPTION_INVALID', 'parseMessage: the schema checks asynchronously; give one that does not.');
  }
  if (result.issues === undefined) return result.value;
  const issues = result.issues.map((issue) => ({
    path: [path, ...pathOfIssue(issue)].filter((name) => name !== '').join('.'),
    message: issue.message,
  }));
  const named = issues
    .slice(0, MAX_ISSUES)
    .map((issue) => (issue.path === '' ? issue.message : `${issue.path}: ${issue.message}`));
  throw invalid(`${where} does not fit: ${named.join('; ')}`, JSON.stringify(value), path, issues);
}

function invalid(what: string, received: string, path: string, issues: readonly object[] = []): EngineError {
  const quoted = received.length > MAX_QUOTED ? `${received.slice(0, MAX_QUOTED)}…` : received;
  const shown = received === '' ? 'nothing' : quoted;
  return new EngineError(
    'OUTPUT_INVALID',
    `${what.replace(/\.$/, '')}. Received: ${shown}. Ask the model again, or change what it is asked for.`,
    {
      details: { path, received: shown, issues: issues.slice(0, MAX_ISSUES) },
    },
  );
}
