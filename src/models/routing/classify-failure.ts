import { EngineError } from '../../errors.js';
import { isJsonObject } from '../../json.js';
import { retryAfterMs } from '../provider-error.js';
import type { BreakerEvent } from './breaker.js';

/** Statuses of the range 400 to 499 that say nothing against the request: timeout, conflict, too early, no money left. */
const NOT_THE_REQUEST: ReadonlySet<number> = new Set([402, 408, 409, 425]);

type Untimed<T> = T extends unknown ? Omit<T, 'at'> : never;

/** What the failure of a call means for the breaker of its target, and whether another target may answer. */
export interface Failure {
  readonly event: Untimed<BreakerEvent>;
  /** Whether the next target is tried. */
  readonly passesOn: boolean;
}

/**
 * Reads the error of a model call: a request that is wrong is wrong everywhere and is not passed on; so is what is no error of a model.
 */
export function classifyFailure(error: unknown): Failure {
  if (!EngineError.is(error)) return OURS;
  const status = isJsonObject(error.details) ? error.details.status : undefined;
  if (status === 429) return { event: { type: 'limited', retryAfterMs: retryAfterMs(error) }, passesOn: true };
  if (status === 401 || status === 403) return { event: { type: 'key-refused' }, passesOn: true };
  const isRefusal = typeof status === 'number' && status >= 400 && status <= 499 && !NOT_THE_REQUEST.has(status);
  if (isRefusal) return { event: { type: 'request-refused' }, passesOn: false };
  const failed: Failure = { event: { type: 'failed', reason: error.message }, passesOn: true };
  switch (error.code) {
    case 'MODEL_RESPONSE':
      return failed;
    case 'MODEL_UNAVAILABLE':
      // Not retryable: the process closes its connections, or the call took as long as any may.
      return error.retryable ? failed : OURS;
    case 'MODEL_REQUEST':
      return status === undefined ? { event: { type: 'request-refused' }, passesOn: false } : failed;
    default:
      return OURS;
  }
}

/** Nothing that a target did. */
const OURS: Failure = { event: { type: 'cancelled' }, passesOn: false };
