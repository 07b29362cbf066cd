import type { StoredState } from './session.js';

/** Sessions that are remembered, for how long (milliseconds), and the largest of them (UTF-16 units of JSON). */
const MAX_STATES = 64;
const MAX_AGE_MS = 1_800_000;
const MAX_LENGTH = 1_048_576;

/** Cookies and storage of sessions that may go on later; in memory alone. */
export interface RememberedStates {
  /** Undefined when nothing is known any more. */
  get(key: string): StoredState | undefined;
  set(key: string, state: StoredState): void;
  clear(): void;
}

/** Remembers the 64 sessions that were used last, for half an hour each; one of more than a mebibyte is not. */
export function createRememberedStates(now: () => number = Date.now): RememberedStates {
  const states = new Map<string, { readonly json: string; readonly at: number }>();
  return {
    get(key) {
      const found = states.get(key);
      if (found === undefined) return undefined;
      if (now() - found.at <= MAX_AGE_MS) return JSON.parse(found.json) as StoredState;
      states.delete(key);
      return undefined;
    },
    set(key, state) {
      const json = JSON.stringify(state);
      states.delete(key);
      if (json.length > MAX_LENGTH) return;
      states.set(key, { json, at: now() });
      for (const oldest of states.keys()) {
        if (states.size <= MAX_STATES) break;
        states.delete(oldest);
      }
    },
    clear: () => states.clear(),
  };
}
