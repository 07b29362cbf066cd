/** Adding a component, alone or into a connection. */
import type { JsonObject } from '../../json.js';
import type { Document, DocumentComponent } from '../document.js';
import { type Connection, replaced, whyNotConnected } from './connect.js';
import { bodyStartOf, type Edit, isContainer, isEntryType, refuse, refuseUnknown, startsOf, typeKey } from './edit.js';
import { withComponents } from './follow-layout.js';
import type { Place } from './layout-parts.js';
import { freeName, MAX_NAME, NewIds, problemOfId, withOwnSubAgents } from './new-ids.js';
import { resolverOf, targetsOf, type Way, withTargets } from './ways.js';

/** A component to add. */
export interface Addition {
  /** Its type, as `GET /components` names it. */
  readonly type: string;
  /** @default one that is free, such as `LLM:1` */
  readonly id?: string;
  /** Display name. @default one that is free, such as `LLM_0`; in version 2 the type */
  readonly name?: string;
  /** @default none */
  readonly params?: JsonObject;
  /** The container in whose body it is to lie. @default none */
  readonly parent?: string;
  /** @default beside the others */
  readonly place?: Place;
  /** Type of the node that its body begins with, as `GET /components` names it; null: none. @default what the built-in type has */
  readonly bodyStart?: string | null;
  /** What is to lead to it, and, where `to` is given, what it is put in front of. */
  readonly behind?: Omit<Connection, 'to'> & { readonly to?: string };
}

/** Where the start of a new body stands. */
const START: Place = { x: 40, y: 90 };

const NEXT: Way = { kind: 'next' };

/** Adds a component; a container comes with the start of its body. The ids of the edit begin with its own. */
export function addComponent(document: Document, addition: Addition): Edit {
  const { type, parent, place, behind } = addition;
  const problem = problemOf(document, addition);
  if (problem !== undefined) return problem;
  const ids = new NewIds(document);
  const wanted = addition.id ?? entryId(document, type);
  if (wanted !== undefined && !ids.take(wanted))
    return refuse('id-taken', `There is a component ${JSON.stringify(wanted)} already, or one spelled like it.`);
  const id = wanted ?? ids.next(type);
  const added = create(document, { id, type, name: addition.name, params: paramsOf(addition, ids), parent });
  const start = addition.bodyStart === undefined ? bodyStartOf(type) : (addition.bodyStart ?? undefined);
  const first = start && create(document, { id: ids.next(start), type: start, name: start, parent: id });
  let next: Document = { ...document, components: replaced(document, added) };
  if (first) next = { ...next, components: replaced(next, first) };
  if (behind !== undefined) {
    const spliced = splice(next, id, behind);
    if ('refused' in spliced) return spliced;
    next = spliced;
  }
  const places = { ...(place && { [id]: place }), ...(first && { [first.id]: START }) };
  return { document: withComponents(document, next.components, places), ids: first ? [id, first.id] : [id] };
}

function paramsOf({ type, params = {} }: Addition, ids: NewIds): JsonObject {
  return typeKey(type) === 'agent' ? withOwnSubAgents(params, ids) : params;
}

function problemOf(
  document: Document,
  { type, id, name, parent }: Addition,
): Extract<Edit, { refused: object }> | undefined {
  if (type.trim() === '' || type.length > MAX_NAME) return refuse('type-invalid', 'A component needs a type.');
  const wrong = id === undefined ? undefined : problemOfId(document, id);
  if (wrong !== undefined) return refuse('id-invalid', wrong);
  if (name !== undefined && (name === '' || name.length > MAX_NAME))
    return refuse('name-invalid', `A name has 1 to ${MAX_NAME} characters.`);
  if (isEntryType(type) && startsOf(document).length > 0)
    return refuse(
      'second-entry',
      `There is a start already, ${JSON.stringify(startsOf(document)[0])}; a document has one.`,
    );
  if (parent === undefined) return undefined;
  const container = document.components[parent];
  if (container === undefined) return refuseUnknown(parent);
  if (isEntryType(type)) return refuse('second-entry', `A ${type} cannot lie in a body.`);
  if (!isContainer(document, container)) return refuse('not-a-container', `"${container.name}" has no body.`);
  return undefined;
}

/** Runs start at a component with this id. */
function entryId({ version }: Document, type: string): string | undefined {
  if (typeKey(type) === 'begin') return version === 1 ? 'begin' : 'begin_';
  return undefined;
}

/** What a new component is made of. */
interface Draft {
  readonly id: string;
  readonly type: string;
  readonly name?: string | undefined;
  readonly params?: JsonObject | undefined;
  readonly parent?: string | undefined;
}

function create(document: Document, { id, type, name, params = {}, parent }: Draft): DocumentComponent {
  // Without a layout there is no place for another name.
  const hasNames = document.version === 1 || document.graph !== undefined;
  const shown = hasNames ? (name ?? freeName(document, type)) : type;
  return { id, type, name: shown, params, downstream: [], ...(parent === undefined ? {} : { parent }) };
}

/** Puts a component behind another one, and in front of what that led to. */
function splice(
  document: Document,
  id: string,
  { from, way = NEXT, to }: NonNullable<Addition['behind']>,
): Document | Extract<Edit, { refused: object }> {
  const resolve = resolverOf(document);
  const source = document.components[from];
  if (source === undefined) return refuseUnknown(from);
  const refused = whyNotConnected(document, { from, to: id, way });
  if (refused !== undefined) return { refused };
  const targets = targetsOf(source, way, resolve);
  if (to !== undefined && !targets.includes(to))
    return refuse('not-connected', `"${source.name}" does not lead to "${to}" this way.`);
  const left = to === undefined ? [...targets, id] : targets.map((one) => (one === to ? id : one));
  const before = { ...document, components: replaced(document, withTargets(source, way, left, resolve)) };
  const added = before.components[id];
  if (to === undefined || added === undefined) return before;
  return { ...before, components: replaced(before, withTargets(added, NEXT, [to], resolve)) };
}
