import type { AnyComponent, Registry } from '../../components/component.js';
import { findComponent } from '../../dsl/component-id.js';
import type { Document, DocumentComponent } from '../../dsl/document.js';
import { textsIn } from '../../dsl/json-copy.js';
import { findReferences, parseReference, type Reference } from '../../dsl/reference.js';
import { EngineError } from '../../errors.js';
import { isJsonObject, type JsonObject } from '../../json.js';

/** A component of a document with what its type declares. */
export interface FoundComponent {
  readonly source: DocumentComponent;
  readonly type: AnyComponent;
  /** The component and, for a container, everything in its body. */
  readonly family: readonly DocumentComponent[];
}

/** @throws EngineError NOT_FOUND when there is no such component, or its type is unknown. */
export function requireComponent(document: Document, registry: Registry, id: string): FoundComponent {
  const source = findComponent(document, id);
  const type = source === undefined ? undefined : registry.get(source.type.trim().toLowerCase());
  if (source === undefined || type === undefined) throw new EngineError('NOT_FOUND', `component not found: ${id}`);
  return { source, type, family: familyOf(document, source) };
}

/**
 * What to fill in to try a component: the fields of a component that is a form itself; of any other, each value that it reads.
 */
export function inputFormOf(document: Document, { source, type, family }: FoundComponent): JsonObject {
  if (isForm(type)) {
    const { inputs } = source.params;
    return isJsonObject(inputs) ? inputs : {};
  }
  return Object.fromEntries(readValues(document, family).map(([key, name]) => [key, { type: 'line', name }]));
}

/** Whether what is given to a component are the fields of its own form. */
export function isForm({ asks, isEntry }: AnyComponent): boolean {
  return asks === true || isEntry === true;
}

function familyOf(document: Document, root: DocumentComponent): DocumentComponent[] {
  const family = [root];
  const ids = new Set([root.id]);
  // What is found is searched as well: bodies lie in bodies.
  for (const { id } of family) {
    for (const component of Object.values(document.components)) {
      if (component.parent !== id || ids.has(component.id)) continue;
      ids.add(component.id);
      family.push(component);
    }
  }
  return family;
}

/**
 * The values that components read: `component@output.path`, `sys.name` or `env.name`, and what to call each, with the display name in
 * place of the id. What they give each other, and what their surroundings give them under short names, is not among them.
 */
function readValues(
  document: Document,
  components: readonly DocumentComponent[],
): readonly (readonly [string, string])[] {
  const own = new Set(components.map(({ id }) => id));
  const names = new Map<string, string>();
  const references = components.flatMap(({ params }) => textsIn(params)).flatMap(referencesIn);
  for (const reference of references) {
    if (reference.kind === 'variable') names.set(reference.key, reference.key);
    if (reference.kind !== 'output') continue;
    const source = findComponent(document, reference.component);
    if (source === undefined || own.has(source.id)) continue;
    const output = [reference.name, ...reference.path].join('.');
    names.set(`${source.id}@${output}`, `${source.name}@${output}`);
  }
  return [...names];
}

function referencesIn(text: string): readonly Reference[] {
  const whole = parseReference(text);
  return whole === undefined ? findReferences(text).map(({ reference }) => reference) : [whole];
}
