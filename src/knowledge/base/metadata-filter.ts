/** Conditions on the metadata of documents, with RAGFlow's operators. */
import { EngineError } from '../../errors.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { metadataValue } from '../knowledge-document.js';

/** One condition. */
export interface MetadataCondition {
  readonly name: string;
  readonly operator: string;
  readonly value: Json;
}

/** Conditions, of which all (`and`) or one (`or`) must hold. */
export interface MetadataFilter {
  readonly logic: 'and' | 'or';
  readonly conditions: readonly MetadataCondition[];
}

/**
 * Reads conditions as RAGFlow's clients write them: `{logic, conditions: [{name | key, comparison_operator | op, value}]}`, and those of the
 * tool Retrieval: `{method: 'manual', logic, manual: […]}`. Undefined without any condition.
 *
 * @throws EngineError BAD_REQUEST for conditions of another form or with an unknown operator.
 */
export function readMetadataFilter(given: JsonObject): MetadataFilter | undefined {
  const { method, logic, conditions, manual } = given;
  if (method === 'disabled' || method === '') return undefined;
  const list = conditions ?? manual ?? [];
  if (!Array.isArray(list)) throw malformed('conditions', list);
  const read = (list as readonly Json[]).map(readCondition);
  return read.length === 0 ? undefined : { logic: logic === 'or' ? 'or' : 'and', conditions: read };
}

/** Whether metadata fits. */
export function fitsMetadata(metadata: JsonObject, { logic, conditions }: MetadataFilter): boolean {
  const holds = ({ name, operator, value }: MetadataCondition): boolean =>
    OPERATORS[operator]?.(metadataValue(metadata, name), value) ?? false;
  return logic === 'or' ? conditions.some(holds) : conditions.every(holds);
}

type Test = (found: Json | undefined, wanted: Json) => boolean;

/** Of a list of values one is enough, and for the negated operators none may fit. */
const some =
  (test: (found: string, wanted: string) => boolean): Test =>
  (found, wanted) =>
    valuesOf(found).some((one) => test(textOf(one), textOf(wanted)));
const not =
  (test: Test): Test =>
  (found, wanted) =>
    !test(found, wanted);
const compared =
  (test: (order: number) => boolean): Test =>
  (found, wanted) =>
    valuesOf(found).some((one) => test(orderOf(textOf(one), textOf(wanted))));

const is = some((found, wanted) => found === wanted);
const contains = some((found, wanted) => found.includes(wanted));
const isIn: Test = (found, wanted) => valuesOf(found).some((one) => listOf(wanted).includes(textOf(one)));
const isEmpty: Test = (found) => valuesOf(found).every((one) => textOf(one) === '');
const isGreater = compared((order) => order > 0);
const isLess = compared((order) => order < 0);
const isAtLeast = compared((order) => order >= 0);
const isAtMost = compared((order) => order <= 0);

const OPERATORS: Readonly<Record<string, Test>> = Object.assign(Object.create(null) as Record<string, Test>, {
  is,
  '=': is,
  '==': is,
  'not is': not(is),
  '≠': not(is),
  '!=': not(is),
  contains,
  'not contains': not(contains),
  in: isIn,
  'not in': not(isIn),
  'start with': some((found, wanted) => found.startsWith(wanted)),
  'end with': some((found, wanted) => found.endsWith(wanted)),
  empty: isEmpty,
  'not empty': not(isEmpty),
  '>': isGreater,
  '<': isLess,
  '≥': isAtLeast,
  '>=': isAtLeast,
  '≤': isAtMost,
  '<=': isAtMost,
});

function readCondition(given: Json): MetadataCondition {
  if (!isJsonObject(given)) throw malformed('a condition', given);
  const name = given.name ?? given.key;
  const operator = given.comparison_operator ?? given.operator ?? given.op ?? 'is';
  if (typeof name !== 'string' || typeof operator !== 'string') throw malformed('a condition', given);
  if (OPERATORS[operator] === undefined) {
    const known = Object.keys(OPERATORS).join(', ');
    throw new EngineError(
      'BAD_REQUEST',
      `"${operator}" is no operator of a condition on metadata. There are: ${known}.`,
    );
  }
  return { name, operator, value: given.value ?? '' };
}

function valuesOf(found: Json | undefined): readonly Json[] {
  if (found === undefined || found === null) return [];
  return Array.isArray(found) ? (found as readonly Json[]) : [found];
}

/** Without regard to case, as RAGFlow compares. */
function textOf(value: Json): string {
  return (typeof value === 'string' ? value : JSON.stringify(value)).toLowerCase();
}

function listOf(wanted: Json): readonly string[] {
  if (Array.isArray(wanted)) return (wanted as readonly Json[]).map(textOf);
  return textOf(wanted)
    .split(/[,，]/)
    .map((one) => one.trim());
}

/** Numbers by value, all else by text, which orders dates as ISO 8601 writes them. */
function orderOf(found: string, wanted: string): number {
  const [left, right] = [Number(found), Number(wanted)];
  if (found.trim() !== '' && wanted.trim() !== '' && !Number.isNaN(left) && !Number.isNaN(right)) return left - right;
  if (found === wanted) return 0;
  return found < wanted ? -1 : 1;
}

function malformed(what: string, given: unknown): EngineError {
  return new EngineError(
    'BAD_REQUEST',
    `A filter by metadata is {"logic": "and", "conditions": [{"name": …, "comparison_operator": …, "value": …}]}; received as ${what}: ${JSON.stringify(given)?.slice(0, 200)}.`,
  );
}
