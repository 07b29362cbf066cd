import { EngineError } from '../../errors.js';
import { MAX_JSON_DEPTH } from '../../json.js';
import { concatMessageLists, concatMessages } from '../../models/concat-messages.js';
import type { MessageChunk } from '../../models/messages.js';
import { requireCallable, requireList } from '../../operators/invalid-option.js';
import type { ConcatRule } from '../step.js';

/**
 * Makes one value of chunks, by the rule that was given, or else by their type:
 *
 * - one chunk is itself
 * - texts are joined
 * - of numbers, bigints, booleans and dates the last one stays
 * - chunks of messages are joined as `concatMessages` does, lists of messages position by position
 * - plain objects go key by key, each by these rules; a key that one chunk has keeps its value
 * - of anything else, such as lists and instances of classes, there may be one that is not empty
 *
 * Gaps, which are undefined and null, count for nothing: null stays only where nothing else is. So `[5, null]` is 5, and `[5, null, 'a']` is
 * refused as `[5, 'a']` is. Takes time linear in what there is to join. It gives or refuses the same for chunks some of which were
 * concatenated before, which is what a slow reader gets; so must a rule of one's own.
 *
 * @throws EngineError `STREAM_EMPTY` for no chunks; `CHUNKS_INVALID` for chunks that do not fit together (where, which of them, of what types);
 * what the rule throws.
 */
export function concatValues<T>(chunks: readonly T[], rule?: ConcatRule<T>): T {
  requireList('concatValues', 'chunks', chunks);
  requireCallable('concatValues', 'rule', rule);
  if (chunks.length === 1) return chunks[0] as T;
  if (chunks.length === 0) {
    throw new EngineError('STREAM_EMPTY', 'There is no chunk to make a value of; a stream must give at least one.');
  }
  if (rule !== undefined) return rule(chunks);
  return join({ values: chunks, positions: undefined, place: '', depth: 0 }) as T;
}

/** Values of one place in all chunks, at least one. */
interface Group {
  readonly values: readonly unknown[];
  /** The chunk that each value came with; undefined for the chunks themselves. */
  readonly positions: readonly number[] | undefined;
  /** Keys that lead there, such as `.answer.text`. */
  readonly place: string;
  readonly depth: number;
}

type Kind = 'text' | 'last' | 'object' | 'message' | 'messages' | 'other';

function join(group: Group): unknown {
  const { values } = group;
  if (values.length === 1) return values[0];
  if (typeof values[0] === 'string' && typeof values[1] === 'string') {
    // Most streams are texts, and most groups are two neighbours.
    if (values.length === 2) return values[0] + values[1];
    if (values.every(isText)) return values.join('');
  }
  const given = pick(group, isGiven);
  // Nothing but null and undefined: null is a value, undefined is none.
  if (given.values.length === 0) return values.includes(null) ? null : undefined;
  const kind = kindOfAll(given.values);
  if (kind !== undefined) return joinKind(kind, given);
  const full = pick(given, isFull);
  const kindOfFull = full.values.length === 0 ? 'other' : kindOfAll(full.values);
  if (kindOfFull === undefined) throw unlike(full);
  return joinKind(kindOfFull, full.values.length === 0 ? given : full);
}

function joinKind(kind: Kind, group: Group): unknown {
  const { values } = group;
  if (values.length === 1) return values[0];
  switch (kind) {
    case 'text':
      return values.join('');
    case 'last':
      return values.at(-1);
    case 'message':
      return joinMessages(group, () => concatMessages(values as readonly MessageChunk[]));
    case 'messages': {
      const lists = pick(group, isFull).values as readonly (readonly MessageChunk[])[];
      return joinMessages(group, () => concatMessageLists(lists));
    }
    case 'object':
      return joinObjects(group);
    default:
      return onlyFull(group);
  }
}

function joinObjects(group: Group): unknown {
  const { values, positions, place, depth } = group;
  if (depth >= MAX_JSON_DEPTH) {
    throw invalid(`${place.slice(0, 100)}… is more than ${MAX_JSON_DEPTH} levels deep, or contains itself`, group);
  }
  const byKey = new Map<string, { readonly values: unknown[]; readonly positions: number[] }>();
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at] as Readonly<Record<string, unknown>>;
    const position = positions === undefined ? at : (positions[at] as number);
    for (const key of Object.keys(value)) {
      let known = byKey.get(key);
      if (known === undefined) {
        known = { values: [], positions: [] };
        byKey.set(key, known);
      }
      known.values.push(value[key]);
      known.positions.push(position);
    }
  }
  const entries: [string, unknown][] = [];
  for (const [key, known] of byKey) {
    entries.push([key, join({ ...known, place: `${place}.${key}`, depth: depth + 1 })]);
  }
  // Defines each key, so that one called `__proto__` is a key like any other.
  return Object.fromEntries(entries);
}

