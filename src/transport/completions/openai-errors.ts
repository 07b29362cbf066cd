import { EngineError, type ErrorCode } from '../../errors.js';
import type { JsonObject } from '../../json.js';
import { outside } from '../envelope.js';

/** HTTP status and type of OpenAI's errors by code; anything else is the server's fault. */
const KINDS: Readonly<Partial<Record<ErrorCode, readonly [status: number, type: string]>>> = {
  BAD_REQUEST: [400, 'invalid_request_error'],
  BODY_TOO_LARGE: [413, 'invalid_request_error'],
  DOCUMENT_INVALID: [400, 'invalid_request_error'],
  UNAUTHENTICATED: [401, 'authentication_error'],
  FORBIDDEN: [403, 'permission_error'],
  NOT_FOUND: [404, 'not_found_error'],
  SESSION_BUSY: [409, 'invalid_request_error'],
  LIMIT_REACHED: [503, 'server_error'],
};

/** A refusal in OpenAI's form; what is not an EngineError keeps its message to itself. */
export function openaiError(thrown: unknown): { readonly status: number; readonly body: JsonObject } {
  const error = EngineError.is(thrown) ? thrown : new EngineError('INTERNAL', '');
  const [usual, type] = KINDS[error.code] ?? [500, 'server_error'];
  const { message, status = usual } = outside(error);
  return { status, body: { error: { message, type } } };
}
