/** Fields of bodies and queries whose refusals have RAGFlow's words. */
import { z } from 'zod';
import { badArgument } from '../../hosting/refusals.js';

/** How a value of another type is refused. */
interface Refusal {
  readonly error: (issue: { readonly input?: unknown }) => string;
}

/** What is said of a value of another type; of an absent one that it is required. */
function expecting(what: string): Refusal {
  return { error: ({ input }) => (input === undefined ? 'Field required' : `Input should be ${what}`) };
}

/** Bounds of the length of a text. */
export interface TextBounds {
  readonly least?: number;
  readonly most?: number;
  /** Whether blanks around it are taken off first. @default false */
  readonly isTrimmed?: boolean;
}

/** A text. */
export function textField({ least = 0, most = 65_535, isTrimmed = false }: TextBounds = {}) {
  const text = z.string(expecting('a valid string'));
  return (isTrimmed ? text.trim() : text)
    .min(least, { error: `String should have at least ${counted(least, 'character')}` })
    .max(most, { error: `String should have at most ${counted(most, 'character')}` });
}

/** A whole number. */
export function wholeField(least: number, most = Number.MAX_SAFE_INTEGER) {
  return z
    .int(expecting('a valid integer'))
    .min(least, { error: `Input should be greater than or equal to ${least}` })
    .max(most, { error: `Input should be less than or equal to ${most}` });
}

/** A number within bounds. */
export function numberField(least: number, most: number) {
  return z
    .number(expecting('a valid number'))
    .superRefine((value, issues) => {
      const rule = value < least ? `greater than or equal to ${least}` : `less than or equal to ${most}`;
      const isWithin = value >= least && value <= most;
      if (!isWithin) issues.addIssue({ code: 'custom', message: `Input should be ${rule}`, params: { isFloat: true } });
    })
    .meta({ minimum: least, maximum: most });
}

/** True or false. */
export function flagField() {
  return z.boolean(expecting('a valid boolean'));
}

/** One of some texts. */
export function oneOf<const T extends readonly [string, ...string[]]>(values: T) {
  return z.enum(values, { error: `Input should be ${alternatives(values)}` });
}

/** A list. */
export function listField<T extends z.ZodType>(item: T) {
  return z.array(item, expecting('a valid list'));
}

/** A value that its reader checks; it may be absent. */
export const anything = z.unknown().optional();

/** An object of any names. */
export function dictionaryField() {
  return z.record(z.string(), z.unknown(), expecting('a valid dictionary'));
}

/** An object of these names, and no others. */
export function objectField<S extends z.ZodRawShape>(shape: S) {
  return z.strictObject(shape, expecting('a valid dictionary'));
}

/** A parameter of a query: where it is repeated, its first value. An empty one is there. */
export const parameter = z
  .union([z.string(), z.array(z.string())])
  .optional()
  .transform((given) => (Array.isArray(given) ? given[0] : given));

/** A parameter of a query that may be repeated, or hold several values with commas between them; without empty ones. */
export const parameters = z
  .union([z.string(), z.array(z.string())])
  .optional()
  .transform((given) => [given ?? []].flat().flatMap((one) => one.split(',').flatMap((part) => part.trim() || [])));

/** A parameter that is a whole number. */
export function wholeParameter(least: number, fallback: number, most = Number.MAX_SAFE_INTEGER) {
  return parameter.transform((text, issues) => {
    if (text === undefined) return fallback;
    const value = /^[+-]?\d{1,15}$/.test(text.trim()) ? Number(text) : Number.NaN;
    const say = (message: string): typeof z.NEVER => {
      issues.addIssue({ code: 'custom', message: `Input should be ${message}` });
      return z.NEVER;
    };
    if (Number.isNaN(value)) return say('a valid integer, unable to parse string as an integer');
    if (value < least) return say(`greater than or equal to ${least}`);
    return value > most ? say(`less than or equal to ${most}`) : value;
  });
}

/** A parameter that is a flag. */
export function flagParameter<F extends boolean | undefined>(fallback: F) {
  return parameter.transform((text, issues): boolean | F => {
    if (text === undefined) return fallback;
    if (/^(?:true|1|yes|y|on|t)$/i.test(text)) return true;
    if (/^(?:false|0|no|n|off|f)$/i.test(text)) return false;
    issues.addIssue({ code: 'custom', message: 'Input should be a valid boolean, unable to interpret input' });
    return z.NEVER;
  });
}

/** A page of a list as RAGFlow reads it where it minds nothing: what is no page counts as absent. */
export const loosePage = parameter.transform((text) => looseWhole(text, 1));
/** The same for the size of a page, which has a most. */
export const loosePageSize = parameter.transform((text, issues) => {
  const size = looseWhole(text, 30);
  if (size <= MAX_PAGE_SIZE) return size;
  issues.addIssue({ code: 'custom', message: `page_size must be less than or equal to ${MAX_PAGE_SIZE}` });
  return z.NEVER;
});

/** The largest page of a list. */
export const MAX_PAGE_SIZE = 100;

function looseWhole(text: string | undefined, fallback: number): number {
  const value = Number(text?.trim() || fallback);
  return Number.isSafeInteger(value) && value >= 1 ? value : fallback;
}

/** The 32 hexadecimal digits of an id as clients write it, with or without hyphens; undefined for another text. */
export function idDigits(text: string): string | undefined {
  const digits = text.replace(/^urn:uuid:|[{}-]/g, '').toLowerCase();
  return /^[0-9a-f]{32}$/.test(digits) ? digits : undefined;
}

/** An id as RAGFlow makes them. */
export function idField() {
  return textField().transform((text, issues) => {
    const digits = idDigits(text);
    if (digits !== undefined) return digits;
    issues.addIssue({ code: 'custom', message: 'Invalid UUID format' });
    return z.NEVER;
  });
}

/** Ids of one request at most. */
const MAX_IDS = 10_000;

/** Longest id, in UTF-16 units. */
const MAX_ID = 255;

/** A list of texts none of which comes twice. */
export function idsField<T extends z.ZodType<string>>(item: T) {
  return listField(item)
    .max(MAX_IDS, { error: `List should have at most ${counted(MAX_IDS, 'item')}` })
    .superRefine((ids, issues) => {
      const twice = twiceIn(ids);
      if (twice.length > 0) issues.addIssue({ code: 'custom', message: `Duplicate ids: '${twice.join(', ')}'` });
    });
}

/** The ids in a list that a client sent. @throws EngineError BAD_REQUEST for more than 10,000, and for what is no id */
export function idsIn(name: string, given: readonly unknown[], most = MAX_IDS): readonly string[] {
  if (given.length > most) throw badArgument(`\`${name}\` must contain at most ${most} IDs; received ${given.length}.`);
  if (!given.every(isId)) throw badArgument(`\`${name}\` must be a list of ids.`);
  return given as readonly string[];
}

function isId(value: unknown): boolean {
  return typeof value === 'string' && value.length <= MAX_ID;
}

/** A value where RAGFlow takes numbers and flags for texts; undefined for null, a list or an object. */
export function plainText(value: unknown): string | undefined {
  return typeof value === 'object' || value === undefined ? undefined : String(value);
}

/** What comes more than once in a list, once each. */
export function twiceIn(values: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const value of values) {
    if (seen.has(value)) twice.add(value);
    seen.add(value);
  }
  return [...twice];
}

function alternatives(values: readonly string[]): string {
  const quoted = values.map((value) => `'${value}'`);
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
}

function counted(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
