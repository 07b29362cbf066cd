import { z } from 'zod';
import { parseReference, type Reference } from '../dsl/reference.js';
import { readReference, type ValueSource } from '../dsl/resolve.js';
import { settled } from '../graph/node-events.js';
import type { Json } from '../json.js';
import { nodeParams, nullishText } from './base-params.js';
import { defineComponent } from './component.js';
import { isTruthy } from './values/comparison.js';

const candidate = z.union([z.string(), z.looseObject({ value: nullishText.describe('A reference.') })]);

const group = z.looseObject({
  group_name: z.string().min(1).describe('Name of the output that the group gives.'),
  variables: z
    .array(candidate)
    .min(1)
    .describe('References in order of preference, as texts or as `{ value }`; at least one.'),
});

const params = nodeParams({
  groups: z.array(group).min(1).describe('The groups, each of which gives one output; at least one.'),
  accept_falsy: z
    .boolean()
    .default(false)
    .describe('Whether 0, false and empty texts, lists and objects count as values too. Default: false.'),
});

type Params = z.infer<typeof params>;

/**
 * VariableAggregator: gives, for each group, the first of its variables that has a value, with its type.
 *
 * A group without any gives null; of groups with one name the last that has a value counts. Branches that did not run are the normal case here, so a reference without a value,
 * even one that names nothing, is passed over without a word.
 */
export const variableAggregator = defineComponent<Params>({
  type: 'VariableAggregator',
  group: 'data',
  summary: 'Gives the first variable of each group that has a value, such as the result of whichever branch ran.',
  thoughts: 'Picking the values that are there.',
  params,
  outputs: {},
  ownOutputs: ({ groups }) => groups.map(({ group_name }) => group_name),
  create({ groups, accept_falsy: acceptFalsy }) {
    const parsed = groups.map(parseGroup);
    const accepts = acceptFalsy ? (value: Json) => value !== null : isTruthy;
    return ({ source }) => {
      const outputs = new Map<string, Json>();
      for (const { name, references } of parsed) {
        const value = firstValue(references, source, accepts);
        if (value !== null || !outputs.has(name)) outputs.set(name, value);
      }
      return settled(Object.fromEntries(outputs));
    };
  },
});

/** A group whose references are parsed; what is no reference can never have a value and is left out. */
function parseGroup({ group_name: name, variables }: Params['groups'][number]) {
  const references = variables.map((variable) =>
    parseReference((typeof variable === 'string' ? variable : variable.value) ?? ''),
  );
  return { name, references: references.filter((reference) => reference !== undefined) };
}

function firstValue(references: readonly Reference[], source: ValueSource, accepts: (value: Json) => boolean): Json {
  for (const reference of references) {
    const lookup = readReference(reference, source);
    if (lookup.status === 'found' && accepts(lookup.value)) return lookup.value;
  }
  return null;
}
