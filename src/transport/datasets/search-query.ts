/** Values of a search as RAGFlow's clients send them: numbers that may be texts, flags that may be words. */
import { EngineError } from '../../errors.js';
import { unusable } from '../ragflow/dialect.js';
import { pythonLiteral, pythonType } from '../ragflow/python-text.js';
import { refused } from './find.js';

/** A whole number, also as text. @throws EngineError ARGUMENT_UNUSABLE for anything else, also null */
export function wholeOf(name: string, given: unknown, fallback: number): number {
  if (given === undefined) return fallback;
  if (typeof given === 'number') return Math.trunc(given);
  if (typeof given === 'string' && /^\s*[+-]?\d{1,15}\s*$/.test(given)) return Number(given);
  if (typeof given === 'string')
    throw unusable(`\`${name}\`: invalid literal for int(): ${pythonLiteral(given, 100)}.`);
  throw unusable(`\`${name}\` must be a whole number, not '${pythonType(given)}' (TypeError).`);
}

/** A number, also as text. @throws EngineError ARGUMENT_UNUSABLE for anything else, also null */
export function numberOf(name: string, given: unknown): number | undefined {
  if (given === undefined) return undefined;
  if (typeof given === 'number') return given;
  const value = typeof given === 'string' && given.trim() !== '' ? Number(given) : Number.NaN;
  if (Number.isFinite(value)) return value;
  if (typeof given === 'string')
    throw unusable(`\`${name}\`: could not convert string to float: ${pythonLiteral(given, 100)}.`);
  throw unusable(`\`${name}\` must be a number, not '${pythonType(given)}' (TypeError).`);
}

/** A flag, also as a word; null is false. */
export function flagOf(name: string, given: unknown): boolean {
  if (given === undefined || given === null) return false;
  if (typeof given === 'boolean') return given;
  if (typeof given === 'string' && /^(?:true|false)$/i.test(given)) return given.toLowerCase() === 'true';
  throw refused(`\`${name}\` should be a boolean`);
}

/** Texts of a list of at most so many. */
export function textsOf(name: string, given: unknown, most: number): readonly string[] {
  if (given === undefined || given === null) return [];
  const isText = (one: unknown) => typeof one === 'string' && one.length <= 1_000;
  if (!Array.isArray(given) || !given.every(isText)) throw refused(`\`${name}\` should be a list`);
  if (given.length <= most) return [...new Set(given as readonly string[])];
  throw new EngineError('BAD_REQUEST', `\`${name}\` must contain at most ${most} texts; received ${given.length}.`);
}
