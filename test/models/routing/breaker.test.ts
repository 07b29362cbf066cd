import { describe, expect, it } from 'vitest';
import {
  admission,
  type BreakerEvent,
  type BreakerState,
  breakerStateSchema,
  callsIn,
  NEW_BREAKER,
  OPEN_MS,
  PROBE_MS,
  transition,
} from '../../../src/models/routing/breaker.js';
import { createRandom, property } from '../../support/random.js';

type Happened = BreakerEvent extends infer E ? (E extends unknown ? Omit<E, 'at'> : never) : never;

const T = 1_700_000_000_000;
const ok: Happened = { type: 'succeeded' };
const bad: Happened = { type: 'failed', reason: 'answered 503' };
const limited = (retryAfterMs?: number): Happened => ({ type: 'limited', retryAfterMs });

/** The state behind events that all happen at one time, from a state. */
const behind = (events: readonly Happened[], from: BreakerState = NEW_BREAKER, at = T): BreakerState =>
  events.reduce((state, event) => transition(state, { ...event, at } as BreakerEvent), from);
const times = (count: number, event: Happened): Happened[] => Array.from({ length: count }, () => event);

const OPEN = behind(times(5, bad));
const SHUT = behind([{ type: 'key-refused' }]);
const FORCED = behind([{ type: 'forced-open' }]);
const PROBING = behind([{ type: 'probe-begun' }], OPEN, T + OPEN_MS);

/** One row of the table: a state, what happens so many milliseconds after T, the next phase, and what a call is told then. */
type Row = readonly [
  row: string,
  from: BreakerState,
  events: readonly Happened[],
  afterMs: number,
  phase: BreakerState['phase'],
  said: ReturnType<typeof admission>,
];

