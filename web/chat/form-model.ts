/** Forms of Begin and of nodes that ask: their fields, and what is given as their values. */
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../src/json.js';

/** How a field is filled in. */
export type FieldKind = 'line' | 'paragraph' | 'options' | 'file' | 'integer' | 'number' | 'boolean' | 'object';

/** One field of a form. */
export interface FormField {
  readonly key: string;
  readonly title: string;
  readonly kind: FieldKind;
  readonly isOptional: boolean;
  readonly options: readonly string[];
  /** What the author suggests. */
  readonly suggested: Json | undefined;
}

/** What is typed: texts as they are, files as they were uploaded. */
export type FieldValues = Readonly<Record<string, Json | undefined>>;

/** Types as documents write them. */
const KINDS: Readonly<Record<string, FieldKind>> = {
  line: 'line',
  text: 'line',
  paragraph: 'paragraph',
  textarea: 'paragraph',
  options: 'options',
  file: 'file',
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
  object: 'object',
};

/** Fields of a form by the declaration of a document or the payload of a question. */
export function fieldsOf(inputs: Json | undefined): readonly FormField[] {
  if (!isJsonObject(inputs)) return [];
  return Object.entries(inputs).flatMap(([key, declared]) => (isJsonObject(declared) ? [fieldOf(key, declared)] : []));
}

function fieldOf(key: string, { type, name, optional, options, default: suggested, value }: JsonObject): FormField {
  const written = typeof type === 'string' ? type.toLowerCase() : 'line';
  return {
    key,
    title: typeof name === 'string' && name.trim() !== '' ? name : key,
    kind: KINDS[written] ?? (written.includes('file') ? 'file' : 'line'),
    isOptional: optional === true,
    options: Array.isArray(options) ? options.map((option: Json) => optionText(option)) : [],
    suggested: suggested ?? (value === '' || value === null ? undefined : value),
  };
}

/** Options are texts, or objects with a `value`. */
function optionText(option: Json): string {
  if (!isJsonObject(option)) return String(option);
  return String(option.value ?? option.label ?? '');
}

/** What is wrong with a field: it must be filled in, or is not of its type. */
export type FieldProblem = 'missing' | 'number' | 'integer' | 'json';

/** What is wrong with what was typed into a field; undefined when nothing is. */
export function problemOf({ kind, isOptional }: FormField, value: Json | undefined): FieldProblem | undefined {
  if (kind === 'boolean') return undefined;
  if (isLeftOpen(value)) return isOptional ? undefined : 'missing';
  if (typeof value !== 'string') return undefined;
  if (kind === 'number' && !Number.isFinite(Number(value))) return 'number';
  if (kind === 'integer' && !Number.isInteger(Number(value))) return 'integer';
  if (kind === 'object' && parseJson(value) === undefined) return 'json';
  return undefined;
}

/** The values that are sent: of fields that were left open nothing. */
export function givenValues(fields: readonly FormField[], values: FieldValues): JsonObject {
  return Object.fromEntries(
    fields.flatMap(({ key, kind }): [string, Json][] => {
      const value = values[key];
      if (kind === 'boolean') return [[key, { value: value === true, type: 'boolean' }]];
      if (isLeftOpen(value)) return [];
      return [[key, { value: typed(kind, value ?? null), type: kind }]];
    }),
  );
}

function typed(kind: FieldKind, value: Json): Json {
  if (typeof value !== 'string') return value;
  if (kind === 'number' || kind === 'integer') return Number(value);
  if (kind === 'object') return parseJson(value) ?? value;
  return value;
}

function isLeftOpen(value: Json | undefined): boolean {
  if (typeof value === 'string') return value.trim() === '';
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

/** What the author suggests is filled in. */
export function suggestedOf(fields: readonly FormField[]): FieldValues {
  return Object.fromEntries(
    fields.flatMap(({ key, kind, suggested }) =>
      suggested === undefined || suggested === null || kind === 'file' ? [] : [[key, asTyped(suggested)]],
    ),
  );
}

function asTyped(suggested: Json): Json {
  return typeof suggested === 'boolean' || typeof suggested === 'string' ? suggested : JSON.stringify(suggested);
}
