/** Runs the tests of the tools, and says in one line for each tool how many there are and whether they pass. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { tools } from '../src/tools/index.js';
import type { AnyTool } from '../src/tools/tool.js';
import { ROOT } from './support/files.js';
import { isProgram } from './support/script.js';
import { type FileResult, readFileResults } from './support/test-results.js';

/** The tests of one tool; or those of what tools share, under a name that is no tool's. */
export interface ToolTests {
  readonly name: string;
  readonly count: number;
  /** Full names of tests that failed; a file that did not get to its tests is one. */
  readonly failed: readonly string[];
}

const FOLDER = 'test/tools';
const SHARED = '(shared parts)';

/** Sorts what ran by tool: `TavilySearch` is tested in `tavily-search.test.ts`, by any of its names; everything else is shared. */
export function testsByTool(
  files: readonly FileResult[],
  all: readonly Pick<AnyTool, 'component' | 'name' | 'aliases'>[],
): readonly ToolTests[] {
  const plain = (name: string): string => name.replace(/[-_]/g, '').toLowerCase();
  const toolOf = ({ file }: FileResult): string => {
    if (path.basename(path.dirname(file)) !== path.basename(FOLDER)) return SHARED;
    const tested = plain(path.basename(file, '.test.ts'));
    const isOf = ({ component, name, aliases = [] }: (typeof all)[number]): boolean =>
      [component, name, ...aliases].some((one) => plain(one) === tested);
    return all.find(isOf)?.name ?? SHARED;
  };
  return [...all.map(({ name }) => name).sort(), SHARED].map((name) => {
    const own = files.filter((file) => toolOf(file) === name);
    const count = own.reduce((sum, { tests }) => sum + tests.filter(isRun).length, 0);
    return { name, count, failed: own.flatMap(failuresIn) };
  });
}

/** One line per tool. A tool without a test is no better than one whose tests fail. */
export function toolLines(results: readonly ToolTests[]): readonly string[] {
  const width = Math.max(...results.map(({ name }) => name.length));
  return results.map((result) => {
    const { name, count, failed } = result;
    const what = failed.length === 0 ? `${count} tests` : `${count} tests, ${failed.length} failed`;
    return `${isFine(result) ? 'ok    ' : 'FAILED'} ${name.padEnd(width)}  ${what}`;
  });
}

/** Whether there are tests and all pass. */
export function isFine({ count, failed }: ToolTests): boolean {
  return count > 0 && failed.length === 0;
}

function isRun({ status }: { readonly status: string }): boolean {
  return status === 'passed' || status === 'failed';
}

function failuresIn({ file, status, tests }: FileResult): string[] {
  const failed = tests.filter((test) => test.status === 'failed').map(({ fullName }) => fullName);
  return status === 'failed' && failed.length === 0 ? [`${path.basename(file)} could not be run`] : failed;
}

function runVitest(output: string): Promise<void> {
  const vitest = 'node_modules/vitest/vitest.mjs';
  const args = [vitest, 'run', '--project', 'test', FOLDER, '--reporter=json', `--outputFile.json=${output}`];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
    child.once('error', reject);
    child.once('close', () => resolve());
  });
}

if (isProgram(import.meta.url)) {
  const folder = mkdtempSync(path.join(tmpdir(), 'runnel-tools-'));
  try {
    const output = path.join(folder, 'results.json');
    await runVitest(output);
    const results = testsByTool(readFileResults(readFileSync(output, 'utf8')), tools);
    console.log(toolLines(results).join('\n'));
    const failed = results.flatMap((result) => result.failed.map((test) => `  ${result.name}: ${test}`));
    if (failed.length > 0) console.log(`\nfailed tests:\n${failed.join('\n')}`);
    const fine = results.filter(isFine).length;
    console.log(`\n${fine} of ${results.length} fine; details: npx vitest run ${FOLDER}`);
    process.exitCode = fine === results.length ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
