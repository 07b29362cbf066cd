import type { z } from 'zod';
import { EngineError } from '../errors.js';

/**
 * The error for settings that do not fit their schema: `CONFIG_INVALID`, with every problem and its path in the message and in
 * `details.issues`. Received values are left out, for they may be keys.
 */
export function invalidSettings(what: string, error: z.ZodError): EngineError {
  const issues = error.issues.flatMap(describe);
  return new EngineError('CONFIG_INVALID', `${what} is not valid: ${issues.join('; ')}.`, { details: { issues } });
}

/** One line per problem; unknown keys get one each, with the path they were found at. */
function describe(issue: z.core.$ZodIssue): string[] {
  if (issue.code !== 'unrecognized_keys') return [`${pathOf(issue.path)}: ${issue.message}`];
  return issue.keys.map((key) => `${pathOf([...issue.path, key])}: unknown key`);
}

function pathOf(path: readonly PropertyKey[]): string {
  if (path.length === 0) return '(root)';
  return path
    .map((step, at) => (typeof step === 'number' ? `[${step}]` : `${at > 0 ? '.' : ''}${String(step)}`))
    .join('');
}
