/** What an edit of a document gives, and the kinds of components that editors treat in a way of their own. */
import type { Document, DocumentComponent } from '../document.js';
import { createComponentMap } from '../document.js';
import { entriesOf } from '../introspect.js';

/** Why an edit is refused, for programs. */
export type RefusalCode =
  | 'component-unknown'
  | 'id-invalid'
  | 'id-taken'
  | 'type-invalid'
  | 'name-invalid'
  | 'no-names'
  | 'entry-needed'
  | 'second-entry'
  | 'into-entry'
  | 'itself'
  | 'other-body'
  | 'already-connected'
  | 'not-connected'
  | 'no-such-way'
  | 'not-a-container'
  | 'leads-out'
  | 'nothing'
  | 'clip-invalid'
  | 'too-large'
  | 'variable-unknown';

/** Why an edit is refused: for programs, and for people. */
export interface Refusal {
  readonly code: RefusalCode;
  readonly message: string;
}

/** A connection that an edit had to take away. */
export interface CutEdge {
  readonly from: string;
  readonly to: string;
}

/**
 * The document after an edit with the components that it is about, and connections that it had to take away; or why there is none. The
 * document before stays as it is: it is the undo.
 */
export type Edit =
  | {
      readonly document: Document;
      readonly ids: readonly string[];
      readonly cut?: readonly CutEdge[];
      readonly refused?: undefined;
    }
  | { readonly refused: Refusal };

/** Says why there is no edit. */
export function refuse(code: RefusalCode, message: string): { readonly refused: Refusal } {
  return { refused: { code, message } };
}

/** The refusal of an id that no component has. */
export function refuseUnknown(id: string): { readonly refused: Refusal } {
  return refuse('component-unknown', `There is no component ${JSON.stringify(id)}.`);
}

/** Types with a body, in small letters, and the type of the node that it begins with. Servers may have more, see `GET /components`. */
const CONTAINERS: ReadonlyMap<string, string | undefined> = new Map([
  ['iteration', 'IterationItem'],
  ['loop', 'LoopItem'],
  ['parallel', undefined],
]);

const STARTS: ReadonlySet<string> = new Set([...CONTAINERS.values()].flatMap((type) => type?.toLowerCase() ?? []));

/** The name of a type, to compare it with others. */
export function typeKey(type: string): string {
  return type.trim().toLowerCase();
}

/** The type of the node that a new body of a type begins with; undefined when any node will do. */
export function bodyStartOf(type: string): string | undefined {
  return CONTAINERS.get(typeKey(type));
}

/** Whether a component has a body, or may have one. */
export function isContainer(document: Document, { id, type }: DocumentComponent): boolean {
  return CONTAINERS.has(typeKey(type)) || Object.values(document.components).some(({ parent }) => parent === id);
}

/** Whether a body begins with the component: it belongs to its container, and nothing leads to it. */
export function isBodyStart({ type, parent }: DocumentComponent): boolean {
  return parent !== undefined && STARTS.has(typeKey(type));
}

/** Whether a document begins with components of a type. */
export function isEntryType(type: string): boolean {
  return ['begin', 'file'].includes(typeKey(type));
}

/** Ids at which the document begins: of a canvas its Begin, of a pipeline its File. */
export function startsOf(document: Document): readonly string[] {
  const entries = entriesOf(document);
  if (entries.length > 0) return entries;
  return Object.values(document.components).flatMap(({ id, type }) => (typeKey(type) === 'file' ? [id] : []));
}

/** The components of a document, changed one by one; undefined leaves one out. */
export function mapComponents(
  components: Document['components'],
  change: (component: DocumentComponent) => DocumentComponent | undefined,
): Record<string, DocumentComponent> {
  const result = createComponentMap();
  for (const component of Object.values(components)) {
    const changed = change(component);
    if (changed !== undefined) result[changed.id] = changed;
  }
  return result;
}

/** Ids of components and of everything in their bodies, however deep, in the order of the document. */
export function withBodies(document: Document, ids: readonly string[]): readonly string[] {
  const chosen = new Set(ids);
  const lies = (id: string): boolean => {
    const seen = new Set<string>();
    for (let at: string | undefined = id; at !== undefined && !seen.has(at); at = document.components[at]?.parent) {
      if (chosen.has(at)) return true;
      seen.add(at);
    }
    return false;
  };
  return Object.keys(document.components).filter(lies);
}

/** The same component without a body around it. */
export function withParent(component: DocumentComponent, parent: string | undefined): DocumentComponent {
  const { parent: _, ...rest } = component;
  return parent === undefined ? rest : { ...rest, parent };
}
