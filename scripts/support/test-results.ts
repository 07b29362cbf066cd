import { z } from 'zod';

/** How many tests passed and failed. */
export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
}

const results = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  testResults: z.array(z.object({ status: z.string(), assertionResults: z.array(z.unknown()) })),
});

/**
 * Counts what vitest's JSON reporter wrote. A file that failed before its first test is one failure, and so is a run that
 * `succeeded` denies without a failed test (an unhandled error, no test at all, a crash that left no report).
 */
export function countTests(json: string | undefined, succeeded: boolean): TestCounts {
  const read = results.safeParse(json === undefined ? undefined : JSON.parse(json));
  if (!read.success) return { passed: 0, failed: succeeded ? 0 : 1 };
  const { numPassedTests, numFailedTests, testResults } = read.data;
  const stillborn = testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0).length;
  const failed = numFailedTests + stillborn;
  return { passed: numPassedTests, failed: failed === 0 && !succeeded ? 1 : failed };
}
