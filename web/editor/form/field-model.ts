/** Fields of a form from the JSON Schema of parameters: no type of component is known here. */
import { ownList, ownObject, ownText, ownTexts, ownValue } from '../../../src/dsl/json-copy.js';
import { isJsonObject, type Json, type JsonObject } from '../../../src/json.js';
import { resolveSchema, typeOf } from '../model/starters.js';

/**
 * How a value is written.
 *
 * - `reference`: one reference alone. `any`: a text, or JSON. `secret`: it is never shown. `targets`: edges say it.
 * - `code`: a script whose language another field says.
 * - `inputs`: fields that are asked of users. `map`: entries by names.
 */
export type FieldKind =
  | 'text'
  | 'long'
  | 'reference'
  | 'secret'
  | 'number'
  | 'switch'
  | 'options'
  | 'model'
  | 'texts'
  | 'lines'
  | 'list'
  | 'object'
  | 'map'
  | 'inputs'
  | 'tools'
  | 'servers'
  | 'targets'
  | 'any'
  | 'code'
  | 'json';

export interface Field {
  readonly name: string;
  readonly about: string;
  readonly kind: FieldKind;
  /** Its schema, and the one that its references are looked up in. */
  readonly schema: JsonObject;
  readonly root: JsonObject;
  readonly isRequired: boolean;
  /** Values that are offered; others may be allowed as well. */
  readonly options: readonly string[];
}

/** Fields in two parts: those that most people need, and the others. */
export interface FieldGroups {
  readonly common: readonly Field[];
  readonly rest: readonly Field[];
}

/** What every component has, and how models are tuned: few people need it. */
const RARE =
  /^(?:description|exception_.*|max_retries|delay_after_error|join_mode|temperature|top_p|max_tokens|presence_penalty|frequency_penalty|.*Enabled|thinking|template_engine|layout_recognize|user_id|memory_ids|proxy|timeout)$/;
/** Others that are shown at once. */
const MOST_COMMON = 8;

const SECRET = /(?:^|_)(?:api_?key|apikey|auth_key|secret(?:_key)?|password|passwd|token|private_key)$/i;
const LONG =
  /prompt|content|script|sql|tips|prologue|text|instructions|message|query|question|expression|template|body|description|value|parameter/i;
const REFERENCE = /(?:_ref|^ref|^cpn_id|^variable|_var)$/;
const MODEL = /^(?:llm|rerank|embd|embedding|tts)_id$/;
const TARGETS = /^(?:to|end_cpn_ids|exception_goto)$/;

/** The fields of an object's schema. */
export function fieldsOf(schema: JsonObject, root: JsonObject = schema): readonly Field[] {
  const required = new Set(ownTexts(schema, 'required'));
  return Object.entries(ownObject(schema, 'properties') ?? {}).map(([name, one]) =>
    fieldOf(name, one, { root, isRequired: required.has(name) }),
  );
}

/** Required fields, those that have a value, and the first of the others come first. */
export function groupFields(fields: readonly Field[], values: JsonObject): FieldGroups {
  const common: Field[] = [];
  const rest: Field[] = [];
  let shown = 0;
  for (const field of fields) {
    const isRare = RARE.test(field.name) && !field.isRequired;
    const isSet = field.name in values && !isEmpty(values[field.name]) && !RARE.test(field.name);
    const isFirst = !isRare && shown < MOST_COMMON;
    if (isFirst || isSet || (field.isRequired && !isRare)) {
      common.push(field);
      shown += 1;
    } else rest.push(field);
  }
  return { common, rest };
}

export function fieldOf(
  name: string,
  given: unknown,
  { root, isRequired = false }: { readonly root: JsonObject; readonly isRequired?: boolean },
): Field {
  const schema = resolveSchema(given, root);
  const about = ownText(schema, 'description') ?? '';
  const enumeration = ownTexts(schema, 'enum');
  const options = enumeration.length > 0 ? enumeration : optionsIn(name, about);
  return { name, about, kind: kindOf(name, schema, { about, options, root }), schema, root, isRequired, options };
}

