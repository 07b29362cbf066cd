import { z } from 'zod';
import { settled } from '../graph/node-events.js';
import { baseParams } from './base-params.js';
import { defineComponent } from './component.js';

const params = z.looseObject({ ...baseParams });

/** Where a round of a Loop starts. It has no outputs: the variables are outputs of the Loop itself. */
export const loopItem = defineComponent<z.infer<typeof params>>({
  type: 'LoopItem',
  summary: 'Starts each round of a Loop.',
  params,
  outputs: {},
  isEntry: true,
  create: () => (activation) => settled({}, activation.closing ? { next: [] } : {}),
});
