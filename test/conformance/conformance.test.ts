import { afterAll, describe, expect, it } from 'vitest';
import { builtInComponents } from '../../src/canvas/load-canvas.js';
import { type ConformanceCase, readCases } from './case.js';
import { compareCase } from './compare.js';
import { EXPECTED_GAPS, isGap, usesType } from './expected-gaps.js';
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
    if (isGap(golden)) {
      it.todo(golden.name);
    } else {
      it(golden.name, async () => {
        expect(compareCase(golden, await playCase(golden))).toEqual([]);
        passed.push(golden);
      });
    }
  }
});

describe('the list of gaps', () => {
  it.each(EXPECTED_GAPS)('%s is not built yet', (type) => {
    expect(builtInComponents.has(type.toLowerCase()), `${type} is built: take it off the list`).toBe(false);
  });

  it.each(EXPECTED_GAPS)('%s is used by a case', (type) => {
    expect(cases.some((golden) => usesType(golden, type))).toBe(true);
  });
});

afterAll(() => {
  const counts = PARITIES.map((parity) => `${parity} ${count(passed, parity)}/${count(cases, parity)}`);
  console.log(`conformance: ${passed.length} passed of ${cases.length} (${counts.join(', ')})`);
});

function count(some: readonly ConformanceCase[], parity: ConformanceCase['parity']): number {
  return some.filter((golden) => golden.parity === parity).length;
}
