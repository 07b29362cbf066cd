import { concat, from, isObservable, type Observable, of } from 'rxjs';
import { parseReference, type Reference, splitTemplate } from '../../dsl/reference.js';
import { renderValue } from '../../dsl/render-value.js';
import { interpolate, type Lookup, readReference, textOf } from '../../dsl/resolve.js';
import { EngineError } from '../../errors.js';
import type { Activation } from '../../graph/node.js';
import { type Interrupt, type NodeEvent, type Notice, type Settled, warning } from '../../graph/node-events.js';
import type { Json } from '../../json.js';
import { isJinja, renderTemplate, type TemplateEngine } from '../../templates/template.js';

/** Reads the texts of one activation, and collects warnings about them. */
export interface TextReader {
  /** The text with every reference in it replaced. */
  read(text: string): string;
  /**
   * The text rendered as a template, whether or not there are tags in it. References in tags are texts in Jinja, as in
   * RAGFlow, and values with their types in Handlebars.
   */
  render(text: string, engine: TemplateEngine): string;
  /** The text of a parameter: a text as `read` gives it, any other value as JSON. */
  textFor(value: Json): string;
  /** The text rendered as Jinja when it is a template by the rule of `isJinja`, otherwise as `read` gives it. */
  readTemplate(text: string): string;
  /** The text that stands for one reference; `written` is how it stands in the template. */
  textOf(reference: Reference, written: string): string;
  /** What a reference holds; one that names nothing is recorded. */
  lookup(reference: Reference): Lookup;
  /** Records a reference that names nothing; for lookups made elsewhere. */
  unresolved(reference: Reference, lookup: Lookup): void;
  /** Warnings so far, one for each reference that names nothing. */
  readonly warnings: readonly Notice[];
}

/**
 * Makes the reader that all text nodes share: what is declared and has no value, or is no output of its node, reads as
 * empty text, the latter with a warning; so does a variable that does not exist.
 *
 * `render` gives the text of a value, JSON for everything but texts when absent.
 * Errors: `REFERENCE_UNRESOLVED` for an output of a node that does not exist, which is always a mistake in the document.
 */
export function createTextReader(
  { node, source }: Pick<Activation, 'node' | 'source'>,
  render?: (value: Json) => string,
): TextReader {
  const warnings: Notice[] = [];
  const reported = new Set<string>();
  const onUnresolved = (reference: Reference, lookup: Lookup): void => {
    const name = nameReference(reference);
    if (reference.kind === 'output' && lookup.status === 'unresolved') {
      throw new EngineError(
        'REFERENCE_UNRESOLVED',
        `Node "${node}" reads "${name}", but there is no node "${reference.component}".`,
        { node },
      );
    }
    if (reported.has(name)) return;
    reported.add(name);
    warnings.push(warning(`"${name}" names no value; it reads as empty text.`));
  };
  const options = { onUnresolved, ...(render && { render }) };
  const read = (text: string) => interpolate(text, source, options);
  const renderAs = (text: string, engine: TemplateEngine) =>
    renderTemplate(text, engine, source, { ...options, values: engine === 'handlebars' ? 'typed' : 'text' });
  return {
    warnings,
    read,
    textFor: (value) => (typeof value === 'string' ? read(value) : renderValue(value)),
    render: renderAs,
    readTemplate: (text) => (isJinja(text) ? renderAs(text, 'jinja') : read(text)),
    textOf: (reference, written) => textOf(reference, written, source, options),
    lookup: (reference) => {
      const lookup = readReference(reference, source);
      if (lookup.status === 'undeclared' || lookup.status === 'unresolved') onUnresolved(reference, lookup);
      return lookup;
    },
    unresolved: onUnresolved,
  };
}

/** A node that reads texts: what `work` gives, after the warnings about these texts. */
export function readingTexts(
  work: (reader: TextReader, activation: Activation) => Settled | Observable<NodeEvent>,
): (activation: Activation) => Settled | Observable<NodeEvent> {
  return (activation) => {
    const reader = createTextReader(activation);
    const result = work(reader, activation);
    return afterWarnings(reader.warnings, result);
  };
}

/** The outputs of nodes that texts refer to, as `node@output`, each once; what a text node needs before it can run. */
export function referencedOutputs(texts: readonly string[]): string[] {
  const names = new Set<string>();
  for (const text of texts) {
    for (const part of splitTemplate(text)) {
      if (part.kind === 'reference' && part.reference.kind === 'output') {
        names.add(`${part.reference.component}@${part.reference.name}`);
      }
    }
  }
  return [...names];
}

/** The output that a parameter names when it is one reference, as `node@output`, in a list; none otherwise. */
export function outputOf(parameter: string): string[] {
  const reference = parseReference(parameter);
  return reference?.kind === 'output' ? [`${reference.component}@${reference.name}`] : [];
}

/** A reference as it stands between braces. */
export function nameReference(reference: Reference): string {
  if (reference.kind === 'variable') return reference.key;
  const path = [reference.name, ...reference.path].join('.');
  return reference.kind === 'alias' ? path : `${reference.component}@${path}`;
}

/** The warnings of a node, then its result; the plain result without warnings. */
export function afterWarnings<T extends Settled | Interrupt | Observable<NodeEvent>>(
  warnings: readonly Notice[],
  result: T,
) {
  if (warnings.length === 0) return result;
  return concat(from<NodeEvent[]>([...warnings]), isObservable(result) ? result : of<NodeEvent>(result));
}
