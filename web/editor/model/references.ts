/** What the parameters of a component may refer to, and where a reference leads. */
import { indexIds } from '../../../src/dsl/component-id.js';
import type { Document, DocumentComponent } from '../../../src/dsl/document.js';
import { allTargetsOf, resolverOf } from '../../../src/dsl/edit/index.js';
import { defaultGlobals, initialVariables } from '../../../src/dsl/globals.js';
import { ownObject } from '../../../src/dsl/json-copy.js';
import { findReferences, parseReference, type Reference } from '../../../src/dsl/reference.js';
import { isContainerType } from '../../canvas/kinds.js';
import { type Catalogue, entryOf } from './catalogue.js';

/** Something that can be referred to. */
export interface Source {
  /** As it is written between braces. */
  readonly key: string;
  /** What people call it: a node and its output, or a variable. */
  readonly name: string;
  readonly group: 'output' | 'sys' | 'env' | 'alias';
}

/** A reference in a text. */
export interface FoundReference {
  readonly key: string;
  readonly name: string;
  /** Why it has no value; undefined when it can have one. */
  readonly problem?: 'no-component' | 'no-output' | 'not-before' | 'no-variable' | 'no-body';
}

/** Short names that bodies have. */
const ALIASES = ['item', 'index', 'result'] as const;

/** What a component may refer to: outputs of all that may have run before, variables, and in a body its short names. */
export function sourcesFor(document: Document, id: string, catalogue: Catalogue): readonly Source[] {
  const before = beforeOf(document, id);
  const outputs = Object.values(document.components).flatMap((component): Source[] => {
    if (!before.has(component.id)) return [];
    return outputsOf(component, catalogue).map((output) => ({
      key: `${component.id}@${output}`,
      name: `${component.name} › ${output}`,
      group: 'output',
    }));
  });
  const variables = variablesOf(document).map(
    (key): Source => ({ key, name: key, group: key.startsWith('env.') ? 'env' : 'sys' }),
  );
  const aliases = isInBody(document, id) ? ALIASES.map((key): Source => ({ key, name: key, group: 'alias' })) : [];
  return [...outputs, ...variables, ...aliases];
}

/** Names of the outputs of a component: those of its type, of its parameters, and the fields that it asks for. */
export function outputsOf({ type, params }: DocumentComponent, catalogue: Catalogue): readonly string[] {
  const entry = entryOf(catalogue, type);
  const own = Object.keys(ownObject(params, 'outputs') ?? {});
  const asked =
    entry === undefined || entry.asks || entry.is_entry ? Object.keys(ownObject(params, 'inputs') ?? {}) : [];
  const variables = Object.keys(ownObject(params, 'loop_variables') ?? {});
  return [...new Set([...(entry?.outputs.map(({ name }) => name) ?? []), ...own, ...asked, ...variables])];
}

/** The references of a text, each once; `isReference`: all of it is one. */
export function referencesIn(
  text: string,
  { document, id, catalogue, isReference = false }: ReferencePlace,
): readonly FoundReference[] {
  const whole = isReference ? parseReference(text) : undefined;
  const all = whole === undefined ? findReferences(text).map(({ reference }) => reference) : [whole];
  const found = new Map<string, FoundReference>();
  const before = all.length === 0 ? new Set<string>() : beforeOf(document, id);
  for (const reference of all) {
    const described = describe(reference, { document, id, catalogue, before });
    found.set(described.key, described);
  }
  return [...found.values()];
}

export interface ReferencePlace {
  readonly document: Document;
  readonly id: string;
  readonly catalogue: Catalogue;
  readonly isReference?: boolean;
}

function describe(
  reference: Reference,
  { document, id, catalogue, before }: ReferencePlace & { readonly before: ReadonlySet<string> },
): FoundReference {
  if (reference.kind === 'alias') {
    const key = [reference.name, ...reference.path].join('.');
    return { key, name: key, ...(!isInBody(document, id) && { problem: 'no-body' }) };
  }
  if (reference.kind === 'variable') {
    const known = variablesOf(document).some((one) => reference.key === one || reference.key.startsWith(`${one}.`));
    return { key: reference.key, name: reference.key, ...(!known && { problem: 'no-variable' }) };
  }
  const path = [reference.name, ...reference.path].join('.');
  const key = `${reference.component}@${path}`;
  const found = indexIds(Object.keys(document.components)).resolve(reference.component);
  const component = found === undefined ? undefined : document.components[found];
  if (component === undefined) return { key, name: key, problem: 'no-component' };
  const name = `${component.name} › ${path}`;
  if (!before.has(component.id)) return { key, name, problem: 'not-before' };
  const outputs = outputsOf(component, catalogue);
  const isDeclared = entryOf(catalogue, component.type) === undefined || outputs.includes(reference.name);
  return { key, name, ...(!isDeclared && outputs.length > 0 && { problem: 'no-output' }) };
}

/** Components that may have run before one: what leads to it, to its containers, and what lies in a container that may have; of a body also what comes behind, by another pass. */
function beforeOf(document: Document, id: string): ReadonlySet<string> {
  const sets = known.get(document) ?? new Map<string, ReadonlySet<string>>();
  known.set(document, sets);
  const found = sets.get(id) ?? findBefore(document, id);
  sets.set(id, found);
  return found;
}

/** Found once for all fields of a form: documents never change. */
const known = new WeakMap<Document, Map<string, ReadonlySet<string>>>();

function findBefore(document: Document, id: string): ReadonlySet<string> {
  const resolve = resolverOf(document);
  const into = new Map<string, string[]>();
  for (const component of Object.values(document.components)) {
    const targets = new Set([...component.downstream, ...allTargetsOf(component, resolve)]);
    for (const target of targets) into.set(target, [...(into.get(target) ?? []), component.id]);
  }
  const before = new Set<string>();
  const waiting = [id];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const { parent } = document.components[at] ?? {};
    for (const one of [...(into.get(at) ?? []), ...(parent === undefined ? [] : [parent])]) {
      if (before.has(one) || one === id) continue;
      before.add(one);
      waiting.push(one);
    }
  }
  // A container may say of its own body what it collects, and rounds follow each other.
  const body = document.components[id]?.parent;
  for (const { id: one, parent } of Object.values(document.components)) {
    if (parent === undefined || one === id) continue;
    if (parent === id || parent === body || before.has(parent)) before.add(one);
  }
  return before;
}

/** Also those that every run sets, whatever the document says. */
function variablesOf(document: Document): readonly string[] {
  return [...new Set([...Object.keys(initialVariables(document)), ...Object.keys(defaultGlobals())])];
}

function isInBody({ components }: Document, id: string): boolean {
  const own = components[id];
  return own?.parent !== undefined || (own !== undefined && isContainerType(own.type));
}
