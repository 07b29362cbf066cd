import type { JsonObject } from '../json.js';

/** A small value that processes share. */
export interface SharedState {
  /** Counts its writes; 0: nothing is stored. */
  readonly version: number;
  /** Empty when nothing is stored. */
  readonly state: JsonObject;
}

/**
 * Small values that processes change together, such as the breakers of models: each writes only over what it has read. They belong to no tenant.
 *
 * What was not written for {@link SHARED_STATE_KEPT_MS} may be forgotten.
 */
export interface SharedStates {
  /** Those of the names that are stored; 1,000 names at most. @throws EngineError STORE_UNAVAILABLE */
  read(names: readonly string[]): Promise<ReadonlyMap<string, SharedState>>;
  /**
   * Stores a state with the next version when `before` is the version that is stored (0: none); else gives what is stored in its place.
   *
   * @throws EngineError STORE_UNAVAILABLE
   */
  replace(
    name: string,
    before: number,
    state: JsonObject,
  ): Promise<{ readonly isMine: boolean; readonly stored: SharedState }>;
}

/** What a store has of a name that it does not have. */
export const NO_STATE: SharedState = { version: 0, state: {} };

/** How long a state is stored after it was written last, in milliseconds. */
export const SHARED_STATE_KEPT_MS = 30 * 24 * 3_600_000;
