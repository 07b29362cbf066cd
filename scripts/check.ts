/**
 * Runs the checks that CI runs: all of them, or those that are named (`tsx scripts/check.ts style types`).
 *
 * Every step runs even when one before it failed. The last line is `N passed, N failed`: the tests of all test steps, where any other
 * step that failed counts as one failure.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ROOT } from './support/files.js';
import { isProgram } from './support/script.js';
import { countTests, failedTests, type TestCounts } from './support/test-results.js';

/** One thing to check. */
export interface Step {
  readonly name: string;
  /** Arguments of Node. */
  readonly args: readonly string[];
  /** Whether it is a run of vitest, whose tests are counted. */
  readonly isTest?: boolean;
}

const script = (name: string, file: string): Step => ({ name, args: ['--import', 'tsx', `scripts/${file}.ts`] });
const tests = (name: string, project: string): Step => ({
  name,
  args: ['node_modules/vitest/vitest.mjs', 'run', '--project', project],
  isTest: true,
});

/** All steps, in order; `exports`, `package`, `types`, `examples` and `doc-examples` read or import what `build` makes. */
export const STEPS: readonly Step[] = [
  {
    name: 'style',
    args: ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '--max-diagnostics=200', '.'],
  },
  script('imports', 'check-imports'),
  script('sizes', 'check-sizes'),
  script('build', 'build'),
  script('exports', 'check-exports'),
  script('package', 'check-package'),
  { name: 'types', args: ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'] },
  { name: 'web-types', args: ['node_modules/typescript/bin/tsc', '-p', 'web/tsconfig.json'] },
  script('licences', 'check-licences'),
  script('advisories', 'check-advisories'),
  tests('unit', 'test'),
  tests('marble', 'marble'),
  tests('conformance', 'conformance'),
  script('examples', 'check-examples'),
  script('doc-examples', 'check-doc-examples'),
];

/** How a step ended. */
export interface StepResult {
  readonly name: string;
  readonly isFine: boolean;
  readonly seconds: number;
  /** Tests it ran; undefined for a step without tests. */
  readonly counts: TestCounts | undefined;
  /** Its failed tests, a line each. */
  readonly failures?: readonly string[];
}

/** The last lines of a run: one per step, one per failed test, the failed steps by name, and the count that CI reads. */
export function summary(results: readonly StepResult[]): readonly string[] {
  const failed = results.filter(({ isFine }) => !isFine).map(({ name }) => name);
  const total = { passed: 0, failed: 0 };
  for (const { counts, isFine } of results) {
    total.passed += counts?.passed ?? 0;
    total.failed += counts?.failed ?? (isFine ? 0 : 1);
  }
  return [
    ...results.map(
      ({ name, isFine, seconds }) => `${isFine ? 'ok    ' : 'FAILED'} ${name.padEnd(12)} ${seconds.toFixed(1)} s`,
    ),
    ...results.flatMap(({ name, failures = [] }) => failures.map((line) => `${name}: ${line}`)),
    failed.length === 0 ? `all ${results.length} steps are fine` : `failed: ${failed.join(', ')}`,
    `${total.passed} passed, ${total.failed} failed`,
  ];
}

/** Picks steps by name, all of them when there are no names. Throws on a name that is none. */
export function pickSteps(names: readonly string[]): readonly Step[] {
  const unknown = names.filter((name) => STEPS.every((step) => step.name !== name));
  if (unknown.length > 0) {
    throw new Error(`no such step: ${unknown.join(', ')}; there are ${STEPS.map(({ name }) => name).join(', ')}`);
  }
  return names.length === 0 ? STEPS : STEPS.filter(({ name }) => names.includes(name));
}

async function runStep(step: Step, folder: string): Promise<StepResult> {
  console.log(`\n=== ${step.name}`);
  const started = performance.now();
  const file = path.join(folder, `${step.name}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const isFine = await succeeds(step.isTest ? [...step.args, ...reporters] : step.args);
  const seconds = (performance.now() - started) / 1000;
  console.log(`=== ${step.name}: ${isFine ? 'ok' : 'FAILED'} in ${seconds.toFixed(1)} s`);
  if (!step.isTest) return { name: step.name, isFine, seconds, counts: undefined };
  const report = readIfThere(file);
  return { name: step.name, isFine, seconds, counts: countTests(report, isFine), failures: failedTests(report) };
}

function succeeds(args: readonly string[]): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit' });
    child.once('error', reject);
    child.once('close', (exitCode) => resolve(exitCode === 0));
  });
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

if (isProgram(import.meta.url)) {
  const folder = mkdtempSync(path.join(tmpdir(), 'runnel-check-'));
  try {
    const results: StepResult[] = [];
    for (const step of pickSteps(process.argv.slice(2))) results.push(await runStep(step, folder));
    console.log(`\n${summary(results).join('\n')}`);
    process.exitCode = results.every(({ isFine }) => isFine) ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
