/** What functions of this folder say of a value that is none of theirs. */
import { EngineError } from '../errors.js';

/** The error for an argument: who refused it, what it must be, what was received. Code `OPTION_INVALID`. */
export function wrongValue(owner: string, name: string, allowed: string, received: unknown): EngineError {
  const shown = received === null ? 'null' : Array.isArray(received) ? 'a list' : typeof received;
  return new EngineError('OPTION_INVALID', `${owner}: "${name}" must be ${allowed}; received ${shown}.`);
}
