/** The circuit breaker of one target: its states, and the one function that changes them. Pure, so that several processes can share it. */
import { z } from 'zod';

/** Calls that ended longer ago than this do not count, in milliseconds. Calls of one second leave together. */
export const WINDOW_MS = 60_000;
/** How long a breaker stays open before a probe, in milliseconds. */
export const OPEN_MS = 300_000;
/** How long a probe may take, in milliseconds. */
export const PROBE_MS = 5_000;
/** Calls in the window from which on their share of failures counts. */
const LEAST_CALLS = 20;
/** More failures than this share of the calls open the breaker. */
const FAILED_SHARE = 0.1;
/** So many failures in a row open it, however few calls there were. */
const FAILED_IN_ROW = 5;
/** Milliseconds of a pause for the first, second and third 429 in a row that names no time. */
const PAUSES_MS = [2_000, 3_000, 5_000] as const;
/** No pause is longer, whatever `Retry-After` says; also what a clock that jumps may cost. */
const LONGEST_PAUSE_MS = 3_600_000;
/** Characters of a reason that are stored. */
const MAX_REASON = 300;

const time = z.number().min(0);
const count = z.number().int().min(0);

/** What is stored of a breaker. */
export const breakerStateSchema = z.object({
  phase: z.enum(['closed', 'open', 'half-open']),
  reason: z.string().max(MAX_REASON).exactOptional(),
  until: time.exactOptional(),
  seconds: z.array(z.tuple([count, count, count])).max(WINDOW_MS / 1_000 + 1),
  failedInRow: count,
  limitedInRow: count,
  pausedUntil: time,
});

/**
 * A breaker at a moment; times are milliseconds since 1970.
 *
 * `closed`: calls pass, unless it is paused until `pausedUntil`. `open`: they do not, for `reason`; from `until` on a probe may be made, without
 * it only the administrator or a new configuration closes it. `half-open`: a probe is under way, and has failed at `until`.
 * `seconds`: the calls of the window, for each second its number since 1970, its successes and its failures.
 */
export interface BreakerState {
  readonly phase: 'closed' | 'open' | 'half-open';
  readonly reason?: string;
  readonly until?: number;
  readonly seconds: readonly (readonly [second: number, succeeded: number, failed: number])[];
  readonly failedInRow: number;
  readonly limitedInRow: number;
  readonly pausedUntil: number;
}

/** What happens to a breaker, and when. */
export type BreakerEvent = { readonly at: number } & (
  | { readonly type: 'succeeded' }
  /** Refused, 5xx, no first packet in time, a stream that was cut, an answer that makes no sense. */
  | { readonly type: 'failed'; readonly reason: string }
  /** 429. @param retryAfterMs what the server asked for */
  | { readonly type: 'limited'; readonly retryAfterMs?: number | undefined }
  /** 401 and 403. */
  | { readonly type: 'key-refused' }
  /** 400, 404, too long: the request is wrong, not the target. */
  | { readonly type: 'request-refused' }
  /** The user went away, or another target was faster. */
  | { readonly type: 'cancelled' }
  | { readonly type: 'probe-begun' }
  | { readonly type: 'probe-succeeded' }
  | { readonly type: 'probe-failed'; readonly reason: string }
  | { readonly type: 'forced-open' }
  | { readonly type: 'forced-closed' }
);

/** What a breaker says to a call: `probe`: no, but a probe is due; `shut`: no, and no time will change that. */
export type Admission = 'pass' | 'paused' | 'open' | 'probe' | 'probing' | 'shut';

/** A breaker of which nothing is known. */
export const NEW_BREAKER: BreakerState = {
  phase: 'closed',
  seconds: [],
  failedInRow: 0,
  limitedInRow: 0,
  pausedUntil: 0,
};

/** What a breaker says to a call at a time. */
export function admission(state: BreakerState, at: number): Admission {
  const { phase, until, pausedUntil } = settle(state, at);
  if (phase === 'half-open') return 'probing';
  if (phase === 'closed') return pausedUntil > at ? 'paused' : 'pass';
  if (until === undefined) return 'shut';
  return until > at ? 'open' : 'probe';
}

/** Successes and failures of the window that ends at a time. */
export function callsIn(
  { seconds }: BreakerState,
  at: number,
): { readonly succeeded: number; readonly failed: number } {
  let [succeeded, failed] = [0, 0];
  for (const [second, good, bad] of seconds) {
    if (!isWithin(second, at)) continue;
    succeeded += good;
    failed += bad;
  }
  return { succeeded, failed };
}

