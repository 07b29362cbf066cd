/** The conditions that end a Loop. */
import { z } from 'zod';
import { normalizeReference, parseReference, type Reference } from '../../dsl/reference.js';
import { readReference, typedValue, type ValueSource } from '../../dsl/resolve.js';
import { EngineError } from '../../errors.js';
import type { Json } from '../../json.js';
import { optionalText } from '../base-params.js';
import { compareForLoop } from '../values/comparison.js';
import { nameReference } from '../values/text-reader.js';

/** One entry of `loop_termination_condition`. */
export const loopCondition = z.looseObject({
  variable: optionalText.describe('Reference that is looked at; a name alone is a variable of this loop.'),
  operator: optionalText.describe(
    'contains, not contains, start with, end with, is, is not, empty, not empty, =, ≠, >, <, ≥, ≤.',
  ),
  value: z.json().optional().describe('What is compared with; a reference with input_mode "variable".'),
  input_mode: optionalText.describe('"constant" (default): the value itself; "variable": what it names.'),
});

/** A condition whose references are parsed; what is wrong with it shows when it is looked at. */
export interface LoopCondition {
  readonly left: Reference | undefined;
  readonly operator: string;
  readonly right: Json;
  /** With input mode `variable`: what `right` names. */
  readonly rightReference: Reference | undefined;
  readonly mode: string;
}

/** Parses a condition of the loop with the id `loop`. */
export function parseCondition(written: z.infer<typeof loopCondition>, loop: string): LoopCondition {
  const { variable, operator, value = null, input_mode } = written;
  const mode = input_mode.trim().toLowerCase();
  return {
    left: ownReference(variable, loop),
    operator: operator.trim(),
    right: value as Json,
    rightReference: mode === 'variable' && typeof value === 'string' ? ownReference(value, loop) : undefined,
    mode: mode === '' ? 'constant' : mode,
  };
}

/**
 * Whether a condition holds now. What has no value yet counts as null.
 *
 * @throws EngineError NODE_FAILED for a condition that is incomplete or compares what cannot be compared,
 * REFERENCE_UNRESOLVED for a reference to something that does not exist: a loop on it would never end.
 */
export function holds(
  { left, operator, right, rightReference, mode }: LoopCondition,
  source: ValueSource,
  loop: string,
): boolean {
  if (left === undefined || operator === '') {
    throw failed(loop, 'is incomplete: it needs a variable and an operator');
  }
  if (mode === 'constant') return compareForLoop(read(left, source, loop), operator, right);
  if (mode !== 'variable') throw failed(loop, `has the input mode "${mode}"; it must be "constant" or "variable"`);
  if (rightReference === undefined) throw failed(loop, 'has the input mode "variable", but its value names nothing');
  return compareForLoop(read(left, source, loop), operator, read(rightReference, source, loop));
}

/** A word without a component or namespace is a variable of the loop itself; in braces, `item` and its kin are aliases. */
function ownReference(written: string, loop: string): Reference | undefined {
  const reference = parseReference(written);
  if (reference !== undefined && (reference.kind !== 'alias' || written.includes('{'))) return reference;
  const name = normalizeReference(written);
  return name === '' ? undefined : parseReference(`${loop}@${name}`);
}

function read(reference: Reference, source: ValueSource, loop: string): Json {
  const lookup = readReference(reference, source);
  if (lookup.status !== 'unresolved') return typedValue(reference, lookup);
  throw new EngineError(
    'REFERENCE_UNRESOLVED',
    `A condition of loop "${loop}" reads "${nameReference(reference)}", which does not exist.`,
    { node: loop },
  );
}

function failed(loop: string, problem: string): EngineError {
  return new EngineError('NODE_FAILED', `A condition of loop "${loop}" ${problem}.`, { node: loop });
}
