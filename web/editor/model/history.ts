/** Undo and redo: the states before and behind the present one, as they were. */

export interface History<T> {
  /** Oldest first. */
  readonly past: readonly T[];
  readonly present: T;
  /** The next one to go forward to first. */
  readonly future: readonly T[];
  /** What the last step was about, and when it was taken. */
  readonly last?: { readonly about: string; readonly atMs: number };
}

/** A step of its own, or one that goes on with the last. */
export interface StepOptions {
  /** Steps about the same thing, shortly behind each other, are undone together: typing in a field. @default a step of its own */
  readonly about?: string | undefined;
  /** @default now */
  readonly atMs?: number;
}

/** Steps that can be undone. */
export const MAX_STEPS = 200;

/** A pause after which typing on is another step, in milliseconds. */
const PAUSE_MS = 2_000;

export function beginHistory<T>(present: T): History<T> {
  return { past: [], present, future: [] };
}

/** The history after a step. */
export function takeStep<T>(
  history: History<T>,
  present: T,
  { about, atMs = Date.now() }: StepOptions = {},
): History<T> {
  const last = about === undefined ? {} : { last: { about, atMs } };
  const before = history.last;
  const goesOn = about !== undefined && before?.about === about && atMs - before.atMs < PAUSE_MS;
  if (goesOn) return { past: history.past, present, future: [], ...last };
  return { past: [...history.past, history.present].slice(-MAX_STEPS), present, future: [], ...last };
}

/** The same history when there is nothing to undo. */
export function undo<T>(history: History<T>): History<T> {
  const { past, present, future } = history;
  if (past.length === 0) return history;
  return { past: past.slice(0, -1), present: past.at(-1) as T, future: [present, ...future] };
}

/** The same history when there is nothing to redo. */
export function redo<T>(history: History<T>): History<T> {
  const { past, present, future } = history;
  if (future.length === 0) return history;
  return { past: [...past, present], present: future[0] as T, future: future.slice(1) };
}
