import type { Observable } from 'rxjs';
import type { z } from 'zod';
import type { Activation } from '../graph/node.js';
import { type BodyRound, type NodeEvent, settled } from '../graph/node-events.js';
import type { Json } from '../json.js';
import { nodeParams } from './base-params.js';
import {
  aliasesOf,
  collect,
  collectedParam,
  concurrencyParam,
  goRound,
  itemsParam,
  nextRound,
  type Rounds,
  readItems,
} from './bodies.js';
import { defineComponent } from './component.js';
import { runSideBySide } from './parallel.js';

const params = nodeParams({
  items_ref: itemsParam,
  outputs: collectedParam,
  max_concurrency: concurrencyParam,
});

type Params = z.infer<typeof params>;

/**
 * Runs its body once for each item of a list, one after the other, and collects outputs of the body into lists.
 *
 * The list is read again before every round, so that a body that lengthens it is given the new items. Outputs of the body
 * are reset between rounds; variables are not. After the last item the item node is visited once more, to close.
 * With `max_concurrency` above 1 it does what Parallel does.
 *
 * Errors: NODE_FAILED when `items_ref` does not give a list.
 */
export const iteration = defineComponent<Params>({
  type: 'Iteration',
  summary: 'Runs its body once for each item of a list.',
  group: 'flow',
  params,
  outputs: {},
  ownOutputs: ({ outputs }) => outputs.map(({ name }) => name),
  isContainer: true,
  bodyStart: 'IterationItem',
  timeoutSeconds: null,
  check: (_params, { body }) => (body.length === 0 ? ['an Iteration needs an IterationItem in its body'] : []),
  create(given) {
    const { items_ref, outputs, max_concurrency } = given;
    if (max_concurrency > 1) {
      const options = { outputs, concurrency: max_concurrency, onItemError: 'fail' } as const;
      return (activation) => runSideBySide(activation, () => readItems(activation, items_ref), options);
    }
    return (activation) => iterate(activation, given);
  },
});

function iterate(activation: Activation, { items_ref, outputs }: Params): Observable<NodeEvent> {
  const rounds: Rounds = {
    activation,
    counter: 'index',
    enter(index) {
      const items = readItems(activation, items_ref);
      return { isOver: () => index >= items.length, body: (isClosing) => bodyOf(items, index, isClosing) };
    },
    gather: ({ source }) => ({
      append: Object.fromEntries(outputs.map((output) => [output.name, collect(output, source)])),
    }),
    // Copied, as a growing list is copied whenever it is read. An exit is for the enclosing Loop; without one only this node ends.
    settle: (isExited) => settled({ ...activation.outputs }, isExited ? { exit: true } : {}),
  };
  const empty = { outputs: Object.fromEntries(outputs.map(({ name }) => [name, []])) };
  return goRound(rounds, () => nextRound(rounds, 0, empty));
}

/** In the closing visit the item node gets the last item once more, or nothing when there was none. */
function bodyOf(items: readonly Json[], index: number, isClosing: boolean): Omit<BodyRound, 'key'> {
  if (!isClosing) return { aliases: aliasesOf(index, items[index] ?? null), fresh: true };
  const nothing = { item: null, index: null, result: null };
  return { closing: true, aliases: index > 0 ? aliasesOf(index - 1, items[index - 1] ?? null) : nothing };
}
