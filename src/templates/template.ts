/** Templates of a canvas: Jinja or Handlebars with references to values of the run. */
import {
  type AliasName,
  belongsToText,
  createReferenceReader,
  findReferences,
  type Reference,
  type ReferenceReader,
} from '../dsl/reference.js';
import { type InterpolateOptions, type Lookup, readReference, textOf, type ValueSource } from '../dsl/resolve.js';
import { EngineError } from '../errors.js';
import { type HandlebarsValue, Names, renderHandlebarsWith } from './handlebars.js';
import { renderJinjaWith } from './jinja/jinja.js';
import { special } from './jinja/values.js';
import type { TemplateLimits } from './template-budget.js';

export { type FString, type FStringField, readFString } from './f-string.js';
export { prepareHandlebars, renderHandlebars } from './handlebars.js';
export { prepareJinja, renderJinja } from './jinja/jinja.js';
export type { TemplateLimits } from './template-budget.js';

/** The template languages. */
export type TemplateEngine = 'jinja' | 'handlebars';

/** How a template of a canvas is rendered. */
export interface TemplateOptions extends InterpolateOptions {
  /**
   * What a reference inside of a tag is: its text as `render` gives it (default; so `{% for x in {a@list} %}` goes
   * through characters, as in RAGFlow's Message), or the value with its type. `sys`, `env` and the short names always
   * have their types.
   */
  readonly values?: 'text' | 'typed';
  /** Bounds of the rendering. */
  readonly limits?: TemplateLimits;
}

const ALIASES = new Set<string>(['item', 'index', 'result'] satisfies AliasName[]);

/**
 * Whether a text is a Jinja template by the rule of Message and StringTransform: beside its references there is
 * `{%…%}`, `{{` or `}}`. Braces that belong to references do not count, so `{{sys.query}}!` is plain text.
 */
export function isJinja(text: string): boolean {
  let from = 0;
  let open = false;
  for (const match of [...findReferences(text), undefined]) {
    const between = text.slice(from, match?.start);
    if (between.includes('{{') || between.includes('}}')) return true;
    const statement: number = open ? 0 : between.indexOf('{%');
    if (statement !== -1 && between.includes('%}', statement)) return true;
    open ||= statement !== -1;
    from = match?.end ?? from;
  }
  return false;
}

/**
 * Renders a template of a canvas: references become values, everything else is the language's own. Values are never
 * read as template text.
 *
 * What names nothing is reported to `onUnresolved`; its text is empty, its typed value undefined, so `default` works.
 *
 * @throws EngineError `TEMPLATE_INVALID`, `TEMPLATE_FAILED`, `TEMPLATE_TOO_LARGE`.
 */
export function renderTemplate(
  text: string,
  engine: TemplateEngine,
  source: ValueSource,
  options: TemplateOptions = {},
): string {
  const render = engine === 'jinja' ? renderJinjaTemplate : renderHandlebarsTemplate;
  return render(text, source, options);
}

function renderJinjaTemplate(text: string, source: ValueSource, options: TemplateOptions): string {
  const namespace = (name: string) => special(name, { get: (key) => found(source.variable(`${name}.${key}`)) });
  const host = {
    name: (name: string) => (name === 'sys' || name === 'env' ? namespace(name) : aliasValue(name, source)),
    reference: (reference: Reference) => valueInTag(reference, source, options),
    referenceText: (reference: Reference, written: string) => textOf(reference, written, source, options),
  };
  return renderJinjaWith(text, host, true, options.limits);
}

function renderHandlebarsTemplate(text: string, source: ValueSource, options: TemplateOptions): string {
  const { template, inTags, fill } = markReferences(text);
  const namespace = (name: string) => new Names((key) => found(source.variable(`${name}.${key}`)));
  const context = new Names((name) => (name === 'sys' || name === 'env' ? namespace(name) : aliasValue(name, source)));
  const data = new Map<string, HandlebarsValue>();
  inTags.forEach((reference, i) => {
    data.set(`reference_${i}`, valueInTag(reference, source, options));
  });
  const content = (literal: string) =>
    fill(literal, (reference, written) => textOf(reference, written, source, options));
  // Text of a canvas is Markdown or plain; HTML is escaped where it is made.
  return renderHandlebarsWith(template, { context, data, content }, { ...options.limits, noEscape: true });
}

