/** The operators of Switch and of the end of a Loop. Both see typed values; they differ in which operators a type has. */
import { canonicalJson, compareCodePoints } from '../../dsl/json-order.js';
import { renderValue } from '../../dsl/render-value.js';
import { EngineError } from '../../errors.js';
import type { Json } from '../../json.js';

/** An operator in its one spelling; documents may also write `==`, `!=`, `<>`, `>=` and `<=`. */
export type Operator =
  | 'contains'
  | 'not contains'
  | 'start with'
  | 'end with'
  | 'empty'
  | 'not empty'
  | '='
  | '≠'
  | '>'
  | '<'
  | '≥'
  | '≤'
  | 'in'
  | 'not in'
  | 'is'
  | 'is not';

const OPERATORS: ReadonlySet<string> = new Set<Operator>([
  'contains',
  'not contains',
  'start with',
  'end with',
  'empty',
  'not empty',
  '=',
  '≠',
  '>',
  '<',
  '≥',
  '≤',
  'in',
  'not in',
  'is',
  'is not',
]);

const SYNONYMS: ReadonlyMap<string, Operator> = new Map([
  ['==', '='],
  ['!=', '≠'],
  ['<>', '≠'],
  ['>=', '≥'],
  ['<=', '≤'],
]);

// Each part is a separate class, so that a long text of digits is read in linear time.
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** The operator that a document means; undefined for a word that is none. */
export function operatorOf(written: string): Operator | undefined {
  const word = written.trim().toLowerCase();
  const known = SYNONYMS.get(word) ?? word;
  return OPERATORS.has(known) ? (known as Operator) : undefined;
}

/** The number a value stands for: a number, a text that holds one, or a boolean as 1 and 0; otherwise undefined. */
export function numberOf(value: Json): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  return NUMBER.test(text) ? Number(text) : undefined;
}

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
  const operator = operatorOf(written);
  switch (operator) {
    case 'contains':
      return containsIgnoringCase(left, right);
    case 'not contains':
      return !containsIgnoringCase(left, right);
    case 'start with':
      return foldedText(left).startsWith(foldedText(right));
    case 'end with':
      return foldedText(left).endsWith(foldedText(right));
    case 'empty':
      return !isTruthy(left);
    case 'not empty':
      return isTruthy(left);
    case '=':
      return equals(left, right);
    case '≠':
      return !equals(left, right);
    case 'in':
      return isIn(left, right);
    case 'not in':
      return !isIn(left, right);
    case '>':
    case '<':
    case '≥':
    case '≤':
      requireOrder(left, operator, right);
      return isOrdered(left, operator, right);
    default:
      throw new EngineError('NODE_FAILED', `Not supported operator: ${written}; a Switch knows ${SWITCH_OPERATORS}.`);
  }
}

/**
 * Compares as the end of a Loop does: every type of the left value has operators of its own, and texts are case-sensitive.
 *
 * Null is empty, and nothing else holds for it.
 *
 * @throws EngineError NODE_FAILED for an operator that the type does not have.
 */
export function compareForLoop(left: Json, written: string, right: Json): boolean {
  const operator = operatorOf(written);
  if (left === null) return operator === 'empty';
  if (operator !== undefined) {
    const result = compareByType(left, operator, right);
    if (result !== undefined) return result;
  }
  throw new EngineError(
    'NODE_FAILED',
    `Invalid operator: ${written}; a value of kind ${jsonKind(left)} does not have it.`,
  );
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

/** Lists, objects and what has no value have no order: comparing them is a mistake in the canvas, and no answer would be right. */
function requireOrder(left: Json, operator: string, right: Json): void {
  if (typeof left === 'number' || typeof left === 'boolean') return;
  if (typeof left === 'string' && typeof right === 'string') return;
  if (typeof left === 'string' && numberOf(left) !== undefined && numberOf(right) !== undefined) return;
  throw new EngineError(
    'NODE_FAILED',
    `${operator} cannot compare a value of kind ${jsonKind(left)} with one of kind ${jsonKind(right)}.`,
  );
}

function isOrdered(left: Json, operator: '>' | '<' | '≥' | '≤', right: Json): boolean {
  const leftNumber = numberOf(left);
  const rightNumber = numberOf(right);
  if (leftNumber !== undefined && rightNumber !== undefined) return order(leftNumber - rightNumber, operator);
  if (typeof left === 'string' && typeof right === 'string') return order(compareCodePoints(left, right), operator);
  return false;
}

function order(difference: number, operator: '>' | '<' | '≥' | '≤'): boolean {
  if (operator === '>') return difference > 0;
  if (operator === '<') return difference < 0;
  return operator === '≥' ? difference >= 0 : difference <= 0;
}

/** Undefined when the type of `left` does not have the operator. */
function compareByType(left: Exclude<Json, null>, operator: Operator, right: Json): boolean | undefined {
  if (typeof left === 'string') return compareText(left, operator, right);
  if (typeof left === 'boolean') return compareBoolean(left, operator, right);
  if (typeof left === 'number') return compareNumber(left, operator, right);
  if (Array.isArray(left)) return compareList(left, operator, right);
  if (operator === 'empty') return !isTruthy(left);
  return operator === 'not empty' ? isTruthy(left) : undefined;
}

function compareText(left: string, operator: Operator, right: Json): boolean | undefined {
  switch (operator) {
    case 'contains':
      return left.includes(renderValue(right));
    case 'not contains':
      return !left.includes(renderValue(right));
    case 'start with':
      return left.startsWith(renderValue(right));
    case 'end with':
      return left.endsWith(renderValue(right));
    case 'is':
      return left === right;
    case 'is not':
      return left !== right;
    case 'empty':
      return left === '';
    case 'not empty':
      return left !== '';
    default:
      return undefined;
  }
}

function compareBoolean(left: boolean, operator: Operator, right: Json): boolean | undefined {
  // The editor writes constants as texts.
  const wanted = right === 'true' ? true : right === 'false' ? false : right;
  if (operator === 'is') return left === wanted;
  if (operator === 'is not') return left !== wanted;
  // A boolean always has a value: false is not nothing.
  if (operator === 'empty') return false;
  return operator === 'not empty' ? true : undefined;
}

function compareNumber(left: number, operator: Operator, right: Json): boolean | undefined {
  switch (operator) {
    case '=':
      return left === numberOf(right);
    case '≠':
      return left !== numberOf(right);
    case '>':
    case '<':
    case '≥':
    case '≤':
      return isOrdered(left, operator, right);
    case 'empty':
      return false;
    case 'not empty':
      return true;
    default:
      return undefined;
  }
}

function compareList(left: readonly Json[], operator: Operator, right: Json): boolean | undefined {
  switch (operator) {
    case 'contains':
      return left.some((item) => isEqual(item, right));
    case 'not contains':
      return !left.some((item) => isEqual(item, right));
    case 'is':
      return isEqual(left, right);
    case 'is not':
      return !isEqual(left, right);
    case 'empty':
      return left.length === 0;
    case 'not empty':
      return left.length > 0;
    default:
      return undefined;
  }
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
