import type { CodeResult } from '../code-runner.js';

/** Characters of a script's own words that an error repeats. */
const MAX_SHOWN = 4_000;

const REASONS: Readonly<Record<Exclude<CodeResult['status'], 'success'>, string>> = {
  program_error: '',
  resource_limit_exceeded: 'the script exceeded a limit',
  unauthorized_access: 'the script tried something that the sandbox does not allow',
  program_runner_error: 'the sandbox did not run the script',
};

/**
 * Says why a script counts as failed; undefined when it does not.
 *
 * One that ended well failed nevertheless when all that it left is text on stderr; beside a result that is only a warning.
 */
export function failureText(result: CodeResult): string | undefined {
  const { status, stderr, stdout, detail, exitCode } = result;
  const said = shorten(stderr.trim());
  if (status === 'success') {
    const leftNothing = result.result === undefined && result.artifacts.length === 0 && stdout.trim() === '';
    return said !== '' && leftNothing ? said : undefined;
  }
  if (status === 'program_error') return said || detail || `the script ended with exit code ${exitCode}`;
  const kind = result.limit ?? result.unauthorized;
  const about = [...new Set([detail, said])].filter((part) => part !== undefined && part !== '').join('\n');
  return [`${REASONS[status]}${kind === undefined ? '' : ` (${kind})`}`, about]
    .filter((part) => part !== '')
    .join(': ');
}

/** Beginning and end: the last line of a traceback says most. */
function shorten(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN / 2)}\n…\n${text.slice(-MAX_SHOWN / 2)}`;
}
