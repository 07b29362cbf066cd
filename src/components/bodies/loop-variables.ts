/** The variables of a Loop: its outputs, with the values that they start with. */
import { z } from 'zod';
import { emptyOfType } from '../../dsl/globals.js';
import { parseReference } from '../../dsl/reference.js';
import { readReference, typedValue } from '../../dsl/resolve.js';
import { EngineError } from '../../errors.js';
import type { Activation } from '../../graph/component.js';
import type { Outputs } from '../../graph/node-events.js';
import type { Json } from '../../json.js';
import { optionalText } from '../base-params.js';

/** One entry of `loop_variables`. */
export const loopVariable = z.looseObject({
  variable: optionalText.describe('Name of the variable, which is an output of the loop.'),
  input_mode: optionalText.describe(
    '"constant": starts with the value itself; "variable": with what it names; anything else: empty by type.',
  ),
  value: z.json().optional().describe('A value, or a reference with input_mode "variable".'),
  type: optionalText.describe('string, number, boolean, object or array<…>; what an empty variable starts as.'),
});

type LoopVariable = z.infer<typeof loopVariable>;

/**
 * The values with which a loop starts. A row without a name and a value is one that the editor left empty.
 *
 * @throws EngineError NODE_FAILED for a variable that is incomplete.
 */
export function initialValues(variables: readonly LoopVariable[], activation: Activation): Outputs {
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
  return new EngineError(
    'NODE_FAILED',
    `${which} of loop "${name}" is not complete: it needs a name, a mode, a type and a value.`,
    {
      node,
    },
  );
}
