import type { PendingQuestion } from '../graph/events.js';
import { isJsonObject, type JsonObject } from '../json.js';

/**
 * All waiting forms as one: RAGFlow's clients show a single form, so fields are merged (the later form wins a name) and the
 * last tips are shown; `forms` keeps them apart for clients that can, and answers that are given under a `form_id` reach that form
 * alone.
 */
export function mergeForms(pending: readonly PendingQuestion[]): JsonObject {
  const forms = pending.map(({ node, within, token, payload }) => ({
    cpn_id: node,
    form_id: `${node}#${token}`,
    ...(within === undefined ? {} : { within }),
    inputs: isJsonObject(payload.inputs) ? payload.inputs : {},
    tips: typeof payload.tips === 'string' ? payload.tips : '',
  }));
  const last = forms[forms.length - 1];
  return {
    inputs: Object.assign({}, ...forms.map(({ inputs }) => inputs)) as JsonObject,
    tips: forms.findLast(({ tips }) => tips !== '')?.tips ?? '',
    ...(last === undefined ? {} : { cpn_id: last.cpn_id }),
    forms,
  };
}
