import { EngineError } from '../../errors.js';

/** A refusal of a webhook call; all of them are HTTP 400, in the words of RAGFlow where it has some. */
export function refuse(message: string): EngineError {
  return new EngineError('BAD_REQUEST', message);
}
