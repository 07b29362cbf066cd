import { nodeParams } from './base-params.js';
import { defineComponent } from './component.js';
import { formParams } from './form-fields.js';
import { askForm } from './user-fill-up.js';

/** A form without tips: it waits as `UserFillUp` does, and shows nothing above its fields. */
export const fillup = defineComponent({
  type: 'Fillup',
  group: 'conversation',
  summary: 'Waits for the user to fill in a form that has no tips.',
  params: nodeParams(formParams),
  outputs: {},
  ownOutputs: ({ inputs }) => [...inputs.keys()],
  asks: true,
  timeoutSeconds: null,
  create: ({ inputs }) => askForm(inputs),
});
