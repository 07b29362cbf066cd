import { z } from 'zod';
import { parseReference, type Reference } from '../dsl/reference.js';
import { readReference, type ValueSource } from '../dsl/resolve.js';
import { EngineError } from '../errors.js';
import type { Activation } from '../graph/node.js';
import { type Notice, settled, type Write, warning } from '../graph/node-events.js';
import type { Json } from '../json.js';
import { nodeParams, nullishText, optionalJson } from './base-params.js';
import { defineComponent } from './component.js';
import { ASSIGN_OPERATORS, type AssignOperator, OverlaySource, readParameter } from './values/assignment.js';
import { afterWarnings, readingTexts, type TextReader } from './values/text-reader.js';

const OPERATOR_NAMES = [...ASSIGN_OPERATORS.keys()].join(', ');

const assignment = z.looseObject({
  variable: nullishText.describe('Reference of what is written: `env.x`, `sys.x` or `node@output.path`.'),
  operator: nullishText.describe(`One of ${OPERATOR_NAMES}.`),
  parameter: optionalJson.describe(
    'What the operator works with. overwrite: a reference. append, extend: a reference or a value. set: a template ' +
      'or a value, null to clear. The arithmetic ones: a number or a reference in braces. The others take none.',
  ),
});

const params = nodeParams({
  variables: z
    .preprocess((value) => (Array.isArray(value) ? value : []), z.array(assignment))
    .describe('The assignments, in order. Default, and for anything but a list: none.'),
});

type Params = z.infer<typeof params>;

/** An assignment that can be carried out. */
interface Step {
  readonly variable: string;
  readonly target: Reference;
  readonly name: string;
  readonly operator: AssignOperator;
  readonly parameter: Json;
}

/** An assignment that cannot, and why. */
interface Unusable {
  readonly problem: string;
}

/**
 * VariableAssigner: changes variables and outputs of other nodes, one assignment after the other.
 *
 * Later assignments see what earlier ones wrote; other nodes see all writes at once, when the node is done. When an
 * operator does not fit its values, RAGFlow's error text is written into the variable, where canvases look for it, and a
 * warning is reported. A node that fails has written nothing.
 *
 * Errors: NODE_FAILED for an incomplete assignment or an unknown operator, REFERENCE_UNRESOLVED and REFERENCE_READ_ONLY
 * for what cannot be read or written.
 */
export const variableAssigner = defineComponent<Params>({
  type: 'VariableAssigner',
  group: 'data',
  summary: 'Changes variables: sets and clears them, adds to lists, calculates.',
  thoughts: 'Changing variables.',
  params,
  outputs: {},
  create({ variables }) {
    // What is unusable fails when it is reached, not before: a handler of errors may be there for it.
    const steps = variables.map((item, index) => toStep(item, index + 1));
    return readingTexts((reader, activation) => assignAll(steps, activation, reader));
  },
});

function toStep(
  { variable, operator: name, parameter }: Params['variables'][number],
  position: number,
): Step | Unusable {
  const at = `Assignment ${position}`;
  if (!variable || !name) return { problem: `${at} is not complete: it needs a variable and an operator.` };
  const operator = ASSIGN_OPERATORS.get(name);
  if (operator === undefined) {
    return { problem: `${at} has the unknown operator "${name}"; use one of ${OPERATOR_NAMES}.` };
  }
  const isGiven = operator.parameter === 'template' ? parameter !== undefined : parameter != null;
  if (!isGiven && operator.parameter !== 'none') {
    return { problem: `${at} is not complete: "${name}" needs a parameter.` };
  }
  const target = parseReference(variable);
  if (target === undefined) {
    return { problem: `${at} writes "${variable}", which is no reference; write for example env.name or node@output.` };
  }
  return { variable, target, name, operator, parameter: parameter ?? null };
}

function assignAll(steps: readonly (Step | Unusable)[], { node, source }: Activation, reader: TextReader) {
  const values = new OverlaySource(source);
  const options = { onUnresolved: reader.unresolved };
  const failures: Notice[] = [];
  const writes: Write[] = [];
  for (const step of steps) {
    if ('problem' in step) throw new EngineError('NODE_FAILED', step.problem, { node });
    const { target, operator, parameter } = step;
    const old = readOld(step, values, node);
    const assigned = operator.apply(old, readParameter(operator.parameter, parameter, old, values, options));
    const value = 'error' in assigned ? assigned.error : assigned.value;
    if ('error' in assigned) failures.push(failureOf(step, assigned.error));
    values.write(target, value);
    writes.push({ to: target, value });
  }
  return afterWarnings(failures, settled({}, { writes }));
}

/** The value before the assignment; null when there is none yet. */
function readOld({ variable, target }: Step, values: ValueSource, node: string): Json {
  const lookup = readReference(target, values);
  if (lookup.status === 'found') return lookup.value;
  if (lookup.status !== 'unresolved') return null;
  throw new EngineError(
    'REFERENCE_UNRESOLVED',
    `Cannot assign to "${variable}": there is no such variable or node. Declare it, or correct the name.`,
    { node },
  );
}

function failureOf({ name, variable }: Step, error: string): Notice {
  return warning(`"${name}" did not fit "${variable}", which now holds the text "${error}".`);
}
