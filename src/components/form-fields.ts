/** Forms: what Begin and UserFillUp ask for, and how what was given becomes the values of their outputs. */
import { z } from 'zod';
import { canonicalId } from '../dsl/component-id.js';
import { EngineError } from '../errors.js';
import { isJsonObject, type Json, type JsonObject, jsonOrText } from '../json.js';
import { isGiven, optionalText } from './base-params.js';
import { readFileValues, requireFewFiles } from './file-inputs.js';

/** One field of a form, as the document declares it. */
export interface FormField {
  readonly type: string;
  readonly optional: boolean;
  /** The declaration itself, unknown keys included. */
  readonly declared: JsonObject;
}

/** The fields of a form by name, in the order of the document. */
export type Form = ReadonlyMap<string, FormField>;

/** Values of fields by name; null stands for a field that was left open. */
export type FieldValues = ReadonlyMap<string, Json>;

/** The parameter `inputs` of components with a form. */
const formParam = z
  .record(z.string(), z.looseObject({}))
  .nullish()
  .transform(
    (fields): Form =>
      new Map(Object.entries(fields ?? {}).map(([name, field]) => [name, toField(field as JsonObject)])),
  )
  .describe(
    'Fields by name: {type, name, optional, options, value}; type is line, paragraph, options, file, integer, boolean or object. Default: no fields.',
  );

/** Parameters of components with a form. */
export const formParams = {
  inputs: formParam,
  layout_recognize: optionalText.describe('How documents given as files are parsed; default "".'),
};

/** Whether the value of a field is a list of files. */
export function isFileField(field: FormField | undefined): boolean {
  return field?.type.includes('file') ?? false;
}

/** What clients know a waiting form by, as the event of a waiting run reports it: the id of its node and the number of its token. */
export function formAddress({ node, token }: { readonly node: string; readonly token: string }): string {
  return `${node}#${token.slice(token.lastIndexOf('/') + 1)}`;
}

/**
 * The fields that are given to one form: those under its address (`{"UserFillUp:A#7": {"x": 1}}`), which distinguishes it from the same form
 * in another pass of a body, those under its id (`{"UserFillUp:A": {"x": 1}}`), otherwise the map itself; the first counts most.
 * Only fields of the form are taken, so that several forms may be answered with one map.
 */
export function fieldsGivenTo(
  id: string,
  form: Form,
  inputs: Json | undefined,
  address?: string,
): ReadonlyMap<string, Json> {
  const given = new Map<string, Json>();
  if (!isJsonObject(inputs)) return given;
  for (const [key, value] of Object.entries(inputs)) if (form.has(key)) given.set(key, value);
  for (const [key, value] of Object.entries(inputs)) {
    if (!form.has(key) && canonicalId(key) === canonicalId(id)) takeFields(form, value, given);
  }
  if (address !== undefined && Object.hasOwn(inputs, address)) takeFields(form, inputs[address], given);
  return given;
}

function takeFields(form: Form, value: Json | undefined, given: Map<string, Json>): void {
  if (!isJsonObject(value)) return;
  for (const [name, own] of Object.entries(value)) if (form.has(name)) given.set(name, own);
}

/**
 * The values of given fields: at once, unless files must be read.
 *
 * A field may be given as `{type, value}` or as the value itself. Text for an object is parsed as JSON, and stays text
 * when it is none.
 *
 * Gives a function when files must be read, which does that until its signal is aborted.
 *
 * @throws EngineError NODE_FAILED for a required file field that is given as an object without a value, BAD_REQUEST for too many files.
 * What reading a file throws (see `readFileValue`) comes as a rejection.
 */
export function resolveFields(
  form: Form,
  given: ReadonlyMap<string, Json>,
  services: unknown,
): FieldValues | ((signal: AbortSignal) => Promise<FieldValues>) {
  requireFiles(form, given);
  const values = new Map<string, Json>();
  const files: [string, readonly Json[]][] = [];
  for (const [name, written] of given) {
    const { type, value } = unwrap(form.get(name), written);
    // Set now, before files are read, so that outputs have the order in which they were given.
    values.set(name, type === 'object' && typeof value === 'string' ? jsonOrText(value) : value);
    if (type.includes('file') && isGiven(value)) {
      files.push([name, Array.isArray(value) ? (value as readonly Json[]) : [value]]);
    }
  }
  if (files.length === 0) return values;
  requireFewFiles(
    files.reduce((sum, [, own]) => sum + own.length, 0),
    services,
  );
  return async (signal) => {
    for (const [name, own] of files) values.set(name, await readFileValues(own, services, { signal }));
    return values;
  };
}

/** A file field that comes without a value is a mistake of the caller; null is how an optional one is left open. */
function requireFiles(form: Form, given: ReadonlyMap<string, Json>): void {
  for (const [name, value] of given) {
    const field = form.get(name);
    if (!isFileField(field) || field?.optional === true || !isJsonObject(value) || hasContent(value)) continue;
    throw new EngineError(
      'NODE_FAILED',
      `The file field "${name}" was given without a value; pass {"value": {"id": …}}.`,
    );
  }
}

function hasContent({ id, value, optional }: JsonObject): boolean {
  if (id !== undefined) return true;
  return value === null ? optional === true : value !== undefined && value !== '';
}

function toField(declared: JsonObject): FormField {
  const { type, optional } = declared;
  return { type: typeof type === 'string' ? type.toLowerCase() : 'line', optional: optional === true, declared };
}

function unwrap(field: FormField | undefined, written: Json): { readonly type: string; readonly value: Json } {
  const type = field?.type ?? 'line';
  const isWrapped = isJsonObject(written) && (Object.hasOwn(written, 'value') || isFieldType(written));
  if (!isWrapped) return { type, value: written };
  return {
    type: typeof written.type === 'string' ? written.type.toLowerCase() : type,
    value: Object.hasOwn(written, 'value') ? (written.value ?? null) : null,
  };
}

/** `{type: 'line'}` is a field without a value; an object with an `id` is a file, whatever its `type` is. */
function isFieldType(written: JsonObject): boolean {
  return typeof written.type === 'string' && !Object.hasOwn(written, 'id');
}
