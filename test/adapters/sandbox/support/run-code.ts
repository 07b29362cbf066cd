/** Runs scripts in tests, and says in one line what came of them. */
import { firstValueFrom } from 'rxjs';
import { afterAll } from 'vitest';
import type { CodeLanguage, CodeResult, CodeRunner } from '../../../../src/adapters/sandbox/code-runner.js';
import {
  createEmbeddedRunner,
  type EmbeddedRunnerOptions,
} from '../../../../src/adapters/sandbox/embedded/embedded-runner.js';
import { failureText } from '../../../../src/adapters/sandbox/output.js';
import type { JsonObject } from '../../../../src/json.js';

export interface RunOptions {
  readonly args?: JsonObject;
  readonly timeoutMs?: number;
}

/** A runner that is closed after the tests of the file. */
export function openRunner(options: EmbeddedRunnerOptions = {}): CodeRunner {
  // Never the clock of a busy machine: only scripts that are meant to meet the limit set a short one.
  const runner = createEmbeddedRunner({ timeoutMs: 60_000, ...options });
  afterAll(() => runner.close());
  return runner;
}

export function runCode(
  runner: CodeRunner,
  language: CodeLanguage,
  source: string,
  { args = {}, timeoutMs }: RunOptions = {},
): Promise<CodeResult> {
  return firstValueFrom(runner.run({ language, source, args, ...(timeoutMs === undefined ? {} : { timeoutMs }) }));
}

/** `value <JSON>`, or `status limit: failure`. */
export function tellResult(result: CodeResult): string {
  const failure = failureText(result);
  if (failure === undefined) return `value ${JSON.stringify(result.result?.value ?? null)}`;
  return `${result.status} ${result.limit ?? ''}: ${failure}`;
}
