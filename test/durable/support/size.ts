/** The full size of trials takes minutes: it is for `npm run test:faults`, a small one for `npm test`. */

/** Whether trials have their full size. */
export const IS_FULL = process.env.RUNNEL_TEST_FAULTS === 'full';

/** The number for this run of the tests. */
export function sized(full: number, small: number): number {
  return IS_FULL ? full : small;
}