const ROWS: readonly Row[] = [
  ['closed, success', NEW_BREAKER, [ok], 0, 'closed', 'pass'],
  ['closed, failure', NEW_BREAKER, [bad], 0, 'closed', 'pass'],
  ['closed, 4 failures in a row', NEW_BREAKER, times(4, bad), 0, 'closed', 'pass'],
  ['closed, 5 failures in a row', NEW_BREAKER, times(5, bad), 0, 'open', 'open'],
  [
    'closed, 4 failures, a success, 4 failures',
    NEW_BREAKER,
    [...times(4, bad), ok, ...times(4, bad)],
    0,
    'closed',
    'pass',
  ],
  ['closed, 2 of 20 calls failed', NEW_BREAKER, [...times(18, ok), bad, bad], 0, 'closed', 'pass'],
  ['closed, 3 of 20 calls failed', NEW_BREAKER, [...times(17, ok), ...times(3, bad)], 0, 'open', 'open'],
  ['closed, 3 of 19 calls failed', NEW_BREAKER, [...times(16, ok), ...times(3, bad)], 0, 'closed', 'pass'],
  ['closed, 3 of 30 calls failed', NEW_BREAKER, [...times(27, ok), ...times(3, bad)], 0, 'closed', 'pass'],
  ['closed, 429', NEW_BREAKER, [limited()], 0, 'closed', 'paused'],
  ['closed, 400 or 404', behind(times(4, bad)), times(9, { type: 'request-refused' }), 0, 'closed', 'pass'],
  ['closed, 401 or 403', NEW_BREAKER, [{ type: 'key-refused' }], 0, 'open', 'shut'],
  ['closed, user cancelled or hedge lost', behind(times(4, bad)), times(9, { type: 'cancelled' }), 0, 'closed', 'pass'],
  ['open, user cancelled', OPEN, [{ type: 'cancelled' }], 0, 'open', 'open'],
  ['half-open, user cancelled', PROBING, [{ type: 'cancelled' }], OPEN_MS, 'half-open', 'probing'],
  ['open, calls that began before end', OPEN, [ok, bad, limited()], 1, 'open', 'open'],
  ['open, a probe before 5 min', OPEN, [{ type: 'probe-begun' }], OPEN_MS - 1, 'open', 'open'],
  ['open, 5 min over', OPEN, [], OPEN_MS, 'open', 'probe'],
  ['open, a probe after 5 min', OPEN, [{ type: 'probe-begun' }], OPEN_MS, 'half-open', 'probing'],
  ['open, two probes after 5 min', OPEN, times(2, { type: 'probe-begun' }), OPEN_MS, 'half-open', 'probing'],
  ['open, 401', OPEN, [{ type: 'key-refused' }], 1, 'open', 'shut'],
  ['half-open, first packet', PROBING, [{ type: 'probe-succeeded' }], OPEN_MS + 1, 'closed', 'pass'],
  ['half-open, failure', PROBING, [{ type: 'probe-failed', reason: 'r' }], OPEN_MS + 1, 'open', 'open'],
  ['half-open, 401', PROBING, [{ type: 'key-refused' }], OPEN_MS + 1, 'open', 'shut'],
  ['half-open, other calls end', PROBING, [ok, bad], OPEN_MS + 1, 'half-open', 'probing'],
  ['half-open, just before 5 s', PROBING, [ok], OPEN_MS + PROBE_MS - 1, 'half-open', 'probing'],
  ['half-open, 5 s over', PROBING, [ok], OPEN_MS + PROBE_MS, 'open', 'open'],
  ['half-open, first packet after 5 s', PROBING, [{ type: 'probe-succeeded' }], OPEN_MS + PROBE_MS, 'open', 'open'],
  ['half-open, 5 s and 5 min over', PROBING, [], 2 * OPEN_MS + PROBE_MS, 'half-open', 'probe'],
  ['key refused, 5 min over', SHUT, [{ type: 'probe-begun' }], OPEN_MS, 'open', 'shut'],
  ['key refused, closed by an administrator', SHUT, [{ type: 'forced-closed' }], 0, 'closed', 'pass'],
  ['closed, opened by an administrator', NEW_BREAKER, [{ type: 'forced-open' }], 0, 'open', 'shut'],
  ['opened by an administrator, 5 min over', FORCED, [ok, { type: 'probe-begun' }], OPEN_MS, 'open', 'shut'],
  ['opened by an administrator, then closed', FORCED, [{ type: 'forced-closed' }], 0, 'closed', 'pass'],
  ['open, closed by an administrator', OPEN, [{ type: 'forced-closed' }], 0, 'closed', 'pass'],
];

