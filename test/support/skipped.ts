/** The name of a test that runs only under a condition; where it is skipped, with the reason. */
export const skippedUnless = (isRun: boolean, why: string, name: string): string =>
  isRun ? name : `${name} (skipped: ${why})`;
