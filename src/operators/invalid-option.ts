import { EngineError } from '../errors.js';
import { didYouMean } from '../nearest-name.js';

/**
 * The error for an option that is not allowed: who refused it, what is allowed, what was received.
 *
 * Code `OPTION_INVALID`. Thrown when an operator is built, so that a mistake shows where it was made.
 */
export function invalidOption(owner: string, option: string, allowed: string, received: unknown): EngineError {
  return new EngineError(
    'OPTION_INVALID',
    `${owner}: "${option}" must be ${allowed}; received ${receivedOf(received)}.`,
  );
}

/** A value in the message of an error, short: texts in quotes, of objects that they are some. */
export function receivedOf(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return 'a list';
  if (typeof value !== 'object' || value === null) return String(value);
  const name: unknown = Object.getPrototypeOf(value)?.constructor?.name;
  return typeof name === 'string' && name !== '' && name !== 'Object' ? `an object of the class ${name}` : 'an object';
}

/** Refuses a number that is not a whole one of at least `least`. @throws EngineError `OPTION_INVALID`. */
export function requireWhole(owner: string, option: string, value: number, least: 0 | 1): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw invalidOption(owner, option, `a whole number of at least ${least}`, value);
}

/**
 * Refuses what is no object of options, and names that are none of its options.
 *
 * @throws EngineError `OPTION_INVALID` with the name that was probably meant, and those that there are.
 */
export function requireOptions(owner: string, given: unknown, names: readonly string[], allowed = 'an object'): void {
  requireObject(owner, 'options', given, allowed);
  for (const name of Object.keys(given as object)) {
    if (names.includes(name)) continue;
    const message = `${owner}: there is no option "${name}".${didYouMean(name, names)} The options are ${names.join(', ')}.`;
    throw new EngineError('OPTION_INVALID', message);
  }
}

/** Refuses what is no object where one with fields or options belongs. @throws EngineError `OPTION_INVALID`. */
export function requireObject(owner: string, option: string, value: unknown, allowed = 'an object'): void {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return;
  throw invalidOption(owner, option, allowed, value);
}

/** Refuses what is no text, and an empty one. @throws EngineError `OPTION_INVALID`. */
export function requireText(owner: string, option: string, value: unknown, allowed = 'a text'): void {
  if (typeof value !== 'string' || value === '') throw invalidOption(owner, option, allowed, value);
}

/** Refuses what is no list. @throws EngineError `OPTION_INVALID`. */
export function requireList(owner: string, option: string, value: unknown, allowed = 'a list'): void {
  if (!Array.isArray(value)) throw invalidOption(owner, option, allowed, value);
}

/** Refuses what is no object with functions under these names. @throws EngineError `OPTION_INVALID`. */
export function requireMethods(
  owner: string,
  option: string,
  value: unknown,
  names: readonly string[],
  allowed: string,
): void {
  if (!hasMethods(value, names)) throw invalidOption(owner, option, allowed, value);
}

/** Refuses what is there and is no function. @throws EngineError `OPTION_INVALID`. */
export function requireCallable(owner: string, option: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'function') throw invalidOption(owner, option, 'a function', value);
}

/** Refuses what is there and is no Standard Schema. @throws EngineError `OPTION_INVALID`. */
export function requireSchema(owner: string, option: string, value: unknown): void {
  if (value === undefined || hasMethods((value as { '~standard'?: unknown } | null)?.['~standard'], ['validate']))
    return;
  throw invalidOption(owner, option, 'a Standard Schema, such as z.string()', value);
}

/** Whether a value is an object with functions under these names. */
export function hasMethods(value: unknown, names: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function');
}
