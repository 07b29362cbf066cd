import { type AliasName, findReferences, type Reference } from '../dsl/reference.js';
import { type InterpolateOptions, type Lookup, readReference, textOf, type ValueSource } from '../dsl/resolve.js';
import { renderHandlebarsWith } from './handlebars.js';
import { markReferences } from './handlebars-references.js';
import { type HandlebarsValue, Names } from './handlebars-scope.js';
import { renderJinjaWith } from './jinja/jinja.js';
import { special } from './jinja/values.js';
import type { TemplateLimits } from './template-budget.js';

export { renderHandlebars } from './handlebars.js';
export { renderJinja } from './jinja/jinja.js';
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
