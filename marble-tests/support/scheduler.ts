import { inspect } from 'node:util';
import { type RunHelpers, TestScheduler } from 'rxjs/testing';
import { expect } from 'vitest';

/**
 * Runs a marble test in virtual time: `it('emits', () => marbles(({ cold, expectObservable }) => { … }))`.
 *
 * RxJS's own timers and clock are virtual inside; promises and `setImmediate` are not, so neither belongs in a marble test.
 * `now` is the virtual time in milliseconds.
 * Errors are the same when name, message and code are. A failure shows both timelines, one notification a line.
 */
export function marbles(body: (helpers: RunHelpers, now: () => number) => void): void {
  const scheduler = new TestScheduler(compare);
  scheduler.run((helpers) => body(helpers, () => scheduler.now()));
}

interface Notified {
  readonly frame: number;
  readonly notification: { readonly kind: string; readonly value?: unknown; readonly error?: unknown };
}
interface Subscribed {
  readonly subscribedFrame: number;
  readonly unsubscribedFrame: number;
}
type Entry = Notified | Subscribed;

function compare(actual: readonly Entry[], expected: readonly Entry[]): void {
  try {
    expect(actual.map(comparable)).toEqual(expected.map(comparable));
  } catch (difference) {
    expect(timeline(actual), 'the timelines differ').toBe(timeline(expected));
    // The drawings agree although the values do not: the original difference says more.
    throw difference;
  }
}

function comparable(entry: Entry): unknown {
  if (!('notification' in entry)) return { from: entry.subscribedFrame, to: entry.unsubscribedFrame };
  const { kind, value, error } = entry.notification;
  return { frame: entry.frame, kind, value, error: comparableError(error) };
}

/** Stacks and causes differ between two errors that mean the same. */
function comparableError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return { name: error.name, message: error.message, code: 'code' in error ? error.code : undefined };
}

function timeline(entries: readonly Entry[]): string {
  return entries.map((entry) => line(entry)).join('\n');
}

function line(entry: Entry): string {
  if (!('notification' in entry)) return `subscribed at ${entry.subscribedFrame}, until ${entry.unsubscribedFrame}`;
  const { kind, value, error } = entry.notification;
  const shown = kind === 'C' ? '|' : kind === 'E' ? `# ${show(comparableError(error))}` : show(value);
  return `${String(entry.frame).padStart(6)} ${shown}`;
}

const show = (value: unknown): string => inspect(value, { depth: 8, breakLength: Number.POSITIVE_INFINITY });
