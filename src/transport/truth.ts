import { z } from 'zod';

const EXPECTED = { error: 'expected true or false' };

/** A flag as clients send it: true, "true", "1", 1; everything else is false, also the text "false". */
export function isTruthy(value: unknown): boolean {
  if (typeof value === 'string') return /^(?:true|1|yes)$/i.test(value.trim());
  return value === true || value === 1;
}

/** A flag of whatever spelling, for where a misspelled one must not pass for false. */
export const flagSchema = z.union(
  [z.boolean(), z.literal([0, 1]), z.string().regex(/^\s*(?:true|false|yes|no|0|1)?\s*$/i, EXPECTED)],
  EXPECTED,
);
