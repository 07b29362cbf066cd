import { afterAll, describe, expect, it } from 'vitest';
import { type ConformanceCase, readCases } from './case.js';
import { compareCase } from './compare.js';
import { playCase } from './play.js';

const PARITIES = ['exact', 'values', 'quirk'] as const;

/** How many cases there are: a case that gets lost must not pass. */
const CASE_COUNT = 305;

const cases = readCases();
const passed: ConformanceCase[] = [];

describe('golden cases', () => {
  it('are all there', () => {
    expect(new Set(cases.map(({ name }) => name)).size).toBe(CASE_COUNT);
  });

  for (const golden of cases) {
    it(golden.name, async () => {
      expect(compareCase(golden, await playCase(golden))).toEqual([]);
      passed.push(golden);
    });
  }
});

afterAll(() => {
  const counts = PARITIES.map((parity) => `${parity} ${count(passed, parity)}/${count(cases, parity)}`);
  console.log(`conformance: ${passed.length} passed of ${cases.length} (${counts.join(', ')})`);
});

function count(some: readonly ConformanceCase[], parity: ConformanceCase['parity']): number {
  return some.filter((golden) => golden.parity === parity).length;
}
