/** Prompts: from fields to the messages of a conversation, by templates in one of three languages. */
import { EngineError } from '../../errors.js';
import type { Json } from '../../json.js';
import { componentFunction, type StepLabel } from '../../knowledge/component-function.js';
import type { ContentPart } from '../../models/content-parts.js';
import type { ChatMessage } from '../../models/messages.js';
import { invalidOption } from '../../operators/invalid-option.js';
import { prepareHandlebars, prepareJinja, readFString, type TemplateLimits } from '../../templates/template.js';
import type { FStringFields } from './f-string-fields.js';
import { fieldsThere, jsonOf, messagesOf, ownField } from './field-values.js';
import type { FilledKey, FilledType, MessageTemplate, PromptPart } from './message-template.js';

/** A field that a prompt is given. */
export interface PromptField {
  readonly name: string;
  /** A text, a number, one of both, or a list of messages. */
  readonly type: 'text' | 'number' | 'value' | 'messages';
  readonly optional: boolean;
}

/**
 * A function from fields to messages, with a name and what it needs. It is called as often as wanted, and keeps nothing.
 *
 * Errors of a call: `TEMPLATE_FIELD_MISSING`, `PLACEHOLDER_INVALID`, `TEMPLATE_FAILED`, `TEMPLATE_TOO_LARGE`.
 */
export interface Prompt<Fields> extends StepLabel<'prompt'> {
  (fields: Fields): ChatMessage[];
  /** What it needs, each once: the fields of f-strings, and the placeholders. Names in Jinja and Handlebars are not listed. */
  readonly fields: readonly PromptField[];
  /** The same prompt under another name. @throws EngineError OPTION_INVALID for an empty one. */
  named(name: string): Prompt<Fields>;
}

/** Bounds of a filled text: 32 Mi UTF-16 units, so that a picture in base64 fits. */
const LIMITS: TemplateLimits = { maxChars: 32 * 1_048_576, maxSteps: 1_000_000 };

/**
 * A prompt of f-strings: `fString(system('You are {role}.'), placeholder('history', { optional: true }), user('{question}'))`.
 *
 * The fields are part of its type; see `FStringFields`. `{name:>10}` and `{price:.2f}` are written by Python's specifications, `{{` and `}}` are
 * braces. A field that is absent or undefined is `TEMPLATE_FIELD_MISSING`; null is written as nothing, lists and objects as JSON. What a value
 * holds is never filled again.
 *
 * @throws EngineError TEMPLATE_INVALID with `details: { message, line, column }` for a text that cannot be read, and for one name that is a field and a placeholder.
 */
export function fString<const Parts extends readonly PromptPart[]>(...parts: Parts): Prompt<FStringFields<Parts>> {
  return promptOf('fString', parts, readFStringText);
}

/**
 * A prompt of Jinja templates: `jinja(user('{% for doc in docs %}{{ doc.text }}\n{% endfor %}'))`. Its fields are of the type that is given.
 *
 * The language is that of canvases: interpreted, within bounds, own values alone, without files and other templates. A name without a value is
 * undefined to it; placeholders must have theirs.
 *
 * @throws EngineError TEMPLATE_INVALID with the message and the line, also for one name that is a field and a placeholder.
 */
export function jinja<Fields extends object = Record<string, unknown>>(
  ...parts: readonly PromptPart[]
): Prompt<Fields> {
  return promptOf('jinja', parts, (text) => {
    const render = prepareJinja(text);
    return { fields: [], fill: ({ optional }) => render(optional, LIMITS) };
  });
}

/**
 * A prompt of Handlebars templates: `handlebars(user('{{#each docs}}{{text}} {{/each}}'))`. Its fields are of the type that is given.
 *
 * The language is that of canvases: interpreted, within bounds, own values alone; the only partials are those that a template defines inline.
 * Characters of HTML stay as they are. A name without a value is written as nothing; placeholders must have theirs.
 *
 * @throws EngineError TEMPLATE_INVALID with the message and the line.
 */
export function handlebars<Fields extends object = Record<string, unknown>>(
  ...parts: readonly PromptPart[]
): Prompt<Fields> {
  return promptOf('handlebars', parts, (text) => {
    const render = prepareHandlebars(text);
    return { fields: [], fill: ({ optional }) => render(optional, { ...LIMITS, noEscape: true }) };
  });
}

/** What a text gets its values from. */
interface Values {
  /** The value of a field. @throws EngineError TEMPLATE_FIELD_MISSING */
  required(name: string, written: string): Json;
  /** The value of a field; undefined when there is none. */
  optional(name: string): Json | undefined;
}

/** A text that was read. */
interface ReadText {
  readonly fields: readonly PromptField[];
  fill(values: Values): string;
}

type Reader = (text: string) => ReadText;

const readFStringText: Reader = (text) => {
  const { fields, fill } = readFString(text);
  return {
    fields: fields.map(({ name, type }) => ({ name, type, optional: false })),
    fill: (values) => fill(({ name, written }) => values.required(name, written), LIMITS),
  };
};

/** A part of a prompt that was read: gives its messages. */
interface ReadPart {
  readonly fields: readonly PromptField[];
  messages(prompt: string, fields: unknown): readonly ChatMessage[];
}

