import { z } from 'zod';
import { parseReference } from '../dsl/reference.js';
import { resolveParam, typedValue, type ValueSource } from '../dsl/resolve.js';
import { settled } from '../graph/node-events.js';
import type { Json } from '../json.js';
import { nodeIds, nodeParams, optionalText, withDefault } from './base-params.js';
import { defineComponent } from './component.js';
import { compareForSwitch } from './values/comparison.js';
import { readingTexts, type TextReader } from './values/text-reader.js';

const item = z.looseObject({
  cpn_id: optionalText.describe(
    'Reference whose value is compared, such as "begin@x"; an item without one is left out.',
  ),
  operator: optionalText.describe(
    'contains, not contains, start with, end with, empty, not empty, in, not in, =, ≠, >, <, ≥, ≤.',
  ),
  value: withDefault(z.json(), '').describe('What is compared with; a reference in braces is read. Default "".'),
});

const condition = z.looseObject({
  logical_operator: optionalText.describe('"and": all items must hold; anything else: one is enough.'),
  items: z.array(item).describe('What is compared; without items the condition never holds.'),
  to: nodeIds
    .pipe(z.array(z.string()).min(1))
    .describe('Ids of the nodes that run when the condition holds; at least one.'),
});

const params = nodeParams({
  conditions: z.array(condition).min(1).describe('Evaluated in order; the first that holds decides. At least one.'),
  end_cpn_ids: nodeIds
    .pipe(z.array(z.string()).min(1))
    .describe('Ids of the nodes that run when no condition holds; at least one.'),
});

/** A condition whose references are parsed. */
type Condition = ReturnType<typeof parseCondition>;

/**
 * Sends the run one way or another: the first condition that holds decides, otherwise `end_cpn_ids`. All ids of the choice run.
 *
 * Errors: NODE_FAILED for an operator that does not exist, REFERENCE_UNRESOLVED for an output of a node that does not.
 */
export const switchComponent = defineComponent<z.infer<typeof params>>({
  type: 'Switch',
  summary: 'Chooses the next nodes by comparing values.',
  group: 'flow',
  params,
  outputs: {
    next: { type: 'array', description: 'Display names of the nodes that run next.' },
    _next: { type: 'array', description: 'Ids of the nodes that run next.' },
  },
  targets: ({ conditions, end_cpn_ids }) => [...conditions.flatMap(({ to }) => to), ...end_cpn_ids],
  create({ conditions, end_cpn_ids: otherwise }) {
    const parsed = conditions.map(parseCondition);
    return readingTexts((reader, activation) => {
      const chosen = parsed.find((candidate) => holds(candidate, activation.source, reader))?.to ?? otherwise;
      return settled({ next: chosen.map((id) => activation.nameOf(id)), _next: chosen }, { next: chosen });
    });
  },
});

function parseCondition({ logical_operator, items, to }: z.infer<typeof condition>) {
  return {
    needsAll: logical_operator.trim().toLowerCase() === 'and',
    // An item without a reference is a row that the editor left empty.
    items: items
      .filter(({ cpn_id }) => cpn_id.trim() !== '')
      .map(({ cpn_id, operator, value }) => ({ left: parseReference(cpn_id), operator, right: value })),
    to,
  };
}

function holds({ items, needsAll }: Condition, source: ValueSource, reader: TextReader): boolean {
  // What has no value counts as null, an output that its node does not have as empty text.
  const test = ({ left, operator, right }: Condition['items'][number]): boolean =>
    compareForSwitch(
      left === undefined ? null : typedValue(left, reader.lookup(left)),
      operator,
      readRight(right, source),
    );
  // All items are evaluated, so that a mistake in one is reported whatever the others give.
  return needsAll ? items.length > 0 && items.map(test).every((result) => result) : items.some(test);
}

/** Only braces make a reference here: `me@example.com` is text to compare with. */
function readRight(right: Json, source: ValueSource): Json {
  return typeof right === 'string' && right.includes('{') ? resolveParam(right, source) : right;
}
