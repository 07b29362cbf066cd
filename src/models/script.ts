/** The script of the built-in model: how it is written, and how it is read. */
import { z } from 'zod';
import { EngineError } from '../errors.js';

const delayMs = z.int().min(0).max(60_000);

const answer = {
  reply: z.string().optional(),
  reply_stream: z.array(z.string()).optional(),
  tool_calls: z
    .array(z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.json()).default({}) }))
    .optional(),
  error: z.string().optional(),
  /** Milliseconds before each piece of the answer; for demonstrations. */
  delay_ms: delayMs.optional(),
};

const rule = z.strictObject({
  when: z
    .strictObject({ system: z.string().optional(), user: z.string().optional(), tools: z.boolean().optional() })
    .default({}),
  times: z.int().min(0).optional(),
  ...answer,
});

/** What the scripted model answers; the same form as in the conformance cases and in `RUNNEL_MODELS`. */
export const scriptSchema = z.strictObject({
  rules: z.array(rule).default([]),
  default: z.strictObject(answer).optional(),
  /** For answers without a delay of their own. */
  delay_ms: delayMs.optional(),
});

/** A script as written. */
export type ScriptInput = z.input<typeof scriptSchema>;
/** A script as read. */
export type Script = z.output<typeof scriptSchema>;
/** An answer of a script. */
export type ScriptedAnswer = NonNullable<Script['default']>;

/** A rule whose expressions are compiled. */
export interface CompiledRule {
  readonly system: RegExp | undefined;
  readonly user: RegExp | undefined;
  readonly tools: boolean | undefined;
  readonly times: number;
  readonly answer: ScriptedAnswer;
}

/**
 * Compiles the expressions of a script's rules.
 *
 * They come from whoever configures the process, hence are trusted as far as time goes.
 * @throws EngineError `CONFIG_INVALID` for an expression that is none.
 */
export function compileRules(script: Script): readonly CompiledRule[] {
  return script.rules.map((from, index) => ({
    system: compileExpression(from.when.system, `rules[${index}].when.system`),
    user: compileExpression(from.when.user, `rules[${index}].when.user`),
    tools: from.when.tools,
    times: from.times ?? Number.POSITIVE_INFINITY,
    answer: from,
  }));
}

function compileExpression(source: string | undefined, path: string): RegExp | undefined {
  if (source === undefined) return undefined;
  try {
    return new RegExp(source);
  } catch (cause) {
    throw new EngineError(
      'CONFIG_INVALID',
      `Scripted model: ${path} is not a regular expression; received ${JSON.stringify(source)}.`,
      { cause },
    );
  }
}
