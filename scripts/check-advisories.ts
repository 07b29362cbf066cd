/**
 * Fails when a published advisory of severity high or critical covers something that users of this package install.
 *
 * Without a registry that answers, it says so and passes: whether the network is there says nothing about the code. With `--required`,
 * before a release, it fails then: what was not checked is not published.
 */
import { spawnSync } from 'node:child_process';
import { z } from 'zod';
import { ROOT } from './support/files.js';
import { isProgram, report } from './support/script.js';

/** How long npm may take, in milliseconds. */
const TIMEOUT_MS = 60_000;

const SEVERE = new Set(['high', 'critical']);

const advisory = z.object({ title: z.string(), url: z.string().optional(), severity: z.string(), range: z.string() });

const audit = z.object({
  vulnerabilities: z.record(
    z.string(),
    z.object({
      severity: z.string(),
      via: z.array(z.union([z.string(), advisory])),
      fixAvailable: z.union([z.boolean(), z.object({ name: z.string(), version: z.string() })]),
    }),
  ),
});

/** What an audit came to: `findings`, one line each, or `unavailable` with the reason why there is none. */
export type AuditResult = { readonly findings: readonly string[] } | { readonly unavailable: string };

/** Reads what `npm audit --json` printed. */
export function readAudit(output: string): AuditResult {
  const answer = parse(output);
  if (answer === undefined) return { unavailable: 'npm gave no report' };
  const read = audit.safeParse(answer);
  if (!read.success) return { unavailable: reasonOf(answer) };
  const findings = Object.entries(read.data.vulnerabilities).flatMap(([name, { via, fixAvailable }]) =>
    via.flatMap((cause) => {
      // A string names another package of the list, where its advisory is reported.
      if (typeof cause === 'string' || !SEVERE.has(cause.severity)) return [];
      const link = cause.url === undefined ? '' : ` ${cause.url}`;
      return [`${name} ${cause.range}: ${cause.severity}: ${cause.title}${link} (${fixOf(fixAvailable)})`];
    }),
  );
  return { findings };
}

function parse(output: string): unknown {
  try {
    return JSON.parse(output);
  } catch {
    return undefined;
  }
}

function reasonOf(answer: unknown): string {
  const failure = z.object({ message: z.string() }).safeParse(answer);
  if (failure.success) return failure.data.message;
  const coded = z.object({ error: z.object({ summary: z.string() }) }).safeParse(answer);
  return coded.success ? coded.data.error.summary : 'npm gave a report of an unknown form';
}

function fixOf(fix: boolean | { readonly name: string; readonly version: string }): string {
  if (typeof fix === 'object') return `fixed by ${fix.name}@${fix.version}`;
  return fix ? 'fixed by npm audit fix' : 'no fixed version yet';
}

function runAudit(): AuditResult {
  // Started by `npm run`, the same npm is asked; otherwise the one on the path.
  const npm = process.env.npm_execpath;
  const args = ['audit', '--json', '--omit=dev'];
  const [command, rest] = npm === undefined ? ['npm', args] : [process.execPath, [npm, ...args]];
  const { stdout, error } = spawnSync(command, rest, {
    cwd: ROOT,
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, npm_config_fetch_retries: '1', npm_config_fetch_timeout: '20000' },
  });
  return error === undefined ? readAudit(stdout) : { unavailable: error.message };
}

/** What is wrong with the result of an audit: nothing where there is no report, unless one is required. */
export function auditProblems(result: AuditResult, isRequired: boolean): readonly string[] {
  if ('findings' in result) return result.findings;
  return isRequired ? [`advisories were not checked, which a release needs: ${result.unavailable}`] : [];
}

if (isProgram(import.meta.url)) {
  const result = runAudit();
  const fine =
    'unavailable' in result
      ? `NOTICE: advisories were not checked: ${result.unavailable}`
      : 'no advisory of severity high or critical';
  report(auditProblems(result, process.argv.includes('--required')), fine);
}
