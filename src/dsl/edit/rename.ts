/** New names and new ids for components. */
import { canonicalId } from '../component-id.js';
import type { Document } from '../document.js';
import { entriesOf } from '../introspect.js';
import { replaced } from './connect.js';
import { type Edit, refuse, refuseUnknown } from './edit.js';
import { withComponents } from './follow-layout.js';
import { MAX_NAME, NewIds, problemOfId } from './new-ids.js';
import { rewriteIds } from './rewrite-ids.js';
import { resolverOf } from './ways.js';

/** Gives a component another display name, which lies in the layout; references do not know it. */
export function renameComponent(document: Document, id: string, name: string): Edit {
  const component = document.components[id];
  if (component === undefined) return refuseUnknown(id);
  if (document.version === 2 && document.graph === undefined)
    return refuse('no-names', 'Version 2 of the DSL has no display names; give the component another id.');
  if (name.trim() === '' || name.length > MAX_NAME)
    return refuse(
      'name-invalid',
      `A name has 1 to ${MAX_NAME} characters; this one has ${name.trim() === '' ? 0 : name.length}.`,
    );
  return { document: withComponents(document, replaced(document, { ...component, name })), ids: [id] };
}

/** Gives a component another id, also in every reference, way and body, and in the layout. */
export function changeId(document: Document, id: string, next: string): Edit {
  const component = document.components[id];
  if (component === undefined) return refuseUnknown(id);
  if (entriesOf(document).includes(id)) return refuse('entry-needed', `Runs start at the id ${JSON.stringify(id)}.`);
  const problem = problemOfId(document, next);
  if (problem !== undefined) return refuse('id-invalid', problem);
  const isOwn = canonicalId(next) === canonicalId(id);
  if (!isOwn && !new NewIds(document).take(next))
    return refuse('id-taken', `There is a component ${JSON.stringify(next)} already, or one spelled like it.`);
  return { document: rewriteIds(document, new Map([[id, next]]), resolverOf(document)), ids: [next] };
}
