import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';
import { ROOT } from './files.js';

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

/** Most failures that are named. */
const MAX_FAILURES = 30;

/**
 * Names what failed in a report of vitest, with the first line of each failure: the end of a log alone can
 * begin there.
 */
export function failedTests(json: string | undefined): readonly string[] {
  const read = failures.safeParse(json === undefined ? undefined : JSON.parse(json));
  if (!read.success) return [];
  const lines = read.data.testResults.flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status === 'failed');
    const file = path.relative(ROOT, name);
    if (status === 'failed' && failed.length === 0) return [`${file}: ${firstLine(message)}`];
    return failed.map(({ fullName, failureMessages }) => `${file}: ${fullName}: ${firstLine(failureMessages[0])}`);
  });
  if (lines.length <= MAX_FAILURES) return lines;
  return [...lines.slice(0, MAX_FAILURES), `… and ${lines.length - MAX_FAILURES} more`];
}

function firstLine(text = ''): string {
  return stripVTControlCharacters(text).split('\n', 1).join().slice(0, 200);
}

const failures = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string().optional(),
      assertionResults: z.array(
        z.object({ fullName: z.string(), status: z.string(), failureMessages: z.array(z.string()).default([]) }),
      ),
    }),
  ),
});

/** What one file of tests did. */
export interface FileResult {
  /** Path of the file. */
  readonly file: string;
  readonly status: string;
  readonly tests: readonly { readonly fullName: string; readonly status: string }[];
}

const fileResults = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })),
    }),
  ),
});

/** Reads what vitest's JSON reporter wrote, file by file. Throws when it is no such report. */
export function readFileResults(json: string): readonly FileResult[] {
  return fileResults
    .parse(JSON.parse(json))
    .testResults.map(({ name, status, assertionResults }) => ({ file: name, status, tests: assertionResults }));
}
