import { EngineError, toEngineError } from '../errors.js';

/** The error for content that a format cannot hold, as opposed to a fault of the program. */
export function refuse(reason: string): EngineError {
  return new EngineError('DOCUMENT_NOT_WRITTEN', reason);
}

/** Turns anything thrown into the error that names the format and the reason. */
export function notWritten(format: string, thrown: unknown): EngineError {
  const reason = reasonOf(thrown);
  return new EngineError('DOCUMENT_NOT_WRITTEN', `${format.toUpperCase()} generation failed: ${reason}`, {
    details: { format, reason },
    cause: thrown,
  });
}

/** The reason in anything thrown. */
export function reasonOf(thrown: unknown): string {
  return isStackOverflow(thrown)
    ? 'the content is nested too deeply.'
    : toEngineError(thrown, 'DOCUMENT_NOT_WRITTEN').message;
}

/** The Markdown parser recurses without a limit. */
function isStackOverflow(thrown: unknown): boolean {
  return thrown instanceof RangeError && thrown.message.includes('call stack');
}

/** The reason in anything that a parser throws. */
export function reasonOfParser(thrown: unknown): string {
  if (thrown instanceof RangeError) return 'its elements are nested too deeply';
  return thrown instanceof Error ? thrown.message : String(thrown);
}
