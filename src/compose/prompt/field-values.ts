/** The values that a prompt is given: own fields alone, as JSON. */
import { EngineError } from '../../errors.js';
import { type Json, MAX_JSON_DEPTH } from '../../json.js';
import type { ChatMessage } from '../../models/messages.js';

/** Values that a field may hold in all, at any depth. */
const MAX_VALUES = 1_000_000;

/** Names that a message lists. */
const MAX_NAMED = 20;

/** The value of an own field; undefined when there is none. */
export function ownField(fields: unknown, name: string): unknown {
  if (typeof fields !== 'object' || fields === null || !Object.hasOwn(fields, name)) return undefined;
  return (fields as Record<string, unknown>)[name];
}

/** The fields that there are, for messages. */
export function fieldsThere(fields: unknown): string {
  if (typeof fields !== 'object' || fields === null) return `received ${describe(fields)} in place of fields`;
  const names = Object.keys(fields);
  if (names.length === 0) return 'there are no fields';
  return `there are: ${names.slice(0, MAX_NAMED).join(', ')}${names.length > MAX_NAMED ? ' …' : ''}`;
}

/**
 * A value as JSON: dates and URLs become texts, bigints too; lists and plain objects are copied with their own values.
 *
 * @throws EngineError TEMPLATE_FAILED for what a text cannot show (functions, maps, objects of classes, numbers that are none), for more than 200
 * levels, and for more than 1,000,000 values.
 */
export function jsonOf(name: string, value: unknown): Json {
  let count = 0;
  const copy = (source: unknown, depth: number): Json => {
    count += 1;
    if (count > MAX_VALUES) throw unfit(name, `more than ${MAX_VALUES} values`);
    if (source === null || source === undefined) return null;
    if (typeof source === 'string' || typeof source === 'boolean') return source;
    if (typeof source === 'number' && Number.isFinite(source)) return source;
    if (typeof source === 'bigint') return String(source);
    if (source instanceof URL) return source.href;
    if (source instanceof Date && !Number.isNaN(source.getTime())) return source.toISOString();
    if (typeof source !== 'object') throw unfit(name, describe(source));
    if (depth >= MAX_JSON_DEPTH) throw unfit(name, `a value nested deeper than ${MAX_JSON_DEPTH} levels`);
    if (Array.isArray(source)) return source.map((item: unknown) => copy(item, depth + 1));
    if (!isPlain(source)) throw unfit(name, describe(source));
    const entries = Object.entries(source).filter(([, item]) => item !== undefined);
    return Object.fromEntries(entries.map(([key, item]) => [key, copy(item, depth + 1)]));
  };
  return copy(value, 0);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function unfit(name: string, what: string): EngineError {
  const message = `The field "${name}" holds ${what}, which a text cannot show. Give a text, a number, a list or a plain object.`;
  return new EngineError('TEMPLATE_FAILED', message);
}

const ROLES: ReadonlySet<unknown> = new Set(['system', 'user', 'assistant', 'tool']);

/**
 * A list of messages that a placeholder was given.
 *
 * @throws EngineError PLACEHOLDER_INVALID for anything else, with what was received.
 */
export function messagesOf(prompt: string, name: string, value: unknown): readonly ChatMessage[] {
  if (!Array.isArray(value)) {
    const hint = problemOf(value) === undefined ? '; put the message into a list' : '';
    throw invalidPlaceholder(prompt, name, `received ${describe(value)}${hint}`);
  }
  for (const [index, message] of value.entries()) {
    const problem = problemOf(message);
    if (problem !== undefined) throw invalidPlaceholder(prompt, name, `item ${index} is ${problem}`);
  }
  return value as readonly ChatMessage[];
}

/** Why a value is no message; undefined when it is one. */
function problemOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return describe(value);
  const role = ownField(value, 'role');
  if (!ROLES.has(role)) return `an object with the role ${describe(role)}`;
  const content = ownField(value, 'content');
  const mayHaveParts = role === 'system' || role === 'user';
  if (typeof content !== 'string' && !(mayHaveParts && Array.isArray(content) && content.every(isPart))) {
    return `a message of the role "${String(role)}" whose content is ${describe(content)}`;
  }
  const call = ownField(value, 'toolCallId');
  return role === 'tool' && typeof call !== 'string'
    ? `a message of a tool whose toolCallId is ${describe(call)}`
    : undefined;
}

function isPart(value: unknown): boolean {
  return typeof ownField(value, 'type') === 'string';
}

function invalidPlaceholder(prompt: string, name: string, what: string): EngineError {
  return new EngineError(
    'PLACEHOLDER_INVALID',
    `Prompt "${prompt}" needs a list of messages for the placeholder "${name}", but ${what}.`,
    { details: { placeholder: name } },
  );
}

/** Longest text that a message quotes. */
const MAX_QUOTED = 40;

/** What a value is, in a few words. */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === 'string') {
    return `the text ${JSON.stringify(value.length > MAX_QUOTED ? `${value.slice(0, MAX_QUOTED)}…` : value)}`;
  }
  if (typeof value === 'number' || typeof value === 'boolean') return `the ${typeof value} ${value}`;
  if (typeof value !== 'object') return `a ${typeof value}`;
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (isPlain(value)) return 'an object';
  const { name } = (value.constructor ?? {}) as { readonly name?: unknown };
  return typeof name === 'string' ? `an object of the class ${name}` : 'an object';
}
