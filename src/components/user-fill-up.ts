import { concatMap, type Observable, of } from 'rxjs';
import { z } from 'zod';
import { canonicalId } from '../dsl/component-id.js';
import { renderValue } from '../dsl/render-value.js';
import { type Activation, defineComponent, type NodeFunction } from '../graph/component.js';
import {
  type Interrupt,
  interrupt,
  type NodeEvent,
  type Notice,
  type Outputs,
  type Settled,
  settled,
} from '../graph/node-events.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { fromAbortable } from '../operators/from-abortable.js';
import { baseParams, optionalText } from './base-params.js';
import {
  type FieldValues,
  type Form,
  type FormField,
  fieldsGivenTo,
  formParam,
  isSatisfied,
  resolveFields,
} from './form-fields.js';
import { createTextReader } from './values/text-reader.js';

const DEFAULT_TIPS = 'Please fill up the form';

const params = z.looseObject({
  ...baseParams,
  enable_tips: z
    .boolean()
    .nullish()
    .transform((isEnabled) => isEnabled ?? true)
    .describe('Whether the tips are shown and given as an output; default true.'),
  tips: z
    .string()
    .nullish()
    .transform((tips) => tips ?? DEFAULT_TIPS)
    .describe(`What the user reads above the form; may hold references. Default ${JSON.stringify(DEFAULT_TIPS)}`),
  inputs: formParam,
  layout_recognize: optionalText.describe('How documents given as files are parsed; default "".'),
});

/** What a form needs to know to ask. */
interface FormSpec {
  readonly form: Form;
  /** Undefined: nothing is shown above the form. */
  readonly tips: string | undefined;
}

/**
 * Asks the user: the run waits until somebody fills in the form.
 *
 * Optional files are not asked for, and a form with nothing to ask goes on at once. When an answer leaves a required field
 * open, what it does give is kept and the form asks again for the rest. Answers come as `{inputs}`, by field, by the form's id or
 * by its address (`UserFillUp:A#7`), or as text alone for the only field or the one called `value`. Never runs out of time.
 *
 * Errors: those of reading files (see `readFileValue`).
 */
export const userFillUp = defineComponent<z.infer<typeof params>>({
  type: 'UserFillUp',
  summary: 'Waits for the user to fill in a form.',
  params,
  outputs: { tips: { type: 'string', description: 'The text above the form, references filled in.' } },
  asks: true,
  timeoutSeconds: null,
  create: ({ inputs, tips, enable_tips }) => askForm({ form: inputs, tips: enable_tips ? tips : undefined }),
});

/** The node of a form: asks, keeps what it is given, and settles when nothing required is open. */
export function askForm(spec: FormSpec): NodeFunction {
  return (activation) => {
    const { tips, warnings } = renderTips(activation, spec);
    const values = resolveFields(spec.form, givenAnswers(activation, spec.form), activation.services);
    if (!(values instanceof Promise)) return toResult(warnings, settleOrAsk(activation, spec.form, tips, values));
    return fromAbortable(() => values).pipe(concatMap((read) => of(...settleOrAsk(activation, spec.form, tips, read))));
  };
}

function toResult(
  warnings: readonly Notice[],
  events: readonly NodeEvent[],
): Settled | Interrupt | Observable<NodeEvent> {
  const [only] = events;
  const isMove = only !== undefined && (only.type === 'settled' || only.type === 'interrupt');
  return isMove && warnings.length === 0 ? only : of(...warnings, ...events);
}

/** The fields of the form, and those that nobody declared: they are outputs, too, unless they address a form. */
function givenAnswers({ node, token, answer, source }: Activation, form: Form): ReadonlyMap<string, Json> {
  if (typeof answer === 'string') return textAnswer(form, answer);
  if (!isJsonObject(answer)) return new Map();
  const isTurn = Object.hasOwn(answer, 'inputs') || Object.hasOwn(answer, 'query');
  const inputs = isTurn ? answer.inputs : answer;
  const isAddress = (name: string): boolean =>
    /[:#]/.test(name) || canonicalId(name) === canonicalId(node) || source.output(name, '').status !== 'unresolved';
  const others = Object.entries(isJsonObject(inputs) ? inputs : {}).filter(
    ([name]) => !form.has(name) && !isAddress(name),
  );
  return new Map([...fieldsGivenTo(node, form, inputs, formAddress(node, token)), ...others]);
}

/** What clients know a waiting form by, as `user_inputs` says it: the form's id and the number of its token. */
function formAddress(node: string, token: string): string {
  return `${node}#${token.slice(token.lastIndexOf('/') + 1)}`;
}

/** Text alone answers the only field, or the one called `value`. */
function textAnswer(form: Form, text: string): ReadonlyMap<string, Json> {
  const [only] = form.keys();
  const name = form.size === 1 ? only : form.has('value') ? 'value' : undefined;
  return name === undefined ? new Map() : new Map([[name, text]]);
}

/** Settles, or asks for what is open and remembers the rest. */
function settleOrAsk(activation: Activation, form: Form, tips: Outputs, given: FieldValues): readonly NodeEvent[] {
  const { nodeState } = activation;
  const former = new Map(Object.entries(isJsonObject(nodeState) ? nodeState : {}));
  const kept: [string, Json][] = [];
  const open: [string, Json][] = [];
  let mustAsk = false;
  for (const [name, field] of form) {
    const value = given.get(name) ?? former.get(name) ?? null;
    if (isSatisfied(field, value)) {
      kept.push([name, value]);
      continue;
    }
    open.push([name, openField(field)]);
    // What is optional is asked for once; after that the user chose to leave it open.
    if (!hasAsked(activation) || !field.optional) mustAsk = true;
  }
  for (const [name, value] of [...former, ...given]) if (!form.has(name)) kept.push([name, value]);
  const values = Object.fromEntries(kept);
  if (!mustAsk) return [settled({ ...tips, ...values, ...Object.fromEntries(open.map(([name]) => [name, null])) })];
  const payload = { kind: 'form', inputs: Object.fromEntries(open), tips: tips.tips ?? '' };
  // Until it is answered, a form that asks again, such as in a Loop, shows what it was given before.
  const before = open.map(([name]): [string, Json] => [name, ownOutput(activation, name)]);
  const shown = { ...Object.fromEntries(before.filter(([, value]) => value !== null)), ...tips, ...values };
  const ask = interrupt(payload, shown);
  return kept.length === 0 ? [ask] : [{ type: 'progress', nodeState: values }, ask];
}

/** Whether the form waited before: what it kept outlives a restart without answers. */
function hasAsked({ answer, nodeState }: Activation): boolean {
  return answer !== undefined || nodeState !== undefined;
}

/** A declared value is only a suggestion, behind a declared default: the field itself has none yet. */
function openField({ declared }: FormField): JsonObject {
  const { value, ...rest } = declared;
  const isSuggested = value !== undefined && value !== null && value !== '';
  return { ...(isSuggested ? { default: value } : {}), ...rest, value: null };
}

/** The tips as an output, with what the references in them hold now: an answer may come with another question. */
function renderTips(activation: Activation, { tips }: FormSpec): { tips: Outputs; warnings: readonly Notice[] } {
  if (tips === undefined) return { tips: {}, warnings: [] };
  const reader = createTextReader(activation, (value) => renderValue(value, { delimiter: ',' }));
  return { tips: { tips: reader.read(tips) }, warnings: reader.warnings };
}

function ownOutput({ source, node }: Activation, name: string): Json {
  const lookup = source.output(node, name);
  return lookup.status === 'found' ? lookup.value : null;
}
