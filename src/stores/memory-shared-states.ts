import { EngineError } from '../errors.js';
import { NO_STATE, type SharedState, type SharedStates } from '../records/shared-states.js';

const MAX_STATES = 10_000;

/** Shared states in memory, for a single process. One more than 10,000 names is refused with LIMIT_REACHED. */
export function createMemorySharedStates(): SharedStates {
  const states = new Map<string, SharedState>();
  return {
    async read(names) {
      const found = names.flatMap((name): [string, SharedState][] => {
        const stored = states.get(name);
        return stored === undefined ? [] : [[name, stored]];
      });
      return new Map(found);
    },
    async replace(name, before, state) {
      const stored = states.get(name) ?? NO_STATE;
      if (stored.version !== before) return { isMine: false, stored };
      if (before === 0 && states.size >= MAX_STATES) {
        throw new EngineError('LIMIT_REACHED', `${MAX_STATES} shared states are stored, which is the most.`);
      }
      const next = { version: before + 1, state };
      states.set(name, next);
      return { isMine: true, stored: next };
    },
  };
}
