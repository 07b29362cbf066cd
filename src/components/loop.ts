import { z } from 'zod';
import { emptyOfType } from '../dsl/globals.js';
import { normalizeReference, parseReference, type Reference } from '../dsl/reference.js';
import { readReference, typedValue, type ValueSource } from '../dsl/resolve.js';
import { EngineError } from '../errors.js';
import type { Activation } from '../graph/node.js';
import { type Outputs, settled } from '../graph/node-events.js';
import type { Json } from '../json.js';
import { nodeParams, optionalJson, optionalText, withDefault } from './base-params.js';
import { goRound, nextRound, type Rounds } from './bodies.js';
import { defineComponent } from './component.js';
import { compareForLoop } from './values/comparison.js';
import { nameReference } from './values/text-reader.js';

/** One entry of `loop_variables`. */
const loopVariable = z.looseObject({
  variable: optionalText.describe('Name of the variable, which is an output of the loop.'),
  input_mode: optionalText.describe(
    '"constant": starts with the value itself; "variable": with what it names; anything else: empty by type.',
  ),
  value: optionalJson.describe('A value, or a reference with input_mode "variable".'),
  type: optionalText.describe('string, number, boolean, object or array<…>; what an empty variable starts as.'),
});

/** One entry of `loop_termination_condition`. */
const loopCondition = z.looseObject({
  variable: optionalText.describe('Reference whose value is compared; a name alone is a variable of this loop.'),
  operator: optionalText.describe(
    'contains, not contains, start with, end with, is, is not, empty, not empty, =, ≠, >, <, ≥, ≤.',
  ),
  value: optionalJson.describe('What is compared with; a reference with input_mode "variable".'),
  input_mode: optionalText.describe('"constant" (default): the value itself; "variable": what it names.'),
});

const params = nodeParams({
  loop_variables: withDefault(z.array(loopVariable), []).describe(
    'Variables of the loop, which are its outputs; default none.',
  ),
  loop_termination_condition: withDefault(z.array(loopCondition), []).describe(
    'What ends the loop, checked before every round; without conditions only the maximum does.',
  ),
  logical_operator: withDefault(z.enum(['and', 'or']), 'and').describe(
    '"and" (default): all conditions must hold; "or": one is enough.',
  ),
  maximum_loop_count: z.coerce
    .number()
    .default(0)
    .describe(
      'Most rounds that the loop runs; with 0 (default) or less it runs none. As in RAGFlow there is no "unlimited".',
    ),
});

type Params = z.infer<typeof params>;
type LoopVariable = z.infer<typeof loopVariable>;

/**
 * Repeats its body until its conditions hold, the maximum count is reached, or an ExitLoop runs.
 *
 * The count, then the conditions are checked before every round, the first one included: after the last round, and with a
 * maximum of 0, conditions are not evaluated. The variables are outputs of the Loop, which nodes of the body read and write as
 * `loop@name`. After the last round the item node is visited once more, to close.
 *
 * Errors: NODE_FAILED for an incomplete variable or condition and for an operator that a value does not have;
 * REFERENCE_UNRESOLVED for a condition on something that does not exist.
 */
export const loop = defineComponent<Params>({
  type: 'Loop',
  summary: 'Repeats its body until a condition holds.',
  group: 'flow',
  params,
  outputs: {},
  ownOutputs: ({ loop_variables }) => loop_variables.map(({ variable }) => variable),
  isContainer: true,
  bodyStart: 'LoopItem',
  timeoutSeconds: null,
  check: (_params, { body }) => (body.length === 0 ? ['a Loop needs a LoopItem in its body'] : []),
  create(given, placement) {
    const { id } = placement;
    const conditions = given.loop_termination_condition.map((written) => parseCondition(written, id));
    const hasEnded = (source: ValueSource): boolean => {
      // Without conditions only the count ends the loop.
      if (conditions.length === 0) return false;
      return given.logical_operator === 'and'
        ? conditions.every((condition) => holds(condition, source, id))
        : conditions.some((condition) => holds(condition, source, id));
    };
    return (activation) => repeat(activation, given, hasEnded);
  },
});

function repeat(activation: Activation, params: Params, hasEnded: (source: ValueSource) => boolean) {
  const rounds: Rounds = {
    activation,
    counter: 'round',
    enter: (index) => ({
      isOver: () => index >= params.maximum_loop_count || hasEnded(activation.source),
      body: (isClosing) => (isClosing ? { closing: true } : {}),
    }),
    gather: () => ({}),
    // With the variables as the body left them, and with whatever else the body wrote to the Loop.
    settle: () => settled({ ...activation.outputs }),
  };
  return goRound(rounds, () => {
    const outputs = initialValues(params.loop_variables, activation);
    // The first check of the conditions is a step of its own, after the values that they read are set.
    return { event: { type: 'progress', outputs }, follow: () => [nextRound(rounds, 0)] };
  });
}

/** A condition whose references are parsed; mistakes in it are reported when it is evaluated. */
type LoopCondition = ReturnType<typeof parseCondition>;

/** Parses a condition of the loop with the id `loop`. */
function parseCondition(written: z.infer<typeof loopCondition>, loop: string) {
  const { variable, operator, value = null, input_mode } = written;
  const mode = input_mode.trim().toLowerCase();
  return {
    left: ownReference(variable, loop),
    operator: operator.trim(),
    right: value as Json,
    /** With input mode `variable`: what `right` names. */
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
function holds(
  { left, operator, right, rightReference, mode }: LoopCondition,
  source: ValueSource,
  loop: string,
): boolean {
  if (left === undefined || operator === '') throw failed(loop, 'is incomplete: it needs a variable and an operator');
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

/**
 * The values with which a loop starts. A row without a name and a value is one that the editor left empty.
 *
 * @throws EngineError NODE_FAILED for a variable that is incomplete.
 */
function initialValues(variables: readonly LoopVariable[], activation: Activation): Outputs {
  return Object.fromEntries(
    variables.filter(isMeant).map((variable) => [variable.variable.trim(), initialValue(variable, activation)]),
  );
}

function isMeant({ variable, value }: LoopVariable): boolean {
  return variable.trim() !== '' || (value !== undefined && value !== null && value !== '');
}

function initialValue({ variable, input_mode, value, type }: LoopVariable, activation: Activation): Json {
  const mode = input_mode.trim().toLowerCase();
  if (variable.trim() === '' || mode === '' || type.trim() === '') throw incomplete(activation, variable);
  if (mode !== 'constant' && mode !== 'variable') return emptyOfType(type);
  if (value === undefined || value === null) throw incomplete(activation, variable);
  if (mode === 'constant') return value as Json;
  const reference = typeof value === 'string' ? parseReference(value) : undefined;
  if (reference === undefined) throw incomplete(activation, variable);
  return typedValue(reference, readReference(reference, activation.source));
}

function incomplete({ node, name }: Activation, variable: string): EngineError {
  const which = variable.trim() === '' ? 'A variable without a name' : `Variable "${variable}"`;
  const message = `${which} of loop "${name}" is not complete: it needs a name, a mode, a type and a value.`;
  return new EngineError('NODE_FAILED', message, { node });
}
