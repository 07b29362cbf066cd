import { z } from 'zod';
import { EngineError } from '../../errors.js';
import { parseOwnJson } from '../../json.js';

/** Validates what is read from Redis. @throws EngineError INTERNAL naming what is wrong with `what`. */
export function readReply<T>(schema: z.ZodType<T>, reply: unknown, what: string): T {
  const parsed = schema.safeParse(reply);
  if (parsed.success) return parsed.data;
  throw new EngineError('INTERNAL', `${what} cannot be read from Redis: ${z.prettifyError(parsed.error)}`);
}

/** A text that is JSON of the given form. */
export function jsonText<T>(schema: z.ZodType<T>): z.ZodType<T, string> {
  return z
    .string()
    .transform((text, context): unknown => {
      const value = parseOwnJson(text);
      if (value === undefined) context.addIssue({ code: 'custom', message: 'expected JSON' });
      return value;
    })
    .pipe(schema as z.ZodType<T, unknown>);
}
