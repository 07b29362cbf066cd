import { settled } from '../graph/node-events.js';
import { nodeParams } from './base-params.js';
import { defineComponent } from './component.js';

/**
 * Leaves the innermost Loop around at once, also from an Iteration inside of it: what else its body was doing is stopped.
 * Where no Loop is around it does nothing, and its successors run.
 */
export const exitLoop = defineComponent({
  type: 'ExitLoop',
  summary: 'Leaves the Loop that it is in.',
  group: 'flow',
  params: nodeParams({}),
  outputs: {},
  create: (_params, { containerTypes }) => {
    const end = containerTypes.includes('Loop') ? settled({}, { exit: true }) : settled({});
    return () => end;
  },
});