describe('transition', () => {
  it.each(ROWS)('row: %s', (_, from, events, afterMs, phase, said) => {
    const state = behind(events, from, T + afterMs);
    expect([state.phase, admission(state, T + afterMs)]).toEqual([phase, said]);
    expect(breakerStateSchema.parse(JSON.parse(JSON.stringify(state)))).toEqual(state);
  });

  it('counts nothing that ended a minute ago', () => {
    const before = behind([...times(17, ok), bad, bad]);
    expect(callsIn(before, T + 59_999)).toEqual({ succeeded: 17, failed: 2 });
    expect(callsIn(before, T + 60_000)).toEqual({ succeeded: 0, failed: 0 });
    expect(behind([bad], before, T + 59_999).phase).toBe('open');
    expect(behind([bad], before, T + 60_000).phase).toBe('closed');
  });

  it('pauses for as long as the server asks, else 2, 3 and 5 s, and counts three in a row as one failure', () => {
    expect(behind([limited(7_000)]).pausedUntil).toBe(T + 7_000);
    let state = NEW_BREAKER;
    let at = T;
    const pauses: number[] = [];
    const failures: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      state = behind([limited()], state, at);
      pauses.push(state.pausedUntil - at);
      failures.push(state.failedInRow);
      at = state.pausedUntil;
      expect(admission(state, at - 1)).toBe('paused');
      expect(admission(state, at)).toBe('pass');
    }
    expect(pauses).toEqual([2_000, 3_000, 5_000, 2_000, 3_000, 5_000]);
    expect(failures).toEqual([0, 0, 1, 1, 1, 2]);
  });

  it('begins the row of 429 anew after a success and after a failure', () => {
    const twice = behind([limited()], behind([limited()], NEW_BREAKER, T - 10_000), T - 5_000);
    expect(twice.limitedInRow).toBe(2);
    expect(behind([ok], twice).limitedInRow).toBe(0);
    expect(behind([bad, limited()], twice)).toMatchObject({ limitedInRow: 1, failedInRow: 1 });
  });

  it('takes 429 of calls that began before a pause for one', () => {
    const state = behind([...times(20, limited()), limited(9_000)]);
    expect(state).toMatchObject({ phase: 'closed', limitedInRow: 1, failedInRow: 0, pausedUntil: T + 9_000 });
  });

  it('says why it is open', () => {
    expect(OPEN.reason).toBe('5 failures in a row, the last one: answered 503');
    expect(behind([...times(17, ok), ...times(3, bad)]).reason).toBe(
      '3 of 20 calls failed, the last one: answered 503',
    );
    expect([SHUT.reason, FORCED.reason]).toEqual(['key refused', 'opened by an administrator']);
    expect(
      behind([
        { type: 'failed', reason: 'x'.repeat(9_000) },
        ...times(4, { type: 'failed', reason: 'y'.repeat(9_000) }),
      ]).reason,
    ).toHaveLength(300);
  });

  it('is open no longer than 5 min, and paused no longer than an hour, when the clock is set back', () => {
    const day = 24 * 3_600_000;
    expect(behind([ok], OPEN, T - day).until).toBe(T - day + OPEN_MS);
    expect(admission(OPEN, T - day)).toBe('open');
    expect(admission(behind([ok], PROBING, T - day), T - day)).toBe('open');
    const paused = behind([limited(30 * day)]);
    expect(paused.pausedUntil).toBe(T + 3_600_000);
    expect(behind([ok], paused, T - day).pausedUntil).toBe(T - day + 3_600_000);
  });

  const EVENTS: readonly Happened[] = [
    ok,
    bad,
    limited(),
    limited(1),
    { type: 'key-refused' },
    { type: 'request-refused' },
    { type: 'cancelled' },
    { type: 'probe-begun' },
    { type: 'probe-succeeded' },
    { type: 'probe-failed', reason: 'r' },
    { type: 'forced-open' },
    { type: 'forced-closed' },
  ];
  property('stays a state that can be stored, whatever happens, with clocks that jump', 50, (random) => {
    let state = NEW_BREAKER;
    let at = T;
    for (let step = 0; step < 500; step += 1) {
      at += random.pick([0, 10, 1_000, 61_000, OPEN_MS, -5_000_000]);
      state = transition(state, { ...random.pick(EVENTS), at } as BreakerEvent);
      expect(breakerStateSchema.safeParse(state).success).toBe(true);
      expect(['pass', 'paused', 'open', 'probe', 'probing', 'shut']).toContain(admission(state, at));
    }
  });

  property('opens exactly when the counts of a plain list of calls say so', 50, (seed) => {
    const random = createRandom(Math.floor(seed.next() * 1e9));
    let state = NEW_BREAKER;
    let calls: { at: number; ok: boolean }[] = [];
    let at = T;
    for (let step = 0; step < 300; step += 1) {
      at += random.int(40) * 100;
      const isOk = random.chance(0.88);
      state = behind([isOk ? ok : bad], state, at);
      calls.push({ at, ok: isOk });
      const recent = calls.filter((call) => Math.floor(call.at / 1_000) * 1_000 > at - 60_000);
      const failed = recent.filter((call) => !call.ok).length;
      const isRow = calls.length >= 5 && calls.slice(-5).every((call) => !call.ok);
      const opens = !isOk && (isRow || (recent.length >= 20 && failed > recent.length / 10));
      expect(state.phase).toBe(opens ? 'open' : 'closed');
      if (!opens) continue;
      state = NEW_BREAKER;
      calls = [];
    }
  });
});
