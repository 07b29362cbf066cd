/** Warnings about names in a document that nothing answers to: parameters, variables, outputs. */
import type { z } from 'zod';
import type { AnyComponent, Registry } from '../components/component.js';
import { canonicalId } from '../dsl/component-id.js';
import type { Document, DocumentComponent, DocumentIssue } from '../dsl/document.js';
import { defaultGlobals, initialVariables } from '../dsl/globals.js';
import { formatPath, type PathStep } from '../dsl/issues.js';
import { ownObject, ownText } from '../dsl/json-copy.js';
import { findReferences, parseReference, type Reference } from '../dsl/reference.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { didYouMean, nearestName } from '../nearest-name.js';

/** Variables that a run may have although no document declares them. */
const RUN_VARIABLES = ['sys.chat_template_kwargs'];

/** Most warnings of one document; a document with more has one cause for many of them. */
const MAX_WARNINGS = 200;

/**
 * What looking for names may cost for one document: a comparison of two names is 1, a trial whether a parameter is read 1 for each
 * {@link TRIAL_CHARACTERS} of all parameters. Advice about ten thousand names would help no author, and looking for it would take minutes.
 */
const MAX_WORK = 50_000;
const TRIAL_CHARACTERS = 20;

/** Segments of a path whose lookup costs nothing; a longer one costs a comparison for each. */
const USUAL_SEGMENTS = 10;

/** A text that is one reference without braces; other texts may have an `@` for other reasons. */
const BARE_REFERENCE = /^(?:[A-Za-z0-9_:]+@|(?:sys|env)\.)[A-Za-z0-9_.-]+$/i;

/**
 * Warns of names that are probably mistyped: parameters that their type does not have but that resemble one it has, references to
 * variables that do not exist, and to outputs that a node of the type does not have.
 *
 * Parameters that resemble none are left alone, because editors store some that no engine reads. Nodes that do not exist are
 * reported where the document is compiled.
 */
export function adviseDocument(document: Document, registry: Registry): readonly DocumentIssue[] {
  const advice = new Advice(document, registry);
  for (const component of Object.values(document.components)) advice.look(component);
  return advice.issues;
}

/** A component of the document with its type, and the names of its outputs when they are known. */
interface Known {
  readonly source: DocumentComponent;
  readonly component: AnyComponent;
  readonly outputs: ReadonlySet<string> | undefined;
}

class Advice {
  readonly issues: DocumentIssue[] = [];
  readonly #document: Document;
  readonly #registry: Registry;
  readonly #variables: ReadonlySet<string>;
  /** By canonical id. */
  readonly #known = new Map<string, Known>();
  /** What is left of {@link MAX_WORK}. */
  #work = MAX_WORK;

  constructor(document: Document, registry: Registry) {
    this.#document = document;
    this.#registry = registry;
    const own = Object.keys(initialVariables(document));
    this.#variables = new Set([...own, ...Object.keys(defaultGlobals()), ...RUN_VARIABLES]);
    for (const source of Object.values(document.components)) {
      const component = this.#typeOf(source.type);
      if (component === undefined) continue;
      this.#known.set(canonicalId(source.id), { source, component, outputs: outputsOf(component, source.params) });
    }
  }

  look(source: DocumentComponent): void {
    const component = this.#typeOf(source.type);
    if (component === undefined) return;
    const inside = this.#document.version === 1 ? ['obj', 'params'] : ['params'];
    this.#lookAtParams(source, component, source.params, ['components', source.id, ...inside]);
  }