/** The value that is not empty; where all are, the last. */
function onlyFull(group: Group): unknown {
  const full = pick(group, isFull);
  if (full.values.length > 1) throw unlike(full);
  return full.values.length === 1 ? full.values[0] : group.values.at(-1);
}

function joinMessages(group: Group, concat: () => unknown): unknown {
  try {
    return concat();
  } catch (error) {
    if (group.place === '' || !EngineError.is(error)) throw error;
    throw new EngineError(error.code, `At "${group.place.slice(1)}": ${error.message}`, {
      details: error.details,
      cause: error,
    });
  }
}

function pick(group: Group, isWanted: (value: unknown) => boolean): Group {
  const { values } = group;
  if (values.every(isWanted)) return group;
  const picked: unknown[] = [];
  const positions: number[] = [];
  for (let at = 0; at < values.length; at += 1) {
    if (!isWanted(values[at])) continue;
    picked.push(values[at]);
    positions.push(group.positions === undefined ? at : (group.positions[at] as number));
  }
  return { ...group, values: picked, positions };
}

/** What all values are; undefined when they differ. An empty list is no list of anything yet. */
function kindOfAll(values: readonly unknown[]): Kind | undefined {
  let kind: Kind | undefined;
  for (const value of values) {
    const next = kindOf(value);
    if (kind !== undefined && next !== kind) return undefined;
    kind = next;
  }
  return kind;
}

function kindOf(value: unknown): Kind {
  switch (typeof value) {
    case 'string':
      return 'text';
    case 'number':
    case 'boolean':
    case 'bigint':
      return 'last';
    case 'object':
      break;
    default:
      return 'other';
  }
  if (value instanceof Date) return 'last';
  if (Array.isArray(value)) return value.length > 0 && value.every(isMessageOrNothing) ? 'messages' : 'other';
  if (!isPlain(value)) return 'other';
  return isMessage(value) ? 'message' : 'object';
}

const ROLES: ReadonlySet<unknown> = new Set(['system', 'user', 'assistant', 'tool'] satisfies MessageChunk['role'][]);

/** What a chunk of an assistant's message may have; one without content has nothing else. */
const ASSISTANT_KEYS: ReadonlySet<string> = new Set([
  'role',
  'name',
  'id',
  'extra',
  'toolCalls',
  'parts',
  'reasoning',
  'finishReason',
  'usage',
  'logProbabilities',
]);

function isMessage(value: object): boolean {
  if (!Object.hasOwn(value, 'role')) return false;
  const { role } = value as { readonly role: unknown };
  if (!ROLES.has(role)) return false;
  if (Object.hasOwn(value, 'content')) return true;
  return role === 'assistant' && Object.keys(value).every((key) => ASSISTANT_KEYS.has(key));
}

function isMessageOrNothing(value: unknown): boolean {
  return value === undefined || (typeof value === 'object' && isPlain(value) && isMessage(value));
}

function isPlain(value: object | null): value is object {
  if (value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

const isText = (value: unknown): value is string => typeof value === 'string';

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/** Whether a value says anything: not so empty texts, lists, collections and plain objects. */
function isFull(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false;
  if (typeof value !== 'object') return true;
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof Map || value instanceof Set) return value.size > 0;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value.byteLength > 0;
  return !isPlain(value) || Object.keys(value).length > 0;
}

function unlike(group: Group): EngineError {
  const { values } = group;
  const first = nameOf(values[0]);
  const at = Math.max(
    1,
    values.findIndex((value) => nameOf(value) !== first),
  );
  const [one, other] = [positionOf(group, 0), positionOf(group, at)];
  return invalid(
    `${group.place === '' ? 'the chunks have' : `"${group.place.slice(1)}" has`} ${first} in chunk ${one} and ${nameOf(values[at])} in chunk ${other}`,
    group,
    [one, other],
  );
}

function invalid(problem: string, { place }: Group, chunks: readonly number[] = []): EngineError {
  return new EngineError(
    'CHUNKS_INVALID',
    `Chunks cannot be joined: ${problem}. There is no rule for these types: give one that makes one value of all chunks (option "chunks" of the step, graph or run), or let there be one chunk.`,
    { details: { place: place.slice(1, 200), chunks } },
  );
}

const positionOf = ({ positions }: Group, at: number): number => (positions === undefined ? at : (positions[at] ?? at));

/** The type of a value for people. */
function nameOf(value: unknown): string {
  switch (kindOf(value)) {
    case 'text':
      return 'a text';
    case 'object':
      return 'a plain object';
    case 'message':
      return 'a message';
    case 'messages':
      return 'a list of messages';
    case 'last':
      return value instanceof Date ? 'a date' : `a ${typeof value}`;
    default:
      return otherName(value);
  }
}

function otherName(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value !== 'object' || value === null) return `a ${typeof value}`;
  const maker: unknown = Object.getPrototypeOf(value)?.constructor;
  return typeof maker === 'function' && maker.name !== '' ? `a value of class ${maker.name}` : 'an object of a class';
}
