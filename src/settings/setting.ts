/** One setting: an environment variable with its meaning, default and schema; and the kinds of values that settings have. */
import { z } from 'zod';

/** One environment variable, or a family of them: `PREFIX_<TYPE>` stands for every variable whose name begins with `PREFIX_`. */
export interface Setting<T> {
  readonly name: string;
  /** What applies when it is unset, for people. */
  readonly shown: string;
  readonly meaning: string;
  /**
   * Parses the trimmed text, undefined when the variable is unset or empty; that of a family parses an object with the texts by what
   * their names have in place of `<…>`. Messages continue a sentence that begins with the name.
   */
  readonly schema: z.ZodType<T>;
  /** Its value is never shown. */
  readonly isSecret?: boolean;
}

/** The default of a number, and its bounds. */
type Range = readonly [fallback: number, least: number, most: number];

/** What a setting may say about itself beside its name and meaning. */
type Facts = Partial<Pick<Setting<unknown>, 'shown' | 'isSecret'>>;

/** The value of a text, or why there is none. */
export type Parsed<T> = { readonly value: T } | { readonly problem: string };

export const MIB = 1024 * 1024;
export const DAY_MS = 24 * 60 * 60 * 1000;

/** A setting whose text `parse` reads; `fallback` is its value when it is unset. */
export function parsed<T>(
  name: string,
  meaning: string,
  fallback: T,
  parse: (text: string) => Parsed<T>,
  facts: Facts = {},
): Setting<T> {
  const read = (text: string | undefined, check: z.RefinementCtx): T => {
    if (text === undefined) return fallback;
    const result = parse(text);
    if ('value' in result) return result.value;
    check.addIssue({ code: 'custom', message: result.problem });
    return z.NEVER;
  };
  return { name, meaning, shown: 'unset', schema: z.string().optional().transform(read), ...facts };
}

/** Any text; undefined when it is unset. */
export function optional(name: string, meaning: string, facts: Facts = {}): Setting<string | undefined> {
  return { name, meaning, shown: 'unset', schema: z.string().optional(), ...facts };
}

/** Any text, with a default. */
export function text(name: string, fallback: string, meaning: string): Setting<string> {
  return { name, meaning, shown: fallback, schema: z.string().default(fallback) };
}

/** An http or https URL. Not shown in errors, as a URL may contain a key or password. */
export function url(name: string, meaning: string): Setting<string | undefined> {
  const schema = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional();
  return { name, meaning, shown: 'unset', schema, isSecret: true };
}

/** `true`, `false`, `1` or `0`. */
export function flag(name: string, meaning: string): Setting<boolean> {
  const parse = (given: string): Parsed<boolean> => {
    const word = given.toLowerCase();
    if (word === 'true' || word === '1') return { value: true };
    return word === 'false' || word === '0' ? { value: false } : { problem: 'must be true or false' };
  };
  return parsed(name, meaning, false, parse, { shown: 'false' });
}

/** `on` or `off`, which also say `true`, `false`, `1` and `0`; on when it is unset. */
export function switched(name: string, meaning: string): Setting<boolean> {
  const parse = (given: string): Parsed<boolean> => {
    const word = given.toLowerCase();
    if (['on', 'true', '1'].includes(word)) return { value: true };
    return ['off', 'false', '0'].includes(word) ? { value: false } : { problem: 'must be on or off' };
  };
  return parsed(name, meaning, true, parse, { shown: 'on' });
}

/** A whole number within limits. */
export function whole(name: string, [fallback, least, most]: Range, meaning: string): Setting<number> {
  const range = Number.isFinite(most)
    ? ` from ${least} to ${most}`
    : Number.isFinite(least)
      ? ` of at least ${least}`
      : '';
  const parse = (given: string): Parsed<number> => {
    const value = Number(given);
    const isWithin = /^-?\d+$/.test(given) && value >= least && value <= most;
    return isWithin ? { value } : { problem: `must be a whole number${range}` };
  };
  return parsed(name, meaning, fallback, parse, { shown: String(fallback) });
}

/** A number of seconds, which may have a fraction, as milliseconds rounded up. */
export function seconds(name: string, [fallback, least, most]: Range, meaning: string): Setting<number> {
  const parse = (given: string): Parsed<number> => {
    const value = Number(given);
    const isWithin = value >= least && value <= most;
    return isWithin ? { value: Math.ceil(value * 1000) } : { problem: `must be a number from ${least} to ${most}` };
  };
  return parsed(name, meaning, fallback * 1000, parse, { shown: String(fallback) });
}

/** Milliseconds, up to 30 days. */
export function milliseconds(name: string, fallback: number, meaning: string): Setting<number> {
  return whole(name, [fallback, 1, 30 * DAY_MS], `${meaning} (milliseconds)`);
}

/** Bytes, up to 16 GiB. */
export function bytes(name: string, fallback: number, meaning: string): Setting<number> {
  return whole(name, [fallback, 1024, 16 * 1024 * MIB], `${meaning} (bytes)`);
}

/** Days or hours; 0 stands for no limit. */
export function count(name: string, fallback: number, meaning: string): Setting<number> {
  return whole(name, [fallback, 0, 999_999], meaning);
}

/** A family of texts, each read by `parse`; those without a value are left out. */
export function family<T>(
  name: string,
  meaning: string,
  parse: (text: string) => T | undefined,
): Setting<Readonly<Record<string, T>>> {
  const read = (texts: Readonly<Record<string, string>>): Readonly<Record<string, T>> => {
    const entries = Object.entries(texts).map(([part, text]) => [part, parse(text)] as const);
    return Object.fromEntries(entries.filter((entry): entry is readonly [string, T] => entry[1] !== undefined));
  };
  return { name, meaning, shown: 'unset', schema: z.record(z.string(), z.string()).transform(read) };
}

/** The entries of a list with commas. */
export function listOf(given: string): string[] {
  return given
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