/**
 * The state behind an event; the same object when the event changes nothing.
 *
 * | State | Event | Next |
 * |---|---|---|
 * | closed | succeeded | closed, counted |
 * | closed | failed | closed; open when more than 10 % of at least 20 calls failed, or 5 in a row |
 * | closed | limited | closed, paused for what the server asks, else 2, 3, 5 s; three in a row count as one failure |
 * | any | key-refused | open without an end |
 * | any | request-refused, cancelled | the same |
 * | open | probe-begun, 5 min over | half-open |
 * | half-open | probe-succeeded | closed, counts cleared |
 * | half-open | probe-failed, or 5 s over | open for 5 min |
 * | any | forced-open, forced-closed | open without an end; closed, counts cleared |
 *
 * Ends of calls that began before it opened change nothing. A 429 during a pause only prolongs the pause: its call began before.
 */
export function transition(before: BreakerState, event: BreakerEvent): BreakerState {
  const state = settle(before, event.at);
  switch (event.type) {
    case 'request-refused':
    case 'cancelled':
      return before;
    case 'forced-open':
      return shut('opened by an administrator');
    case 'forced-closed':
      return NEW_BREAKER;
    case 'key-refused':
      return state.phase === 'open' && state.until === undefined ? state : shut('key refused');
    case 'probe-begun':
      if (admission(state, event.at) !== 'probe') return state;
      return { ...state, phase: 'half-open', until: event.at + PROBE_MS };
    case 'probe-succeeded':
      return state.phase === 'half-open' ? NEW_BREAKER : state;
    case 'probe-failed':
      return state.phase === 'half-open' ? open(event.reason, event.at) : state;
    case 'succeeded':
      if (state.phase !== 'closed') return state;
      return { ...state, seconds: counted(state, event.at, true), failedInRow: 0, limitedInRow: 0 };
    case 'limited':
      return state.phase === 'closed' ? limited(state, event.at, event.retryAfterMs) : state;
    case 'failed':
      return state.phase === 'closed' ? failed({ ...state, limitedInRow: 0 }, event.at, event.reason) : state;
  }
}

/** What time alone changes: a probe that took too long, and times that only a clock that was set back explains. */
function settle(state: BreakerState, at: number): BreakerState {
  const { phase, until, pausedUntil } = state;
  if (phase === 'half-open' && until !== undefined && (until <= at || until > at + PROBE_MS)) {
    return open(`the probe gave no packet within ${PROBE_MS} ms`, Math.min(until, at));
  }
  if (phase === 'open' && until !== undefined && until > at + OPEN_MS) return { ...state, until: at + OPEN_MS };
  if (pausedUntil > at + LONGEST_PAUSE_MS) return { ...state, pausedUntil: at + LONGEST_PAUSE_MS };
  return state;
}

function limited(state: BreakerState, at: number, retryAfterMs: number | undefined): BreakerState {
  const step = Math.min(state.limitedInRow, PAUSES_MS.length - 1);
  const pauseMs = Math.min(retryAfterMs ?? (PAUSES_MS[step] as number), LONGEST_PAUSE_MS);
  const paused = { ...state, pausedUntil: Math.max(state.pausedUntil, at + pauseMs) };
  if (state.pausedUntil > at) return paused;
  const limitedInRow = state.limitedInRow + 1;
  if (limitedInRow < PAUSES_MS.length) return { ...paused, limitedInRow };
  return failed({ ...paused, limitedInRow: 0 }, at, `${PAUSES_MS.length} answers in a row were 429`);
}

function failed(state: BreakerState, at: number, reason: string): BreakerState {
  const next = { ...state, seconds: counted(state, at, false), failedInRow: state.failedInRow + 1 };
  const calls = callsIn(next, at);
  const all = calls.succeeded + calls.failed;
  if (next.failedInRow >= FAILED_IN_ROW) return open(`${FAILED_IN_ROW} failures in a row, the last one: ${reason}`, at);
  if (all < LEAST_CALLS || calls.failed <= all * FAILED_SHARE) return next;
  return open(`${calls.failed} of ${all} calls failed, the last one: ${reason}`, at);
}

const open = (reason: string, at: number): BreakerState => ({ ...shut(reason), until: at + OPEN_MS });

const shut = (reason: string): BreakerState => ({ ...NEW_BREAKER, phase: 'open', reason: reason.slice(0, MAX_REASON) });

const isWithin = (second: number, at: number): boolean => second * 1_000 > at - WINDOW_MS && second * 1_000 <= at;

function counted({ seconds }: BreakerState, at: number, isSuccess: boolean): BreakerState['seconds'] {
  const second = Math.floor(at / 1_000);
  const others = seconds.filter(([one]) => one !== second && isWithin(one, at));
  const [, succeeded = 0, failures = 0] = seconds.find(([one]) => one === second) ?? [];
  return [...others, [second, succeeded + (isSuccess ? 1 : 0), failures + (isSuccess ? 0 : 1)]];
}
