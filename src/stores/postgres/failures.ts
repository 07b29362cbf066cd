import { EngineError } from '../../errors.js';
import { doubling, retry } from '../../operators/retry-with.js';

/** The connection could not be made, or the server was not ready: nothing has happened. */
const NOT_SENT: ReadonlySet<string> = new Set([
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  // Postgres: cannot connect now, too many connections.
  '57P03',
  '53300',
]);

/** The connection or the transaction was lost: it may have happened or not. */
const LOST: ReadonlySet<string> = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  // Postgres: shut down by an administrator, crashed; serialisation failure, deadlock.
  '57P01',
  '57P02',
  '40001',
  '40P01',
]);

/** Postgres has no character 0 in a text: invalid bytes, untranslatable character. */
const NO_TEXT: ReadonlySet<string> = new Set(['22021', '22P05']);

/** Milliseconds to wait after attempt number `attempt` (from 1) to reach the database. */
export const retryDelayMs = doubling(50, 1_000);

export interface RetryPolicy {
  /** How long to try again. */
  readonly patienceMs: number;
  /** Called with the first failure of each piece of work. */
  readonly onWait: (error: unknown) => void;
}

/**
 * Does `work`, again while it fails because the database cannot be reached, with growing delays.
 *
 * @param options.afterLoss also retries when it is unknown whether the work was done
 * @throws EngineError STORE_UNAVAILABLE, retryable when patience ends; the error underneath is its cause.
 */
export async function retryUnreachable<T>(
  work: () => PromiseLike<T>,
  { patienceMs, onWait, afterLoss }: RetryPolicy & { readonly afterLoss: boolean },
): Promise<T> {
  const giveUpAt = Date.now() + patienceMs;
  const isRetryable = (error: unknown, attempt: number): boolean => {
    const code = codeOf(error);
    return (NOT_SENT.has(code) || (afterLoss && LOST.has(code))) && Date.now() + retryDelayMs(attempt) <= giveUpAt;
  };
  const onRetry = (error: unknown, attempt: number): void => {
    if (attempt === 1) onWait(error);
  };
  try {
    return await retry(work, { delayMs: retryDelayMs, isRetryable, onRetry });
  } catch (error) {
    throw toStoreError(error);
  }
}

/** Whether the database could not be reached, or not any more; the work may have been done. */
export function isUnreachable(error: unknown): boolean {
  const code = codeOf(error);
  return NOT_SENT.has(code) || LOST.has(code);
}

/** The code of a system error, of postgres.js, or the SQLSTATE of Postgres; empty without one. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** The constraint that a statement broke, by its name in the migrations; undefined when it broke none. */
export function brokenConstraint(error: unknown): string | undefined {
  const cause = EngineError.is(error) ? error.cause : error;
  const isBroken = codeOf(cause).startsWith('23') && cause instanceof Error && 'constraint_name' in cause;
  return isBroken ? String(cause.constraint_name) : undefined;
}

/** What became of work that failed, as an error for the outside: STORE_UNAVAILABLE, BAD_REQUEST or INTERNAL. */
export function toStoreError(error: unknown): EngineError {
  if (EngineError.is(error)) return error;
  if (isUnreachable(error)) return unreachable(error, codeOf(error));
  const cause = { cause: error };
  if (NO_TEXT.has(codeOf(error))) {
    return new EngineError('BAD_REQUEST', 'A name or an id holds a character that a database cannot keep.', cause);
  }
  const message = error instanceof Error ? error.message : String(error);
  return new EngineError('INTERNAL', `The database refused a statement: ${message}`, cause);
}

function unreachable(error: unknown, code: string): EngineError {
  return new EngineError('STORE_UNAVAILABLE', `The database cannot be reached (${code}). Is it running?`, {
    retryable: true,
    cause: error,
  });
}
