/** Which passages count by their metadata, with RAGFlow's operators. */
import { EngineError } from '../../errors.js';
import type { Json, JsonObject } from '../../json.js';

/** What a value is compared by. */
export const METADATA_OPERATORS = [
  'contains',
  'not contains',
  'in',
  'not in',
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
] as const;

/** One of {@link METADATA_OPERATORS}. */
export type MetadataOperator = (typeof METADATA_OPERATORS)[number];

/** A comparison with the value of one name. */
export interface MetadataCondition {
  readonly name: string;
  readonly operator: MetadataOperator;
  /** For `in` and `not in` a list, or a text with commas between its items; unused for `empty` and `not empty`. */
  readonly value?: Json | undefined;
}

/** Conditions, and whether all of them must hold or any. */
export interface MetadataFilter {
  /** @default 'and' */
  readonly logic?: 'and' | 'or';
  readonly conditions: readonly MetadataCondition[];
}

/**
 * A filter as a function. Texts are compared without case; texts that are numbers compare as numbers; dates as `2024-05-01` are in the order of
 * time as texts. A value that is a list fits where one of its items does; for the operators with "not", and `≠`, no item may fit the opposite. Without conditions everything fits.
 *
 * @throws EngineError OPTION_INVALID for an operator that is none.
 */
export function metadataTest({ logic = 'and', conditions }: MetadataFilter): (metadata: JsonObject) => boolean {
  const tests = conditions.map(conditionTest);
  if (tests.length === 0) return () => true;
  return (metadata) => (logic === 'or' ? tests.some((test) => test(metadata)) : tests.every((test) => test(metadata)));
}

type Test = (own: string, wanted: string) => boolean;

const TESTS: Readonly<Partial<Record<MetadataOperator, Test>>> = {
  contains: (own, wanted) => own.includes(wanted),
  'start with': (own, wanted) => own.startsWith(wanted),
  'end with': (own, wanted) => own.endsWith(wanted),
  '=': (own, wanted) => compared(own, wanted) === 0,
  '>': (own, wanted) => compared(own, wanted) > 0,
  '<': (own, wanted) => compared(own, wanted) < 0,
  '≥': (own, wanted) => compared(own, wanted) >= 0,
  '≤': (own, wanted) => compared(own, wanted) <= 0,
};

const OPPOSITES: Readonly<Partial<Record<MetadataOperator, MetadataOperator>>> = {
  'not contains': 'contains',
  'not in': 'in',
  'not empty': 'empty',
  '≠': '=',
};

function conditionTest({ name, operator, value }: MetadataCondition): (metadata: JsonObject) => boolean {
  const opposite = OPPOSITES[operator];
  if (opposite !== undefined) {
    const test = conditionTest({ name, operator: opposite, value });
    return (metadata) => !test(metadata);
  }
  if (operator === 'empty') return (metadata) => textsOf(metadata, name).every((text) => text === '');
  if (operator === 'in') {
    const items = Array.isArray(value) ? (value as readonly Json[]) : textOf(value).split(/[,，]/);
    const wanted = new Set(items.map((item) => textOf(item).trim()));
    return (metadata) => textsOf(metadata, name).some((text) => wanted.has(text));
  }
  const test = Object.hasOwn(TESTS, operator) ? TESTS[operator] : undefined;
  if (test === undefined) {
    const allowed = METADATA_OPERATORS.join(', ');
    throw new EngineError(
      'OPTION_INVALID',
      `search: a filter's operator must be one of ${allowed}; received "${operator}".`,
    );
  }
  const wanted = textOf(value);
  return (metadata) => textsOf(metadata, name).some((text) => test(text, wanted));
}

function textsOf(metadata: JsonObject, name: string): readonly string[] {
  const own = Object.hasOwn(metadata, name) ? metadata[name] : undefined;
  if (own === undefined || own === null) return [];
  return Array.isArray(own) ? (own as readonly Json[]).map(textOf) : [textOf(own)];
}

function textOf(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  return (typeof value === 'object' ? JSON.stringify(value) : String(value)).toLowerCase();
}

function compared(left: string, right: string): number {
  const [one, other] = [Number(left), Number(right)];
  if (left.trim() !== '' && right.trim() !== '' && !Number.isNaN(one) && !Number.isNaN(other)) return one - other;
  return left === right ? 0 : left < right ? -1 : 1;
}
