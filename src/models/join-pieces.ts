/** How the pieces of a value become one, field by field: the rules that messages and their parts share. */
import { EngineError } from '../errors.js';
import { isJsonObject, type JsonObject, MAX_JSON_DEPTH } from '../json.js';

/** A value, and the position of the chunk that it came with. */
export interface Piece<T = unknown> {
  readonly value: T;
  /** From 0. */
  readonly chunk: number;
}

/** Makes one value of all values of a field, in their order; `place` names the field in errors. */
export type JoinRule = (pieces: readonly Piece[], place: string) => unknown;

/** The rule of each field. */
export type JoinRules = Readonly<Record<string, JoinRule>>;

/** Characters of a value that an error quotes. */
const MAX_QUOTED = 100;

/**
 * Joins objects field by field; a field without a rule must be equal in all that have it. Undefined fields count as absent.
 *
 * @throws EngineError `CHUNKS_INVALID`.
 */
export function joinFields<T extends object>(pieces: readonly Piece<T>[], rules: JoinRules, place: string): T {
  // Few fields: a list is searched faster than a map is made.
  const fields: string[] = [];
  const values: Piece[][] = [];
  for (const { value, chunk } of pieces) {
    for (const field of Object.keys(value)) {
      const part = (value as Readonly<Record<string, unknown>>)[field];
      if (part === undefined) continue;
      const known = fields.indexOf(field);
      if (known >= 0) {
        values[known]?.push({ value: part, chunk });
        continue;
      }
      fields.push(field);
      values.push([{ value: part, chunk }]);
    }
  }
  const joined: Record<string, unknown> = {};
  for (const [at, field] of fields.entries()) {
    const rule = Object.hasOwn(rules, field) ? (rules[field] as JoinRule) : same;
    setOwn(joined, field, rule(values[at] as Piece[], place === '' ? field : `${place}.${field}`));
  }
  return joined as T;
}

/** Sets a property of its own, whatever its name is. */
function setOwn(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') target[name] = value;
  else Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}

/** Rule: equal in all pieces, or empty. */
export const same: JoinRule = (pieces, place) => {
  const first = pieces.find(({ value }) => !isEmpty(value));
  if (first === undefined) return pieces[0]?.value;
  for (const piece of pieces) {
    if (!isEmpty(piece.value) && piece.value !== first.value) throw different(place, first, piece);
  }
  return first.value;
};

/** Rule: the last one that is not empty. */
export const last: JoinRule = (pieces) => {
  return (pieces.findLast(({ value }) => !isEmpty(value)) ?? pieces.at(-1))?.value;
};

/** Rule: texts, one after the other. */
export const texts: JoinRule = (pieces, place) => {
  let text = '';
  for (const piece of pieces) {
    if (typeof piece.value !== 'string') throw wrongKind(place, piece, 'a text');
    text += piece.value;
  }
  return text;
};

/** Rule: texts one after the other; of other values the last one. */
export const textsOrLast: JoinRule = (pieces, place) => {
  return pieces.every(({ value }) => typeof value === 'string') ? texts(pieces, place) : last(pieces, place);
};

/** Rule: lists, one after the other. */
export const lists: JoinRule = (pieces, place) => pieces.flatMap((piece) => listOf(piece, place));

/** The list that a piece is. */
export function listOf(piece: Piece, place: string): readonly unknown[] {
  if (!Array.isArray(piece.value)) throw wrongKind(place, piece, 'a list');
  return piece.value;
}

/**
 * Rule: bytes in base64, one after the other. A piece that ends with padding was encoded by itself, so its bytes are joined; the others are
 * cuts of one text.
 */
export const base64: JoinRule = (pieces, place) => {
  const whole: Buffer[] = [];
  let cuts: string[] = [];
  for (const piece of pieces) {
    if (typeof piece.value !== 'string') throw wrongKind(place, piece, 'a text in base64');
    cuts.push(piece.value);
    if (!piece.value.endsWith('=')) continue;
    whole.push(Buffer.from(cuts.join(''), 'base64'));
    cuts = [];
  }
  const rest = cuts.join('');
  return whole.length === 0 ? rest : Buffer.concat([...whole, Buffer.from(rest, 'base64')]).toString('base64');
};

