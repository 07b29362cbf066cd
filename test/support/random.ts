/**
 * Randomness that can be repeated, and properties that are tried on many random cases.
 *
 * `SEED=123 npx vitest run <file>` tries one case again; `PROPERTY_SCALE=10` tries ten times as many cases as usual.
 */
import { it } from 'vitest';

/** A stream of random numbers that depends on its seed only. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** A whole number from 0 to `below` - 1. */
  int(below: number): number;
  /** True with probability `p`. */
  chance(p: number): boolean;
  pick<T>(from: readonly T[]): T;
  /** Each item with probability `p`, in order. */
  some<T>(from: readonly T[], p: number): T[];
  /** The same items in random order. */
  shuffle<T>(items: readonly T[]): T[];
}

/** Marsaglia's xorshift32, started from a scrambled seed so that neighbouring seeds differ from the first number on. */
export function createRandom(seed: number): Random {
  let state = scramble(seed) || 1;
  const next = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  const int = (below: number): number => Math.floor(next() * below);
  return {
    next,
    int,
    chance: (p) => next() < p,
    pick: (from) => from[int(from.length)] as (typeof from)[number],
    some: (from, p) => from.filter(() => next() < p),
    shuffle: (items) => {
      const shuffled = [...items];
      for (let at = shuffled.length - 1; at > 0; at -= 1) {
        const other = int(at + 1);
        [shuffled[at], shuffled[other]] = [shuffled[other] as never, shuffled[at] as never];
      }
      return shuffled;
    },
  };
}

/** A whole number that looks random and depends on its parts only; for choices that must not depend on order. */
export function hash(...parts: readonly (string | number)[]): number {
  let value = 0;
  for (const char of parts.join('\u0000')) value = scramble(value ^ (char.codePointAt(0) as number));
  return value >>> 0;
}

/** Steele and Vigna's 32-bit finaliser (SplitMix). */
function scramble(value: number): number {
  let mixed = (value + 0x9e3779b9) | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return mixed ^ (mixed >>> 15);
}

/** One test of `cases` random cases; the seed of the case that fails is in its message. */
export function property(
  claim: string,
  cases: number,
  check: (random: Random, seed: number) => void | Promise<void>,
): void {
  const { SEED, PROPERTY_SCALE = '1' } = process.env;
  const count = Math.ceil(cases * Number(PROPERTY_SCALE));
  const seeds = SEED === undefined ? Array.from({ length: count }, (_, at) => at + 1) : [Number(SEED)];
  it(`${claim} (${seeds.length} cases)`, { timeout: 120_000 * Math.max(1, Number(PROPERTY_SCALE)) }, async () => {
    for (const seed of seeds) {
      try {
        await check(createRandom(seed), seed);
      } catch (error) {
        throw new Error(`With SEED=${seed}: ${error instanceof Error ? error.message : String(error)}`, {
          cause: error,
        });
      }
    }
  });
}
