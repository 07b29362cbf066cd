import type { AliasName } from '../dsl/reference.js';
import { settled } from '../graph/node-events.js';
import type { Json } from '../json.js';
import { nodeParams } from './base-params.js';
import { defineComponent } from './component.js';

const NAMES: readonly AliasName[] = ['item', 'index', 'result'];

/** Where a round of an Iteration or Parallel starts: its outputs are the current item. */
export const iterationItem = defineComponent({
  type: 'IterationItem',
  summary: 'Starts each round of an Iteration and gives its item.',
  group: 'flow',
  params: nodeParams({}),
  outputs: {
    item: { type: 'any', description: 'The current item.' },
    index: { type: 'number', description: 'Its position, counted from 0.' },
    result: { type: 'any', description: 'The current item again.' },
  },
  isEntry: true,
  create: () => (activation) => {
    const outputs: Record<string, Json> = {};
    for (const name of NAMES) {
      const lookup = activation.source.alias(name);
      if (lookup.status === 'found') outputs[name] = lookup.value;
    }
    return settled(outputs, activation.closing ? { next: [] } : {});
  },
});
