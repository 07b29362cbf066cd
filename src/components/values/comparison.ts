/** The operators of Switch and of the end of a Loop. Both see typed values; they differ in which operators a type has. */
import { canonicalJson, compareCodePoints } from '../../dsl/json-order.js';
import { renderValue } from '../../dsl/render-value.js';
import { EngineError } from '../../errors.js';
import type { Json } from '../../json.js';

const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['==', '='],
  ['!=', '≠'],
  ['<>', '≠'],
  ['>=', '≥'],
  ['<=', '≤'],
]);

// Each part is a separate class, so that a long text of digits is read in linear time.
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** The number a value stands for: a number, a text that holds one, or a boolean as 1 and 0; otherwise undefined. */
export function numberOf(value: Json): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  return NUMBER.test(text) ? Number(text) : undefined;
}

type Test = (left: Json, right: Json) => boolean;
type Tests = ReadonlyMap<string, Test>;

/** An operator, and the one that holds where it does not. */
const pair = (operator: string, opposite: string, test: Test): [string, Test][] => [
  [operator, test],
  [opposite, (left, right) => !test(left, right)],
];

const ORDERINGS: readonly (readonly [operator: string, holds: (difference: number) => boolean])[] = [
  ['>', (difference) => difference > 0],
  ['<', (difference) => difference < 0],
  ['≥', (difference) => difference >= 0],
  ['≤', (difference) => difference <= 0],
];

const SWITCH_TESTS: Tests = new Map([
  ...pair('contains', 'not contains', containsIgnoringCase),
  ['start with', (left, right) => foldedText(left).startsWith(foldedText(right))],
  ['end with', (left, right) => foldedText(left).endsWith(foldedText(right))],
  ...pair('not empty', 'empty', isTruthy),
  ...pair('=', '≠', equals),
  ...pair('in', 'not in', isIn),
  ...ORDERINGS.map(([operator, holds]): [string, Test] => [
    operator,
    (left, right) => holds(orderedDifference(left, operator, right)),
  ]),
]);

/**
 * Compares as a Switch does: on the type of the left value, with texts for the operators on texts.
 *
 * `=` and `≠` are case-sensitive. Next to a number (or to a boolean, which counts as 1 and 0) the right side is read as a number,
 * and one that is no number is unequal. Orderings compare numbers where both sides are some, texts by code point where
 * both are texts; for a number and a word they do not hold. The operators on texts ignore case.
 *
 * @throws EngineError NODE_FAILED for an operator that a Switch does not have, and for an ordering of what has no order.
 */
export function compareForSwitch(left: Json, written: string, right: Json): boolean {
  const test = findTest(SWITCH_TESTS, written);
  if (test !== undefined) return test(left, right);
  throw new EngineError('NODE_FAILED', `Not supported operator: ${written}; a Switch knows ${SWITCH_OPERATORS}.`);
}

const BY_CONTENT = pair('not empty', 'empty', isTruthy);
/** A number or a boolean always has a value: false is not nothing. */
const NEVER_EMPTY = pair('not empty', 'empty', () => true);

/** What the end of a Loop can ask about each kind of value. */
const LOOP_TESTS: Readonly<Record<Exclude<JsonKind, 'null'>, Tests>> = {
  text: new Map([
    ...pair('contains', 'not contains', (left, right) => renderValue(left).includes(renderValue(right))),
    ['start with', (left, right) => renderValue(left).startsWith(renderValue(right))],
    ['end with', (left, right) => renderValue(left).endsWith(renderValue(right))],
    ...pair('is', 'is not', isEqual),
    ...BY_CONTENT,
  ]),
  // The editor writes constants as texts.
  boolean: new Map([
    ...pair('is', 'is not', (left, right) => left === right || (typeof right === 'string' && String(left) === right)),
    ...NEVER_EMPTY,
  ]),
  number: new Map([
    ...pair('=', '≠', (left, right) => left === numberOf(right)),
    ...ORDERINGS.map(([operator, holds]): [string, Test] => [
      operator,
      (left, right) => holds(difference(left, right)),
    ]),
    ...NEVER_EMPTY,
  ]),
  list: new Map([
    ...pair('contains', 'not contains', (left, right) =>
      (left as readonly Json[]).some((item) => isEqual(item, right)),
    ),
    ...pair('is', 'is not', isEqual),
    ...BY_CONTENT,
  ]),
  object: new Map(BY_CONTENT),
};

/**
 * Compares as the end of a Loop does: every type of the left value has operators of its own, and texts are case-sensitive.
 *
 * Null is empty, and nothing else holds for it.
 *
 * @throws EngineError NODE_FAILED for an operator that the type does not have.
 */
