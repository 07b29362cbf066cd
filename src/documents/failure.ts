import { EngineError, toEngineError } from '../errors.js';

/** The content is not what this format can hold; told apart from faults of the program. */
export function refuse(reason: string): EngineError {
  return new EngineError('DOCUMENT_NOT_WRITTEN', reason);
}

/** Says which format could not be written and why, whatever was thrown. */
export function notWritten(format: string, thrown: unknown): EngineError {
  const reason = reasonOf(thrown);
  return new EngineError('DOCUMENT_NOT_WRITTEN', `${format.toUpperCase()} generation failed: ${reason}`, {
    details: { format, reason },
    cause: thrown,
  });
}

/** What is wrong with the content, whatever was thrown. */
export function reasonOf(thrown: unknown): string {
  return isStackOverflow(thrown)
    ? 'the content is nested too deeply.'
    : toEngineError(thrown, 'DOCUMENT_NOT_WRITTEN').message;
}

/** The Markdown parser recurses without a bound of its own. */
function isStackOverflow(thrown: unknown): boolean {
  return thrown instanceof RangeError && thrown.message.includes('call stack');
}
