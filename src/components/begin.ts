import { map } from 'rxjs';
import { z } from 'zod';
import { type Settled, settled } from '../graph/node-events.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { fromAbortable } from '../operators/from-abortable.js';
import { nodeParams, nullishText } from './base-params.js';
import { defineComponent } from './component.js';
import { type FieldValues, type Form, formParams, resolveFields } from './form-fields.js';
import { isTruthy } from './values/comparison.js';

const DEFAULT_PROLOGUE = "Hi! I'm your smart assistant. What can I do for you?";

const params = nodeParams({
  mode: z
    .enum(['conversational', 'task', 'Webhook'])
    .nullish()
    .describe('How the canvas is started; default "conversational".'),
  prologue: nullishText.describe(`Greeting before the first question; default ${JSON.stringify(DEFAULT_PROLOGUE)}`),
  ...formParams,
});

/**
 * Where every run starts: what the turn was given becomes outputs.
 *
 * Given fields are taken as they are, also those that are not declared. Without any, a query that is an object gives the
 * declared fields it has, and a query that is text fills the only field of a form with one. Values stored in the
 * declaration are suggestions of the editor and never used.
 */
export const begin = defineComponent<z.infer<typeof params>>({
  type: 'Begin',
  summary: 'Starts a run and gives its inputs as outputs.',
  group: 'flow',
  params,
  outputs: {},
  // A webhook gives whatever it received.
  ownOutputs: ({ inputs, mode }) => (mode === 'Webhook' ? 'any' : [...inputs.keys()]),
  isEntry: true,
  isRepeatable: true,
  create({ inputs: form, mode }) {
    return ({ input, services }) => {
      const turn: JsonObject = isJsonObject(input) ? input : { query: input };
      const payload = mode === 'Webhook' ? webhookOutputs(turn.webhook_payload) : {};
      const finish = (values: FieldValues): Settled => settled({ ...payload, ...Object.fromEntries(values) });
      const given = givenFields(form, turn);
      const values = resolveFields(form, given, services);
      return typeof values === 'function' ? fromAbortable(values).pipe(map(finish)) : finish(values);
    };
  },
});

function givenFields(form: Form, turn: JsonObject): ReadonlyMap<string, Json> {
  const { inputs, query = null } = turn;
  if (isJsonObject(inputs) && Object.keys(inputs).length > 0) return new Map(Object.entries(inputs));
  if (isJsonObject(query)) {
    const fields = Object.entries(query).filter(([name]) => form.has(name));
    return new Map(fields.map(([name, value]) => [name, isJsonObject(value) ? value : asText(value)]));
  }
  const [only] = form.keys();
  return form.size === 1 && only !== undefined && isTruthy(query) ? new Map([[only, asText(query)]]) : new Map();
}

/** A query is neither a file nor JSON for a field, whatever the type of the field is. */
function asText(query: Json): JsonObject {
  return { type: 'line', value: query };
}

/** Everything a webhook received is an output; what it calls `input` is the output `request`. */
function webhookOutputs(payload: Json | undefined): JsonObject {
  if (!isJsonObject(payload)) return {};
  return Object.fromEntries(Object.entries(payload).map(([key, value]) => [key === 'input' ? 'request' : key, value]));
}
