import { map, type Observable } from 'rxjs';
import { z } from 'zod';
import type { Activation, BodyEnd } from '../graph/node.js';
import { interrupt, type NodeEvent, type Outputs, type Progress, settled } from '../graph/node-events.js';
import { isJsonObject, type Json } from '../json.js';
import { baseParams } from './base-params.js';
import {
  aliasesOf,
  collect,
  collectedParam,
  concurrencyParam,
  itemsParam,
  readItems,
  type Step,
  walk,
} from './bodies.js';
import { defineComponent } from './component.js';
import { runSideBySide } from './parallel.js';

const params = z.looseObject({
  ...baseParams,
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
  params,
  outputs: {},
  ownOutputs: ({ outputs }) => outputs.map(({ name }) => name),
  isContainer: true,
  timeoutSeconds: null,
  check: (_params, { body }) => (body.length === 0 ? ['an Iteration needs an IterationItem in its body'] : []),
  create({ items_ref, outputs, max_concurrency }) {
    if (max_concurrency > 1) {
      const options = { outputs, concurrency: max_concurrency, onItemError: 'fail' } as const;
      return (activation) => runSideBySide(activation, () => readItems(activation, items_ref), options);
    }
    return (activation) => iterate({ activation, items_ref, outputs });
  },
});

/** What all steps of one activation share. */
interface Iterating extends Pick<Params, 'items_ref' | 'outputs'> {
  readonly activation: Activation;
}

function iterate(iterating: Iterating): Observable<NodeEvent> {
  const { activation, outputs, items_ref } = iterating;
  const { nodeState } = activation;
  if (!isJsonObject(nodeState) || typeof nodeState.index !== 'number') {
    return walk(stepAt(iterating, 0, { outputs: Object.fromEntries(outputs.map(({ name }) => [name, []])) }));
  }
  // A round that was running is resumed even if the list has become shorter since.
  const items = readItems(activation, items_ref);
  return walk(
    nodeState.isClosing === true
      ? closing(iterating, nodeState.index, items)
      : round(iterating, nodeState.index, items),
  );
}

/** What the step before leaves: empty lists at first, then what a round gave. */
type Gathered = Pick<Progress, 'outputs' | 'append'>;

function stepAt(iterating: Iterating, index: number, gathered: Gathered): Step {
  const items = readItems(iterating.activation, iterating.items_ref);
  return index < items.length ? round(iterating, index, items, gathered) : closing(iterating, index, items, gathered);
}

function round(iterating: Iterating, index: number, items: readonly Json[], gathered: Gathered = {}): Step {
  const { activation } = iterating;
  return {
    event: { type: 'progress', nodeState: { index }, ...gathered },
    follow: () =>
      activation
        .runBody({ key: String(index), aliases: aliasesOf(index, items[index] ?? null), fresh: true })
        .pipe(map((end) => stepAfter(iterating, index, end))),
  };
}

/** The visit after the last item. The item node gets the last item once more, or nothing when there was none. */
function closing(iterating: Iterating, index: number, items: readonly Json[], gathered: Gathered = {}): Step {
  const { activation } = iterating;
  const aliases =
    index > 0 ? aliasesOf(index - 1, items[index - 1] ?? null) : { item: null, index: null, result: null };
  return {
    event: { type: 'progress', nodeState: { index, isClosing: true }, ...gathered },
    follow: () =>
      activation
        .runBody({ key: 'closing', closing: true, aliases })
        .pipe(map((): Step => ({ event: settled(plain(activation.outputs)) }))),
  };
}

function stepAfter(iterating: Iterating, index: number, { status, source }: BodyEnd): Step {
  if (status === 'interrupted') return { event: interrupt() };
  const { activation, outputs } = iterating;
  // An exit is for the enclosing Loop; without one it only ends this node.
  if (status === 'exited') return { event: settled(plain(activation.outputs), { exit: true }) };
  const append = Object.fromEntries(outputs.map((output) => [output.name, collect(output, source)]));
  return stepAt(iterating, index + 1, { append });
}

/** A growing list is copied whenever it is read; a settled node has plain lists. */
const plain = (outputs: Outputs): Outputs => ({ ...outputs });
