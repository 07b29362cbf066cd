import { Newest } from '../../newest.js';
import type { Rate, RateAnswer } from '../../records/rates.js';

/** Keys that are counted at once; of more, those used longest ago begin anew. */
const MAX_KEYS = 100_000;

const SECOND_MS = 1_000;

/** What is known of a key: when the last requests passed, or what the bucket has. */
interface Counted {
  times: readonly number[];
  tokens: number;
  filledAt: number;
}

/** A counter of this process that answers at once. */
export interface LocalRates {
  /** As `RateCounter.take`. */
  take(rates: readonly Rate[]): RateAnswer;
}

/** Counts in memory, by the given clock; a clock that is set back costs nothing. */
export function createLocalRates(now: () => number): LocalRates {
  const known = new Newest<Counted>({ maxCount: MAX_KEYS });
  const countedOf = ({ key, most }: Rate, at: number): Counted => {
    const found = known.touch(key);
    if (found !== undefined) return found;
    const counted = { times: [], tokens: most, filledAt: at };
    known.put(key, counted);
    return counted;
  };
  /** Brings what is counted up to a time; how many more have room, and after how many milliseconds one has. */
  const look = (rate: Rate, counted: Counted, at: number): { readonly left: number; readonly waitMs: number } => {
    const { kind, most } = rate;
    if (kind === 'second') {
      counted.times = counted.times.filter((time) => time > at - SECOND_MS && time <= at);
      const left = most - counted.times.length;
      const blocking = counted.times[counted.times.length - most];
      return { left, waitMs: left > 0 || blocking === undefined ? 0 : blocking + SECOND_MS - at };
    }
    const elapsedMs = Math.max(0, at - counted.filledAt);
    counted.tokens = Math.min(most, counted.tokens + (elapsedMs * most) / SECOND_MS);
    counted.filledAt = at;
    const left = Math.floor(counted.tokens + ROUNDING);
    return { left, waitMs: left > 0 ? 0 : Math.ceil(((1 - counted.tokens) * SECOND_MS) / most) };
  };
  return {
    take(rates) {
      const at = now();
      const counted = rates.map((rate) => countedOf(rate, at));
      const seen = rates.map((rate, index) => look(rate, counted[index] as Counted, at));
      const refused = seen.findIndex(({ left }) => left <= 0);
      if (refused !== -1) return { isTaken: false, refused, waitMs: seen[refused]?.waitMs ?? 0 };
      for (const [index, one] of counted.entries()) {
        if (rates[index]?.kind === 'second') one.times = [...one.times, at];
        else one.tokens -= 1;
      }
      return { isTaken: true, left: seen.map(({ left }) => left - 1) };
    },
  };
}

/** Parts of a token that fractions lose. */
const ROUNDING = 1e-9;
