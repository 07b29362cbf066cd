import { EngineError } from '../errors.js';

/** The error of a call that failed upstream; the message holds no secrets and is shown to models and readers. */
export function toolFailed(
  message: string,
  more: { readonly retryable?: boolean; readonly cause?: unknown } = {},
): EngineError {
  return new EngineError('TOOL_FAILED', message, more);
}
