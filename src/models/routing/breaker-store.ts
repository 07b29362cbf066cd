import type { JsonObject } from '../../json.js';

/** A breaker as it is stored. */
export interface StoredBreaker {
  /** 0: nothing is stored. */
  readonly version: number;
  /** A {@link BreakerState}; what is none counts as a new breaker. */
  readonly state: JsonObject;
}

/**
 * Where processes share their breakers; `SharedStates` of the stores are one. Names are those of targets with a digest of how they are
 * configured, so that a new configuration begins with a new breaker.
 */
export interface BreakerStore {
  /** Those of the names that are stored. @throws EngineError STORE_UNAVAILABLE */
  read(names: readonly string[]): Promise<ReadonlyMap<string, StoredBreaker>>;
  /**
   * Stores a state with the next version when `before` is still the version that is stored; else gives what is stored in its place.
   *
   * @throws EngineError STORE_UNAVAILABLE
   */
  replace(
    name: string,
    before: number,
    state: JsonObject,
  ): Promise<{ readonly isMine: boolean; readonly stored: StoredBreaker }>;
}