/** Rule: of each field the largest number, as providers count up. */
export const largest: JoinRule = (pieces, place) => {
  const counts = new Map<string, number>();
  for (const piece of pieces) {
    if (!isJsonObject(piece.value)) throw wrongKind(place, piece, 'an object');
    for (const [field, count] of Object.entries(piece.value)) {
      if (count === undefined) continue;
      if (typeof count !== 'number') throw wrongKind(`${place}.${field}`, { ...piece, value: count }, 'a number');
      counts.set(field, Math.max(count, counts.get(field) ?? count));
    }
  }
  return Object.fromEntries(counts);
};

/**
 * Rule: facts of any kind, name by name: texts are joined, objects go name by name, of everything else the last one stays. Null counts as absent.
 *
 * A name that stands for a text or an object in one piece and for something else in another is refused: else it would matter which pieces
 * are joined first.
 */
export const facts: JoinRule = (pieces, place) => joinFacts(pieces, place, 0);

function joinFacts(pieces: readonly Piece[], place: string, depth: number): unknown {
  const given = pieces.filter(({ value }) => value !== null && value !== undefined);
  const [first, ...others] = given;
  if (first === undefined) return null;
  if (others.length === 0) return first.value;
  const kind = kindOf(first.value);
  const other = others.find(({ value }) => kindOf(value) !== kind);
  if (other !== undefined) throw wrongKind(place, other, kind === 'other' ? 'no text and no object' : `a ${kind}`);
  if (kind === 'text') return texts(given, place);
  if (kind === 'other') return given.at(-1)?.value;
  if (depth >= MAX_JSON_DEPTH) throw wrongKind(place, first, `at most ${MAX_JSON_DEPTH} levels deep`);
  const byName = new Map<string, Piece[]>();
  for (const { value, chunk } of given) {
    for (const [name, fact] of Object.entries(value as JsonObject)) {
      const known = byName.get(name);
      if (known === undefined) byName.set(name, [{ value: fact, chunk }]);
      else known.push({ value: fact, chunk });
    }
  }
  return Object.fromEntries(
    [...byName].map(([name, values]) => [name, joinFacts(values, `${place}.${name}`, depth + 1)]),
  );
}

function kindOf(value: unknown): 'text' | 'object' | 'other' {
  if (typeof value === 'string') return 'text';
  return isJsonObject(value) ? 'object' : 'other';
}

function isEmpty(value: unknown): boolean {
  return value === '' || value === null;
}

/** The error of two pieces that cannot be pieces of one value. */
export function different(place: string, first: Piece, other: Piece): EngineError {
  return new EngineError(
    'CHUNKS_INVALID',
    `Chunks cannot be joined: ${place} is ${quoted(first.value)} in chunk ${first.chunk} and ${quoted(other.value)} in chunk ${other.chunk}. Join only chunks of one message.`,
    { details: { place, chunks: [first.chunk, other.chunk], values: [quoted(first.value), quoted(other.value)] } },
  );
}

/** The error of a piece whose value is of the wrong kind. */
export function wrongKind(place: string, piece: Piece, expected: string): EngineError {
  return new EngineError(
    'CHUNKS_INVALID',
    `Chunks cannot be joined: ${place || 'the chunk'} must be ${expected}; chunk ${piece.chunk} has ${quoted(piece.value)}.`,
    { details: { place, chunks: [piece.chunk], values: [quoted(piece.value)] } },
  );
}

/** A value for a message, bounded; values that JSON does not know by their name. */
function quoted(value: unknown): string {
  const json = typeof value === 'string' ? JSON.stringify(value.slice(0, MAX_QUOTED + 1)) : jsonOf(value);
  return json.length > MAX_QUOTED ? `${json.slice(0, MAX_QUOTED)}…` : json;
}

function jsonOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return Array.isArray(value) ? `a list of ${value.length}` : `an object of ${Object.keys(value).length} names`;
}