function valueInTag(reference: Reference, source: ValueSource, options: TemplateOptions) {
  if (reference.kind !== 'alias' && options.values !== 'typed') return textOf(reference, '', source, options);
  const lookup = readReference(reference, source);
  const isMissing = lookup.status === 'undeclared' || lookup.status === 'unresolved';
  if (isMissing && reference.kind !== 'alias') options.onUnresolved?.(reference, lookup);
  return found(lookup);
}

function aliasValue(name: string, source: ValueSource) {
  return ALIASES.has(name) ? found(source.alias(name as AliasName)) : undefined;
}

function found(lookup: Lookup) {
  return lookup.status === 'found' ? lookup.value : undefined;
}

/** A Handlebars template whose references Handlebars can read. */
export interface MarkedTemplate {
  readonly template: string;
  /** References inside of tags; number n is `@reference_n` in the template. */
  readonly inTags: readonly Reference[];
  /** Puts the texts of the other references in their places. */
  readonly fill: (content: string, textOf: (reference: Reference, written: string) => string) => string;
}

/** The private use area, from which a character is chosen that the template does not contain. */
const FIRST_MARK = 0xe000;
const LAST_MARK = 0xf8ff;

/** Replaces references inside of tags by data names, and those in the text by marks that Handlebars passes on as text. */
function markReferences(text: string): MarkedTemplate {
  const mark = unusedCharacter(text);
  const inTags: Reference[] = [];
  const inText: { readonly reference: Reference; readonly written: string }[] = [];
  const reader = createReferenceReader(text);
  let template = '';
  let from = 0;
  for (let at = text.indexOf('{'); at !== -1; at = text.indexOf('{', from)) {
    template += text.slice(from, at);
    const braced = reader.braced(at);
    if (braced !== undefined && belongsToText(braced)) {
      template += `${mark}${inText.length}${mark}`;
      inText.push({ reference: braced.reference, written: text.slice(at, braced.balancedEnd) });
      from = braced.balancedEnd;
    } else if (text.startsWith('{{', at)) {
      const tag = markTag(text, at, reader, inTags);
      template += tag.marked;
      from = tag.end;
    } else {
      template += '{';
      from = at + 1;
    }
  }
  const marks = new RegExp(`${mark}(\\d+)${mark}`, 'g');
  return {
    template: template + text.slice(from),
    inTags,
    fill: (content, textOf) =>
      content.replace(marks, (_, index: string) => {
        const { reference, written } = inText[Number(index)] as (typeof inText)[number];
        return textOf(reference, written);
      }),
  };
}

/** Copies a tag up to the braces that close it, outside of quotes and `[…]`, with data names for its references. */
function markTag(
  text: string,
  start: number,
  reader: ReferenceReader,
  inTags: Reference[],
): { marked: string; end: number } {
  if (text.startsWith('{{!', start)) {
    const end = behind(text, text.startsWith('{{!--', start) ? '--}}' : '}}', start);
    return { marked: text.slice(start, end), end };
  }
  let marked = '{{';
  let at = start + 2;
  while (at < text.length && !text.startsWith('}}', at)) {
    const char = text[at] as string;
    const braced = char === '{' ? reader.braced(at) : undefined;
    if (braced !== undefined) {
      marked += `@reference_${inTags.push(braced.reference) - 1}`;
      at = braced.balancedEnd;
      continue;
    }
    const end =
      char === '"' || char === "'" ? behind(text, char, at + 1) : char === '[' ? behind(text, ']', at) : at + 1;
    marked += text.slice(at, end);
    at = end;
  }
  const end = at + (/^\}+/.exec(text.slice(at, at + 8))?.[0].length ?? 0);
  return { marked: marked + text.slice(at, end), end };
}

function behind(text: string, end: string, from: number): number {
  const at = text.indexOf(end, from);
  return at === -1 ? text.length : at + end.length;
}

function unusedCharacter(text: string): string {
  for (let code = FIRST_MARK; code <= LAST_MARK; code++) {
    const char = String.fromCharCode(code);
    if (!text.includes(char)) return char;
  }
  throw new EngineError(
    'TEMPLATE_INVALID',
    'The template uses every private character of Unicode. Take some of them out.',
  );
}
