/** Deleting components, with their bodies. */
import type { Document } from '../document.js';
import { type Edit, isBodyStart, mapComponents, refuse, refuseUnknown, startsOf, withBodies } from './edit.js';
import { withComponents } from './follow-layout.js';
import { filterTargets, resolverOf } from './ways.js';

/** Deletes components and everything in their bodies, and every way to them. References to them stay, as their authors wrote them. */
export function removeComponents(document: Document, ids: readonly string[]): Edit {
  if (ids.length === 0) return refuse('nothing', 'Nothing is chosen.');
  const unknown = ids.find((id) => document.components[id] === undefined);
  if (unknown !== undefined) return refuseUnknown(unknown);
  const gone = new Set(withBodies(document, ids));
  const entries = startsOf(document);
  if (entries.length > 0 && entries.every((id) => gone.has(id)))
    return refuse('entry-needed', 'A canvas needs its Begin, a pipeline its File: that is where they start.');
  for (const id of gone) {
    const component = document.components[id];
    if (component !== undefined && isBodyStart(component) && !gone.has(component.parent as string))
      return refuse(
        'entry-needed',
        `"${component.name}" is where the rounds of its container start; delete the container.`,
      );
  }
  const resolve = resolverOf(document);
  const components = mapComponents(document.components, (component) => {
    if (gone.has(component.id)) return undefined;
    const isTouched = component.downstream.some((id) => gone.has(id)) || namesAny(component.params, gone, resolve);
    return isTouched ? filterTargets(component, (id) => !gone.has(id), resolve) : component;
  });
  const next = withComponents(document, components);
  return { document: { ...next, path: next.path.filter((id) => !gone.has(id)) }, ids: [] };
}

function namesAny(params: unknown, ids: ReadonlySet<string>, resolve: (id: string) => string | undefined): boolean {
  if (typeof params === 'string') return params.length <= 255 && ids.has(resolve(params) ?? '');
  if (typeof params !== 'object' || params === null) return false;
  return Object.values(params).some((value) => namesAny(value, ids, resolve));
}