interface KindHints {
  readonly about: string;
  readonly options: readonly string[];
  readonly root: JsonObject;
}

function kindOf(name: string, schema: JsonObject, { about, options, root }: KindHints): FieldKind {
  const type = typeOf(schema);
  if (name === 'script' && ownObject(ownObject(root, 'properties'), 'lang') !== undefined) return 'code';
  if (type === 'array') return listKind(name, resolveSchema(schema.items, root));
  if (type === 'object') return objectKind(name, schema);
  if (type === 'boolean') return 'switch';
  if (type === 'number' || type === 'integer') return 'number';
  if (TARGETS.test(name) && type === undefined) return 'targets';
  if (options.length > 0) return 'options';
  if (type === 'string') return textKind(name, about);
  // Anything may stand here: a text where one is written, as references are.
  return REFERENCE.test(name) ? 'reference' : 'any';
}

function textKind(name: string, about: string): FieldKind {
  if (SECRET.test(name)) return 'secret';
  if (MODEL.test(name)) return 'model';
  if (REFERENCE.test(name) || /^Reference (?:to|of|whose)\b/.test(about)) return 'reference';
  return LONG.test(name) ? 'long' : 'text';
}

function listKind(name: string, items: JsonObject): FieldKind {
  if (name === 'tools') return 'tools';
  if (name === 'mcp') return 'servers';
  const type = typeOf(items);
  if (type === 'string') return TARGETS.test(name) ? 'targets' : LONG.test(name) ? 'texts' : 'lines';
  return type === 'object' && ownObject(items, 'properties') !== undefined ? 'list' : 'json';
}

function objectKind(name: string, schema: JsonObject): FieldKind {
  if (Object.keys(ownObject(schema, 'properties') ?? {}).length > 0) return 'object';
  if (name === 'inputs') return 'inputs';
  const values = ownValue(schema, 'additionalProperties');
  const isDescribed = isJsonObject(values) && Object.keys(ownObject(values, 'properties') ?? {}).length > 0;
  return isDescribed ? 'map' : 'json';
}

/** Values that a description lists, such as "One of overwrite, set, clear.". */
function optionsIn(name: string, about: string): readonly string[] {
  if (name !== 'operator') return [];
  const list = about.replace(/^One of /, '').replace(/\.$/, '');
  return list.includes(', ') ? list.split(', ') : [];
}

export function isEmpty(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '') return true;
  return Array.isArray(value) ? value.length === 0 : isJsonObject(value) && Object.keys(value).length === 0;
}

/** Values with one that is another; undefined takes it away. Others stay in their order. */
export function withValue(values: JsonObject, name: string, value: Json | undefined): JsonObject {
  const { [name]: _, ...others } = values;
  if (value === undefined) return others;
  return name in values ? { ...values, [name]: value } : { ...values, [name]: value };
}

/** What stands in place of a secret. */
export const HIDDEN = '••••••••';

/** Parameters without their secrets. */
export function hideSecrets(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(hideSecrets);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      SECRET.test(name) && typeof one === 'string' && one !== '' ? HIDDEN : hideSecrets(one),
    ]),
  );
}

/** Parameters with the secrets that were hidden in them. */
export function showSecrets(value: Json, before: Json | undefined): Json {
  if (value === HIDDEN) return typeof before === 'string' ? before : '';
  if (Array.isArray(value)) {
    return (value as readonly Json[]).map((one, at) =>
      showSecrets(one, Array.isArray(before) ? before[at] : undefined),
    );
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, showSecrets(one, ownValue(before, name))]),
  );
}

/** The items of a list, whatever is written in its place. */
export function itemsOf(value: Json | undefined): readonly Json[] {
  return ownList({ value }, 'value');
}