  #typeOf(name: string): AnyComponent | undefined {
    return this.#registry.get(name.trim().toLowerCase());
  }

  #lookAtParams(
    source: DocumentComponent,
    component: AnyComponent,
    params: JsonObject,
    path: readonly PathStep[],
  ): void {
    const names = fieldNames(component.params) ?? [];
    for (const [name, value] of Object.entries(params)) {
      const at = [...path, name];
      if (!names.includes(name)) this.#lookAtName(source, component, params, name, at);
      if (name === 'tools' && Array.isArray(value)) this.#lookAtTools(source, value, at);
      else if (component.verbatim?.includes(name) !== true) this.#lookAtValue(source, value, at);
    }
  }

  #lookAtName(
    source: DocumentComponent,
    component: AnyComponent,
    params: JsonObject,
    name: string,
    path: readonly PathStep[],
  ): void {
    const names = fieldNames(component.params) ?? [];
    if (this.#isOver(names.length)) return;
    const nearest = nearestName(name, names);
    if (nearest === undefined || this.#isOver(trialWork(params)) || isRead(component, params, name)) return;
    const message = `"${name}" is not a parameter of ${component.type}, and nothing reads it. Did you mean "${nearest}"?`;
    this.#warn('param-unknown', path, source, message);
  }

  /** Tools of an agent have types and parameters like nodes. */
  #lookAtTools(source: DocumentComponent, tools: readonly Json[], path: readonly PathStep[]): void {
    for (const [index, tool] of tools.entries()) {
      const component = this.#typeOf(ownText(tool, 'component_name') ?? '');
      const params = ownObject(tool, 'params');
      if (component === undefined || params === undefined) continue;
      this.#lookAtParams(source, component, params, [...path, index, 'params']);
    }
  }

  #lookAtValue(source: DocumentComponent, value: Json, path: readonly PathStep[]): void {
    if (typeof value === 'string') {
      if (this.#isOver(0)) return;
      for (const reference of referencesIn(value)) this.#lookAtReference(source, reference, path);
    } else if (Array.isArray(value)) {
      for (const [index, item] of (value as readonly Json[]).entries())
        this.#lookAtValue(source, item, [...path, index]);
    } else if (isJsonObject(value)) {
      for (const [key, item] of Object.entries(value)) this.#lookAtValue(source, item, [...path, key]);
    }
  }

  #lookAtReference(source: DocumentComponent, reference: Reference, path: readonly PathStep[]): void {
    if (reference.kind === 'variable') {
      const { length } = reference.key.split('.');
      if (length > USUAL_SEGMENTS && this.#isOver(length)) return;
      if (this.#hasVariable(reference.key) || this.#isOver(this.#variables.size)) return;
      const declare = reference.key.toLowerCase().startsWith('env.')
        ? ' Declare it in the variables of the document, or pass it with the run.'
        : '';
      const hint = didYouMean(reference.key, this.#variables) || declare;
      const message = `there is no variable "${reference.key}", so the reference has no value.${hint}`;
      this.#warn('variable-unknown', path, source, message);
      return;
    }
    if (reference.kind !== 'output' || reference.name.startsWith('_')) return;
    const known = this.#known.get(canonicalId(reference.component));
    if (known?.outputs === undefined || known.outputs.has(reference.name) || this.#isOver(known.outputs.size)) return;
    const hint = didYouMean(reference.name, known.outputs) || ` It has ${[...known.outputs].join(', ')}.`;
    const message = `"${known.source.id}" (${known.component.type}) has no output "${reference.name}", so the reference has no value.${hint}`;
    this.#warn('output-unknown', path, source, message);
  }

  /** Takes from what looking may still cost, or says that nothing more is looked for. */
  #isOver(work: number): boolean {
    if (this.issues.length >= MAX_WARNINGS || this.#work < work) return true;
    this.#work -= work;
    return false;
  }

  /** A longer key may be a path into the value of a shorter one. */
  #hasVariable(key: string): boolean {
    const [namespace, name = '', ...path] = key.split('.');
    return [name, ...path].some((_, end) => this.#variables.has([namespace, name, ...path.slice(0, end)].join('.')));
  }

  #warn(code: string, path: readonly PathStep[], { id, name }: DocumentComponent, message: string): void {
    if (this.issues.length >= MAX_WARNINGS) return;
    this.issues.push({
      code,
      severity: 'warning',
      // Of the form in which compiling reports parameters.
      path: formatPath(path.slice(2), `$.components[${JSON.stringify(id)}]`),
      message: `${name}: ${message}`,
      component: id,
    });
  }
}

/** The outputs of a node; undefined when they are not known before it runs. */
function outputsOf(component: AnyComponent, params: JsonObject): ReadonlySet<string> | undefined {
  const parsed = component.params.safeParse(params);
  if (!parsed.success) return undefined;
  const own = component.ownOutputs?.(parsed.data) ?? [];
  if (own === 'any') return undefined;
  const names = [...Object.keys(component.outputs), ...own];
  if (names.length === 0) return undefined;
  // A default value in the place of the result.
  const fallback = params.exception_method === 'comment' ? [component.primaryOutput ?? 'result'] : [];
  return new Set([...names, ...fallback]);
}

function trialWork(params: JsonObject): number {
  return 1 + Math.ceil(JSON.stringify(params).length / TRIAL_CHARACTERS);
}

/** Whether a parameter that the schema does not name changes what the schema gives: some types take other names as well. */
function isRead(component: AnyComponent, params: JsonObject, name: string): boolean {
  const { [name]: _, ...without } = params;
  const before = component.params.safeParse(params);
  const after = component.params.safeParse(without);
  if (!before.success || !after.success) return before.success;
  const { [name]: __, ...read } = before.data as JsonObject;
  return JSON.stringify(read) !== JSON.stringify(after.data);
}

function referencesIn(text: string): readonly Reference[] {
  const bare = BARE_REFERENCE.test(text) ? parseReference(text) : undefined;
  return bare === undefined ? findReferences(text).map(({ reference }) => reference) : [bare];
}

/** The names of the fields of an object schema, also behind transforms; undefined when it has none. */
function fieldNames(schema: z.ZodType): readonly string[] | undefined {
  // The definition of a schema is typed for its own class only.
  const { type, shape, in: before, out: after, innerType } = schema.def as unknown as SchemaDefinition;
  if (type === 'object') return Object.keys(shape ?? {});
  if (innerType !== undefined) return fieldNames(innerType);
  return (before && fieldNames(before)) ?? (after && fieldNames(after));
}

interface SchemaDefinition {
  readonly type: string;
  readonly shape?: object;
  readonly in?: z.ZodType;
  readonly out?: z.ZodType;
  readonly innerType?: z.ZodType;
}
