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