function promptOf<Fields>(owner: string, parts: readonly PromptPart[], reader: Reader): Prompt<Fields> {
  if (parts.length === 0) throw invalidOption(owner, 'parts', 'at least one message, such as user("…")', 'none');
  const read = parts.map((part, index) => readPart(owner, part, index, reader));
  const fields = mergeFields(read.flatMap((part) => part.fields));
  const build = (name: string): Prompt<Fields> => {
    const fill = (given: Fields): ChatMessage[] => read.flatMap((part) => part.messages(name, given));
    return Object.assign(componentFunction(name, 'prompt', fill), { fields, named: build });
  };
  return build('prompt');
}

function readPart(owner: string, part: PromptPart, index: number, reader: Reader): ReadPart {
  if (typeof part !== 'object' || part === null) {
    throw invalidOption(
      owner,
      `part ${index + 1}`,
      'made by system, user, assistant or placeholder, or a message',
      part,
    );
  }
  if (!('template' in part)) {
    const messages = messagesOf(owner, `part ${index + 1}`, [part]);
    return { fields: [], messages: () => messages };
  }
  if (part.template === 'message') return readMessage(part, `${part.role} message ${index + 1}`, reader);
  const { name, optional } = part;
  return {
    fields: [{ name, type: 'messages', optional }],
    messages(prompt, fields) {
      const value = ownField(fields, name);
      if (value !== undefined) return messagesOf(prompt, name, value);
      if (optional) return [];
      throw missing(prompt, name, `placeholder("${name}")`, fields);
    },
  };
}

const FILLED_TYPES: ReadonlySet<string> = new Set<FilledType>(['text', 'image', 'image_url', 'audio', 'video', 'file']);
const FILLED_KEYS = ['text', 'url', 'data', 'fileId', 'name', 'transcript'] as const satisfies readonly FilledKey[];

function readMessage({ role, content, options }: MessageTemplate, where: string, reader: Reader): ReadPart {
  const texts: ReadText[] = [];
  const read = (text: string): ((values: Values) => string) => {
    const one = readText(text, where, reader);
    texts.push(one);
    return (values) => one.fill(values);
  };
  const filled = typeof content === 'string' ? read(content) : readParts(content, where, read);
  const rest = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  return {
    fields: texts.flatMap(({ fields }) => fields),
    messages(prompt, fields) {
      const values = valuesOf(prompt, where, fields);
      // The constructors took options of the role alone, and parts for the roles that have them.
      return [{ ...rest, role, content: filled(values) } as ChatMessage];
    },
  };
}

function readText(text: string, where: string, reader: Reader): ReadText {
  try {
    return reader(text);
  } catch (thrown) {
    if (!EngineError.is(thrown)) throw thrown;
    const { code, message, details } = thrown;
    const place = typeof details === 'object' ? details : {};
    throw new EngineError(code, `In ${where}: ${message}`, { details: { ...place, message: where }, cause: thrown });
  }
}

function readParts(
  parts: readonly ContentPart[],
  where: string,
  read: (text: string) => (values: Values) => string,
): (values: Values) => ContentPart[] {
  if (!Array.isArray(parts)) throw invalidOption(where, 'content', 'a text or a list of parts', parts);
  const filled = parts.map((part: ContentPart) => {
    if (!FILLED_TYPES.has(part.type)) return () => part;
    const texts = FILLED_KEYS.flatMap((key) => {
      const text = ownField(part, key);
      return typeof text === 'string' ? [[key, read(text)] as const] : [];
    });
    return (values: Values): ContentPart => ({
      ...part,
      ...Object.fromEntries(texts.map(([key, fill]) => [key, fill(values)])),
    });
  });
  return (values) => filled.map((fill) => fill(values));
}

function valuesOf(prompt: string, where: string, fields: unknown): Values {
  /** Templates may ask for a value in every round of a loop. */
  const known = new Map<string, Json | undefined>();
  const optional = (name: string): Json | undefined => {
    if (known.has(name)) return known.get(name);
    const value = ownField(fields, name);
    const json = value === undefined ? undefined : jsonOf(name, value);
    known.set(name, json);
    return json;
  };
  return {
    optional,
    required(name, written) {
      const value = optional(name);
      if (value === undefined) throw missing(prompt, name, `${where} ("${written}")`, fields);
      return value;
    },
  };
}

function missing(prompt: string, name: string, where: string, fields: unknown): EngineError {
  return new EngineError(
    'TEMPLATE_FIELD_MISSING',
    `Prompt "${prompt}" needs the field "${name}" for ${where}; ${fieldsThere(fields)}.`,
    { details: { field: name } },
  );
}

/** Each field once; a placeholder that is needed somewhere is needed. */
function mergeFields(all: readonly PromptField[]): readonly PromptField[] {
  const fields = new Map<string, PromptField>();
  for (const field of all) {
    const known = fields.get(field.name);
    if (known !== undefined && (known.type === 'messages') !== (field.type === 'messages')) {
      throw new EngineError(
        'TEMPLATE_INVALID',
        `"${field.name}" is a placeholder for messages and a field of a text. Give one of them another name.`,
        { details: { field: field.name } },
      );
    }
    fields.set(field.name, known === undefined ? field : stricter(known, field));
  }
  return [...fields.values()];
}

function stricter(known: PromptField, other: PromptField): PromptField {
  const types = [known.type, other.type];
  const type = types.includes('number') ? 'number' : types.includes('text') ? 'text' : known.type;
  return { name: known.name, type, optional: known.optional && other.optional };
}
