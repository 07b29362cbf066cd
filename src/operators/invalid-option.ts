import { EngineError } from '../errors.js';

/**
 * The error for an option that is not allowed: who refused it, what is allowed, what was received.
 *
 * Code `OPTION_INVALID`. Thrown when an operator is built, so that a mistake shows where it was made.
 */
export function invalidOption(owner: string, option: string, allowed: string, received: unknown): EngineError {
  const shown = typeof received === 'string' ? JSON.stringify(received) : String(received);
  return new EngineError('OPTION_INVALID', `${owner}: "${option}" must be ${allowed}; received ${shown}.`);
}

/** Refuses a number that is not a whole one of at least `least`. @throws EngineError `OPTION_INVALID`. */
export function requireWhole(owner: string, option: string, value: number, least: 0 | 1): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw invalidOption(owner, option, `a whole number of at least ${least}`, value);
}
