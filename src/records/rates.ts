/** How often something may happen in a second, counted by all processes together. */

/**
 * One bound of a request. `second`: exactly so many within any second. `bucket`: so many a second on average, and at once as many as a second
 * brings.
 */
export interface Rate {
  readonly kind: 'second' | 'bucket';
  /** What is counted. Unique over kinds and tenants. */
  readonly key: string;
  /** At least 1. */
  readonly most: number;
}

/** Whether a request may pass all of its rates. */
export type RateAnswer =
  /** `left`: how many more each rate has room for now. */
  | { readonly isTaken: true; readonly left: readonly number[] }
  /** `refused`: position of the first rate that has no room, and after how many milliseconds it has. Nothing was counted. */
  | { readonly isTaken: false; readonly refused: number; readonly waitMs: number };

/** Counts requests by their rates. */
export interface RateCounter {
  /** Counts a request by all of its rates, or, when one has no room, by none. @throws EngineError STORE_UNAVAILABLE */
  take(rates: readonly Rate[]): Promise<RateAnswer>;
}
