import { z } from 'zod';
import { baseParams, optionalText } from './base-params.js';
import { defineComponent } from './component.js';
import { formParam } from './form-fields.js';
import { askForm } from './user-fill-up.js';

const params = z.looseObject({
  ...baseParams,
  inputs: formParam,
  layout_recognize: optionalText.describe('How documents given as files are parsed; default "".'),
});

/** A form without tips: it waits as `UserFillUp` does, and shows nothing above its fields. */
export const fillup = defineComponent<z.infer<typeof params>>({
  type: 'Fillup',
  summary: 'Waits for the user to fill in a form that has no tips.',
  params,
  outputs: {},
  ownOutputs: ({ inputs }) => [...inputs.keys()],
  asks: true,
  timeoutSeconds: null,
  create: ({ inputs }) => askForm({ form: inputs, tips: undefined }),
});
