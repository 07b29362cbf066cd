import { findComponent } from '../../dsl/component-id.js';
import type { Document, DocumentComponent } from '../../dsl/document.js';
import { findReferences, parseReference, type Reference } from '../../dsl/reference.js';
import { isJsonObject, type Json } from '../../json.js';

/** A value that a component reads, as its parameters name it. */
export interface ReadValue {
  /** `component@output.path`, `sys.name` or `env.name`. */
  readonly key: string;
  readonly reference: Exclude<Reference, { kind: 'alias' }>;
}

/**
 * Everything that components read from elsewhere: references in texts, and parameters that are one reference. What they read
 * from each other is left out, and what names no component of the document is no reference.
 */
export function readValues(document: Document, components: readonly DocumentComponent[]): readonly ReadValue[] {
  const own = new Set(components.map(({ id }) => id));
  const found = new Map<string, ReadValue>();
  for (const { params } of components) {
    for (const text of textsOf(params)) {
      for (const reference of referencesIn(text)) {
        if (reference.kind === 'alias') continue;
        if (reference.kind === 'variable') {
          found.set(reference.key, { key: reference.key, reference });
          continue;
        }
        const source = findComponent(document, reference.component);
        if (source === undefined || own.has(source.id)) continue;
        const key = `${source.id}@${[reference.name, ...reference.path].join('.')}`;
        found.set(key, { key, reference: { ...reference, component: source.id } });
      }
    }
  }
  return [...found.values()];
}

function referencesIn(text: string): readonly Reference[] {
  const whole = parseReference(text);
  return whole === undefined ? findReferences(text).map(({ reference }) => reference) : [whole];
}

/** All texts in a value, at any depth; without recursion, for documents may be deep. */
function textsOf(value: Json): string[] {
  const texts: string[] = [];
  const open: Json[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string') texts.push(next);
    else if (Array.isArray(next)) open.push(...(next as Json[]).toReversed());
    else if (isJsonObject(next)) open.push(...Object.values(next).reverse());
  }
  return texts;
}
