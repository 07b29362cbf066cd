import { concatMap, of } from 'rxjs';
import { z } from 'zod';
import { canonicalId } from '../dsl/component-id.js';
import { renderValue } from '../dsl/render-value.js';
import { foundValue } from '../dsl/resolve.js';
import type { Activation, NodeFunction } from '../graph/node.js';
import { type Interrupt, interrupt, type Notice, type Outputs, type Settled, settled } from '../graph/node-events.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { fromAbortable } from '../operators/from-abortable.js';
import { nodeParams, withDefault } from './base-params.js';
import { defineComponent } from './component.js';
import {
  type FieldValues,
  type Form,
  type FormField,
  fieldsGivenTo,
  formAddress,
  formParams,
  isFileField,
  resolveFields,
} from './form-fields.js';
import { afterWarnings, createTextReader } from './values/text-reader.js';

const DEFAULT_TIPS = 'Please fill up the form';

const params = nodeParams({
  enable_tips: withDefault(z.boolean(), true).describe(
    'Whether the tips are shown and given as an output; default true.',
  ),
  tips: withDefault(z.string(), DEFAULT_TIPS).describe(
    `What the user reads above the form; may hold references. Default ${JSON.stringify(DEFAULT_TIPS)}`,
  ),
  ...formParams,
});

/**
 * Asks the user: the run waits until the form is answered.
 *
 * Optional files are not asked for, and a form with nothing to ask settles at once. An answered form settles with what the answer
 * gives, also when required fields are missing; as in RAGFlow a missing field reads as an empty text. One with a text for a number is
 * asked for again, with the reason below the tips. Answers come as `{inputs}`,
 * by field, by the form's id or by its address (`UserFillUp:A#7`), or as text alone for the only field or the one called `value`.
 * An answer in which every entry is addressed to other forms leaves this one waiting. There is no time limit.
 *
 * Errors: NODE_FAILED for a file field that is given without a value; those of reading files (see `readFileValue`).
 */
export const userFillUp = defineComponent<z.infer<typeof params>>({
  type: 'UserFillUp',
  group: 'conversation',
  summary: 'Waits for the user to fill in a form.',
  params,
  outputs: { tips: { type: 'string', description: 'The text above the form, references filled in.' } },
  ownOutputs: ({ inputs }) => [...inputs.keys()],
  asks: true,
  timeoutSeconds: null,
  create: ({ inputs, tips, enable_tips }) => askForm(inputs, enable_tips ? tips : undefined),
});

/** The node of a form: asks when it is reached, settles when it is answered. Without `written` nothing stands above the form. */
export function askForm(form: Form, written?: string): NodeFunction {
  return (activation) => {
    const { tips, warnings } = renderTips(activation, written);
    const given = givenAnswers(activation, form);
    if (given === undefined) return afterWarnings(warnings, ask(activation, form, tips));
    const values = resolveFields(form, given, activation.services);
    const take = (read: FieldValues): Settled | Interrupt => {
      const wrong = wrongNumbers(form, read);
      return wrong.length === 0 ? settle(tips, read) : ask(activation, form, tips, wrong);
    };
    if (typeof values !== 'function') return afterWarnings(warnings, take(values));
    return fromAbortable(values).pipe(concatMap((read) => of(...warnings, take(read))));
  };
}

/** What is given to the form: declared fields, and others, which become outputs too; undefined while it has no answer. */
function givenAnswers({ node, token, answer, source }: Activation, form: Form): ReadonlyMap<string, Json> | undefined {
  if (answer === undefined) return undefined;
  if (typeof answer === 'string') return textAnswer(form, answer);
  if (!isJsonObject(answer)) return new Map();
  const isTurn = Object.hasOwn(answer, 'inputs') || Object.hasOwn(answer, 'query');
  const inputs = isTurn ? answer.inputs : answer;
  if (!isJsonObject(inputs)) return new Map();
  const address = formAddress({ node, token });
  const isOwn = (name: string): boolean => name === address || canonicalId(name) === canonicalId(node);
  const isAddress = (name: string): boolean =>
    !form.has(name) && (/[:#]/.test(name) || isOwn(name) || source.output(name, '').status !== 'unresolved');
  const names = Object.keys(inputs);
  if (names.length > 0 && names.every((name) => isAddress(name) && !isOwn(name))) return undefined;
  const others = Object.entries(inputs).filter(([name]) => !form.has(name) && !isAddress(name));
  return new Map([...fieldsGivenTo(node, form, inputs, address), ...others]);
}

/** Text alone answers the only field, or the one called `value`. */
function textAnswer(form: Form, text: string): ReadonlyMap<string, Json> {
  const [only] = form.keys();
  const name = form.size === 1 ? only : form.has('value') ? 'value' : undefined;
  return name === undefined ? new Map() : new Map([[name, text]]);
}

function settle(tips: Outputs, values: FieldValues): Settled {
  return settled({ ...tips, ...Object.fromEntries(values) });
}

/** Asks for every field but optional files; without such a field the form settles. */
function ask(
  { node, source }: Activation,
  form: Form,
  tips: Outputs,
  problems: readonly string[] = [],
): Settled | Interrupt {
  const open = [...form].filter(([, field]) => !(isFileField(field) && field.optional));
  if (open.length === 0) return settled(tips);
  const inputs = Object.fromEntries(open.map(([name, field]): [string, Json] => [name, openField(field)]));
  // Until it is answered, a form that asks again, such as in a Loop, keeps the values of its previous answer readable.
  const before = open.map(([name]): [string, Json] => [name, foundValue(source.output(node, name))]);
  const readable = Object.fromEntries(before.filter(([, value]) => value !== null));
  const shown = problems.length === 0 ? (tips.tips ?? '') : [tips.tips ?? '', ...problems].filter(Boolean).join('\n');
  return interrupt({ kind: 'form', inputs, tips: shown }, { ...readable, ...tips });
}

/** What is wrong with values of fields that take numbers; a field that is left open is fine. */
function wrongNumbers(form: Form, values: FieldValues): string[] {
  return [...values].flatMap(([name, value]) => {
    const field = form.get(name);
    if (field === undefined || !NUMBERS.has(field.type) || value === null || value === '') return [];
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    const isFine = field.type === 'integer' ? Number.isInteger(number) : Number.isFinite(number);
    const title = typeof field.declared.name === 'string' ? field.declared.name || name : name;
    const kind = field.type === 'integer' ? 'a whole number' : 'a number';
    return isFine ? [] : [`"${title}" must be ${kind}; received ${JSON.stringify(value)}.`];
  });
}

/** Types of fields that take numbers. */
const NUMBERS: ReadonlySet<string> = new Set(['integer', 'number']);

/** A declared value is only a suggestion, behind a declared default: the field itself has none yet. */
function openField({ declared }: FormField): JsonObject {
  const { value, ...rest } = declared;
  const isSuggested = value !== undefined && value !== null && value !== '';
  return { ...(isSuggested ? { default: value } : {}), ...rest, value: null };
}

/** The tips as an output, with what the references in them hold now: an answer may come with another question. */
function renderTips(activation: Activation, tips: string | undefined): { tips: Outputs; warnings: readonly Notice[] } {
  if (tips === undefined) return { tips: {}, warnings: [] };
  const reader = createTextReader(activation, (value) => renderValue(value, { delimiter: ',' }));
  return { tips: { tips: reader.read(tips) }, warnings: reader.warnings };
}
