import { type ConformanceCase, nodesOf } from './case.js';

/**
 * Component types that golden cases use and that are not built yet: their cases are listed as `todo`, not passed over.
 *
 * A type leaves this list in the change that adds it to the registry; a test fails otherwise.
 */
export const EXPECTED_GAPS: readonly string[] = ['Agent'];

/** Whether a case cannot be played yet. */
export function isGap(golden: ConformanceCase): boolean {
  return EXPECTED_GAPS.some((type) => usesType(golden, type));
}

export function usesType(golden: ConformanceCase, type: string): boolean {
  return nodesOf(golden).some((node) => node.type === type);
}
