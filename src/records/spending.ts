/** What tenants spend on researches within a day of UTC, counted by all processes together. */

/** Limits of one tenant and day; what is left out has none. */
export interface DayLimits {
  readonly tokens?: number | undefined;
  /** Calls of models, attempts included. */
  readonly calls?: number | undefined;
  readonly webRequests?: number | undefined;
  /** In the currency of the prices of models. */
  readonly money?: number | undefined;
}

/** An amount that is spent, or given back. */
export interface DayAmount {
  readonly tokens: number;
  readonly calls: number;
  readonly webRequests: number;
  /** Undefined: its price is not known. */
  readonly money: number | undefined;
}

/** What a tenant has spent on a day, and what it may. */
export interface DayStanding {
  /** Such as `2026-11-29`. */
  readonly day: string;
  readonly tokens: number;
  readonly calls: number;
  readonly webRequests: number;
  /** `unknown` once a call without a price was made. */
  readonly money: number | 'unknown';
  readonly of: DayLimits;
}

/** Counts what one tenant spends in a day. */
export interface DailySpending {
  /** The same for another tenant. */
  forTenant(tenant: string): DailySpending;
  /** How today stands. @throws EngineError STORE_UNAVAILABLE */
  today(): Promise<DayStanding>;
  /** How the day stood when something was counted last; undefined before. */
  readonly last: DayStanding | undefined;
  /** @throws EngineError BUDGET_EXHAUSTED where tokens, calls or money of today are used up, so that a research could do nothing; STORE_UNAVAILABLE */
  requireLeft(): Promise<void>;
  /** Counts an amount where all of it fits. @throws EngineError BUDGET_EXHAUSTED and nothing is counted; STORE_UNAVAILABLE */
  take(amount: DayAmount): Promise<void>;
  /** Adds a difference to what was counted, which may be negative and may exceed a limit. @throws EngineError STORE_UNAVAILABLE */
  correct(difference: DayAmount): Promise<void>;
}