export function compareForLoop(left: Json, written: string, right: Json): boolean {
  const kind = jsonKind(left);
  if (kind === 'null') return written.trim().toLowerCase() === 'empty';
  const test = findTest(LOOP_TESTS[kind], written);
  if (test !== undefined) return test(left, right);
  throw new EngineError('NODE_FAILED', `Invalid operator: ${written}; a value of kind ${kind} does not have it.`);
}

/** The test of an operator, in any case and in any of its spellings. */
function findTest(tests: Tests, written: string): Test | undefined {
  const word = written.trim().toLowerCase();
  return tests.get(SYNONYMS.get(word) ?? word);
}

const SWITCH_OPERATORS =
  '"contains", "not contains", "start with", "end with", "empty", "not empty", "in", "not in", =, ≠, >, <, ≥, ≤';

function containsIgnoringCase(left: Json, right: Json): boolean {
  const wanted = foldedText(right);
  if (Array.isArray(left) && left.some((item: Json) => foldedText(item) === wanted)) return true;
  return foldedText(left).includes(wanted);
}

function equals(left: Json, right: Json): boolean {
  if (typeof left === 'boolean' && typeof right === 'string') {
    const word = right.trim().toLowerCase();
    if (word === 'true' || word === 'false') return left === (word === 'true');
  }
  if (typeof left === 'number' || typeof left === 'boolean') return numberOf(left) === numberOf(right);
  return isEqual(left, right);
}

function isIn(left: Json, right: Json): boolean {
  if (Array.isArray(right)) return right.some((item: Json) => equals(left, item));
  return renderValue(right)
    .split(',')
    .some((item) => equals(typeof left === 'string' ? left.trim() : left, item.trim()));
}

/** Below, at or above 0 as `left` stands to `right`; NaN, of which no ordering holds, where they have no order. */
function difference(left: Json, right: Json): number {
  const leftNumber = numberOf(left);
  const rightNumber = numberOf(right);
  if (leftNumber !== undefined && rightNumber !== undefined)
    return leftNumber === rightNumber ? 0 : leftNumber - rightNumber;
  return typeof left === 'string' && typeof right === 'string' ? compareCodePoints(left, right) : Number.NaN;
}

/** Lists, objects and what has no value have no order: comparing them is a mistake in the canvas, and no answer would be right. */
function orderedDifference(left: Json, operator: string, right: Json): number {
  const result = difference(left, right);
  if (!Number.isNaN(result) || typeof left === 'number' || typeof left === 'boolean') return result;
  throw new EngineError(
    'NODE_FAILED',
    `${operator} cannot compare a value of kind ${jsonKind(left)} with one of kind ${jsonKind(right)}.`,
  );
}

function foldedText(value: Json): string {
  return renderValue(value).toLowerCase();
}

function isEqual(left: Json, right: Json): boolean {
  if (left === right) return true;
  // Only a list equals a list and an object an object, and writing them down settles the order of keys.
  if (typeof left !== 'object' || typeof right !== 'object') return false;
  return canonicalJson(left) === canonicalJson(right);
}

/** Compares a text with another one by the name of an operator. */
export type TextTest = (text: string, wanted: string) => boolean;

const isSame: TextTest = (text, wanted) => text === wanted;
const isOther: TextTest = (text, wanted) => text !== wanted;
const never: TextTest = () => false;

const TESTS: ReadonlyMap<string, TextTest> = new Map([
  ['=', isSame],
  ['equals', isSame],
  ['≠', isOther],
  ['!=', isOther],
  ['contains', (text, wanted) => text.includes(wanted)],
  ['start with', (text, wanted) => text.startsWith(wanted)],
  ['end with', (text, wanted) => text.endsWith(wanted)],
]);

/** The operators of filters, for messages and the editor. */
export const TEXT_OPERATORS: readonly string[] = ['=', '≠', 'contains', 'start with', 'end with'];

/**
 * Finds the test that an operator names, in any case; `=` when it is empty. The comparison is case-sensitive.
 *
 * An unknown operator gives a test that nothing passes, as in RAGFlow.
 */
export function textTest(operator: string | null | undefined): TextTest {
  const name = (operator ?? '').trim().toLowerCase();
  return name === '' ? isSame : (TESTS.get(name) ?? never);
}

/** The six kinds of JSON value, as messages name them. */
export type JsonKind = 'null' | 'boolean' | 'number' | 'text' | 'list' | 'object';

/** Names the kind of a value. */
export function jsonKind(value: Json): JsonKind {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'string') return 'text';
  return typeof value as 'boolean' | 'number' | 'object';
}

/** Whether a value counts as there: everything but null, false, 0, empty texts, empty lists and empty objects. */
export function isTruthy(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return Boolean(value);
  return (Array.isArray(value) ? value : Object.keys(value)).length > 0;
}
