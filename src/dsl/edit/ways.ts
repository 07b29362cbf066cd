/** The ways out of a component: plain edges, and those that parameters name. */
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { indexIds } from '../component-id.js';
import type { Document, DocumentComponent } from '../document.js';
import { ownList, ownObject, ownText, ownValue } from '../json-copy.js';
import { typeKey } from './edit.js';

/** A way out: to what comes next, by a case of a Switch or none of them, by a category of a Categorize, after an error. */
export type Way =
  | { readonly kind: 'next' }
  | { readonly kind: 'case'; readonly index: number }
  | { readonly kind: 'else' }
  | { readonly kind: 'category'; readonly name: string }
  | { readonly kind: 'error' };

/** Finds the spelling of an id that a document has. */
export type Resolve = (id: string) => string | undefined;

const NEXT: Way = { kind: 'next' };

/** Looks up ids of a document in any spelling. */
export function resolverOf({ components }: Pick<Document, 'components'>): Resolve {
  return indexIds(Object.keys(components)).resolve;
}

/** The ways out that a component has now; `next` also where it chooses, because files may have such edges. */
export function waysOf(component: DocumentComponent): readonly Way[] {
  return [NEXT, ...choicesOf(component), { kind: 'error' }];
}

/** Whether two ways are the same. */
export function isSameWay(one: Way, other: Way): boolean {
  if (one.kind === 'case' && other.kind === 'case') return one.index === other.index;
  if (one.kind === 'category' && other.kind === 'category') return one.name === other.name;
  return one.kind === other.kind;
}

/** Where a way leads, each component once; what does not exist is left out. */
export function targetsOf(component: DocumentComponent, way: Way, resolve: Resolve): readonly string[] {
  if (way.kind === 'next') {
    const chosen = new Set(choicesOf(component).flatMap((choice) => targetsOf(component, choice, resolve)));
    return component.downstream.filter((id) => !chosen.has(id));
  }
  const written = writtenTargets(component.params, way);
  return [...new Set(written.flatMap((id) => resolve(id) ?? []))];
}

/** Every component that some way leads to. */
export function allTargetsOf(component: DocumentComponent, resolve: Resolve): ReadonlySet<string> {
  return new Set(waysOf(component).flatMap((way) => targetsOf(component, way, resolve)));
}

/** The component with a way that leads elsewhere. Successors are those that a choice or an edge leads to, so they follow. */
export function withTargets(
  component: DocumentComponent,
  way: Way,
  targets: readonly string[],
  resolve: Resolve,
): DocumentComponent {
  const plain = way.kind === 'next' ? targets : targetsOf(component, NEXT, resolve);
  const params = way.kind === 'next' ? component.params : writeTargets(component.params, way, targets);
  return withSuccessors({ ...component, params }, plain, resolve);
}

/** The component with other parameters, whose choices may lead elsewhere. */
export function withParams(component: DocumentComponent, params: JsonObject, resolve: Resolve): DocumentComponent {
  return withSuccessors({ ...component, params }, targetsOf(component, NEXT, resolve), resolve);
}

/** Every way of the component, with targets that `keep` leaves. */
export function filterTargets(
  component: DocumentComponent,
  keep: (id: string) => boolean,
  resolve: Resolve,
): DocumentComponent {
  return mapTargets(component, (id) => (keep(id) ? id : undefined), resolve);
}

/** Every way of the component, with other targets; undefined leaves one out. What is not changed stays as it is written. */
export function mapTargets(
  component: DocumentComponent,
  change: (id: string) => string | undefined,
  resolve: Resolve,
): DocumentComponent {
  let result = component;
  for (const way of waysOf(component)) {
    const before = targetsOf(component, way, resolve);
    const after = [...new Set(before.flatMap((id) => change(id) ?? []))];
    if (before.length === after.length && before.every((id, index) => id === after[index])) continue;
    result = withTargets(result, way, after, resolve);
  }
  // A choice may have kept a successor that is gone from all of them.
  const downstream = [...new Set(result.downstream.flatMap((id) => change(id) ?? []))];
  return { ...result, downstream };
}

function choicesOf({ type, params }: DocumentComponent): readonly Way[] {
  const key = typeKey(type);
  if (key === 'switch') {
    const cases = ownList(params, 'conditions').map((_, index): Way => ({ kind: 'case', index }));
    return [...cases, { kind: 'else' }];
  }
  if (key !== 'categorize') return [];
  const categories = ownObject(params, 'category_description') ?? {};
  return Object.keys(categories).map((name): Way => ({ kind: 'category', name }));
}

function writtenTargets(params: JsonObject, way: Exclude<Way, { kind: 'next' }>): readonly string[] {
  if (way.kind === 'else') return idsIn(params, 'end_cpn_ids');
  if (way.kind === 'error') return idsIn(params, 'exception_goto');
  if (way.kind === 'case') return idsIn(ownList(params, 'conditions')[way.index], 'to');
  return idsIn(ownObject(ownObject(params, 'category_description'), way.name), 'to');
}

/** A list of ids, or one alone as old documents write it. */
function idsIn(source: unknown, key: string): readonly string[] {
  const one = ownText(source, key);
  if (one !== undefined) return [one];
  return ownList(source, key).filter((id): id is string => typeof id === 'string' && id !== '');
}

function writeTargets(params: JsonObject, way: Exclude<Way, { kind: 'next' }>, ids: readonly string[]): JsonObject {
  const to = [...ids];
  if (way.kind === 'else') return { ...params, end_cpn_ids: to };
  if (way.kind === 'error') {
    // Without a method the exits have no effect.
    const method = ownText(params, 'exception_method') ?? (to.length > 0 ? 'goto' : undefined);
    return { ...params, exception_goto: to, ...(method === undefined ? {} : { exception_method: method }) };
  }
  if (way.kind === 'case') {
    const conditions = ownList(params, 'conditions').map((one, index): Json => {
      return index === way.index && isJsonObject(one) ? { ...one, to } : one;
    });
    return { ...params, conditions };
  }
  const categories = ownObject(params, 'category_description') ?? {};
  const category = ownValue(categories, way.name);
  const changed: JsonObject = { ...(isJsonObject(category) ? category : {}), to };
  return { ...params, category_description: { ...categories, [way.name]: changed } };
}

/** Successors stay in their order; those that are new come last. */
function withSuccessors(component: DocumentComponent, plain: readonly string[], resolve: Resolve): DocumentComponent {
  const chosen = choicesOf(component).flatMap((choice) => targetsOf(component, choice, resolve));
  const wanted = new Set([...plain, ...chosen]);
  const kept = component.downstream.filter((id) => wanted.has(id));
  return { ...component, downstream: [...new Set([...kept, ...wanted])] };
}
