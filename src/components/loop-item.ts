import { settled } from '../graph/node-events.js';
import { nodeParams } from './base-params.js';
import { defineComponent } from './component.js';

/** Where a round of a Loop starts. It has no outputs: the variables are outputs of the Loop itself. */
export const loopItem = defineComponent({
  type: 'LoopItem',
  summary: 'Starts each round of a Loop.',
  group: 'flow',
  params: nodeParams({}),
  outputs: {},
  isEntry: true,
  create: () => (activation) => settled({}, activation.closing ? { next: [] } : {}),
});
