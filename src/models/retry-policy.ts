import { defer, type SchedulerLike } from 'rxjs';
import { doubling, type RetryWithOptions, retryWith } from '../operators/retry-with.js';
import type { ChatModel, ChatRetries } from './chat-model.js';
import { retryAfterMs } from './provider-error.js';

/** No wait between two attempts is longer than this, whatever `Retry-After` says. */
const MAX_DELAY_MS = 60_000;

/** How model calls are retried where the call itself does not say. */
export interface RetryPolicy {
  /** Attempts after the first. @default 0 */
  readonly maxRetries?: number;
  /** Milliseconds before the first retry. @default 2000 */
  readonly delayMs?: number;
  /** Source of jitter, in [0, 1). @default Math.random */
  readonly random?: () => number;
  /** Where delays run. @default RxJS's timers */
  readonly scheduler?: SchedulerLike;
}

/**
 * Milliseconds to wait after attempt number `attempt` (from 1): `baseMs` doubled per attempt, at most 60 s, and of that the
 * upper half drawn at random, so that many runs that failed together do not come back together.
 */
export function backoffMs(attempt: number, baseMs: number, random: () => number): number {
  const full = doubling(baseMs, MAX_DELAY_MS)(attempt);
  return full / 2 + (full / 2) * random();
}

/** The one place that decides whether and when a model call is tried again; used by every kind of model. */
export function retryOptions(policy: RetryPolicy, retries: ChatRetries = {}): RetryWithOptions {
  const random = policy.random ?? Math.random;
  const baseMs = retries.delayMs ?? policy.delayMs ?? 2_000;
  return {
    attempts: 1 + (retries.maxRetries ?? policy.maxRetries ?? 0),
    delayMs: (attempt, error) => {
      const asked = Math.min(MAX_DELAY_MS, retryAfterMs(error) ?? 0);
      return Math.max(asked, backoffMs(attempt, baseMs, random));
    },
    ...(policy.scheduler && { scheduler: policy.scheduler }),
  };
}

/**
 * Tries a model's calls again: `maxRetries` + 1 attempts, only after retryable errors, only before the first delta.
 *
 * Unsubscribing during a wait ends it. `Retry-After` is honoured up to 60 s.
 */
export function withRetries(model: ChatModel, policy: RetryPolicy = {}): ChatModel {
  return {
    // Deferred, so that a bad option is an error of the call and not a throw at its caller.
    chat: (request) => defer(() => model.chat(request).pipe(retryWith(retryOptions(policy, request.retries)))),
  };
}
