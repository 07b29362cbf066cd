import { z } from 'zod';
import { defineComponent } from '../graph/component.js';
import { settled } from '../graph/node-events.js';
import { baseParams } from './base-params.js';

const params = z.looseObject({ ...baseParams });

/** Leaves the Loop around at once: what else its body was doing is stopped. */
export const exitLoop = defineComponent<z.infer<typeof params>>({
  type: 'ExitLoop',
  summary: 'Leaves the Loop that it is in.',
  params,
  outputs: {},
  create: () => () => settled({}, { exit: true }),
});
