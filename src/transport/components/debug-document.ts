/** A document in which one component runs alone, with given values in place of everything it reads. */
import { z } from 'zod';
import { createComponentMap, type Document, type DocumentComponent } from '../../dsl/document.js';
import { createRegistry, defineComponent, type Registry } from '../../graph/component.js';
import { settled } from '../../graph/node-events.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { FoundComponent } from './input-form.js';

/** Types that no document of a user can name, for no name of a class has a blank. */
const GIVEN = 'Given values';
const ABSENT = 'Absent component';

/** Starts the component when it reads nothing. */
const START_ID = 'start of a trial';

const given = defineComponent({
  type: GIVEN,
  summary: 'Has the outputs that it was given.',
  params: z.looseObject({ outputs: z.custom<JsonObject>(isJsonObject) }),
  outputs: {},
  isEntry: true,
  create:
    ({ outputs }) =>
    () =>
      settled(outputs),
});

const absent = defineComponent({
  type: ABSENT,
  summary: 'Stands where another component would.',
  params: z.looseObject({}),
  outputs: {},
  create: () => () => settled({}),
});

/** The types of a document, and those that {@link trialDocument} puts into it. */
export function trialRegistry(registry: Registry): Registry {
  return createRegistry([...new Set(registry.values()), given, absent]);
}

/**
 * The document with everything but one component and its body replaced: by the outputs in `values`, by component, or by nothing.
 * All ids are still there, so that the component may choose its successors as ever.
 */
export function trialDocument(
  document: Document,
  { source, type, family }: FoundComponent,
  values: ReadonlyMap<string, JsonObject>,
): Document {
  const kept = new Set(family.map(({ id }) => id));
  const components = createComponentMap();
  for (const component of Object.values(document.components)) {
    const outputs = values.get(component.id);
    if (kept.has(component.id)) components[component.id] = component;
    else
      components[component.id] = outputs === undefined ? absentFrom(component) : givenIn(component, outputs, source.id);
  }
  const { parent: _, ...root } = source;
  components[source.id] = root;
  if (values.size === 0 && type.isEntry !== true) {
    components[START_ID] = givenIn({ id: START_ID, name: START_ID }, {}, source.id);
  }
  return { ...document, components, path: [], history: [] };
}

function givenIn(
  { id, name }: Pick<DocumentComponent, 'id' | 'name'>,
  outputs: JsonObject,
  target: string,
): DocumentComponent {
  return { id, name, type: GIVEN, params: { outputs }, downstream: [target] };
}

function absentFrom({ id, name }: DocumentComponent): DocumentComponent {
  return { id, name, type: ABSENT, params: {}, downstream: [] };
}

/** Outputs by component from values by reference: `a@b.c` = 1 is `{ b: { c: 1 } }` of `a`. */
export function outputsOf(
  values: Iterable<readonly [component: string, path: readonly string[], value: Json]>,
): ReadonlyMap<string, JsonObject> {
  const outputs = new Map<string, JsonObject>();
  for (const [component, path, value] of values) {
    outputs.set(component, withValue(outputs.get(component) ?? {}, path, value));
  }
  return outputs;
}

function withValue(target: Json | undefined, [name, ...rest]: readonly string[], value: Json): JsonObject {
  const before = isJsonObject(target) ? Object.entries(target) : [];
  if (name === undefined) return Object.fromEntries(before);
  const own = before.find(([key]) => key === name)?.[1];
  // Through entries: no name can reach a prototype.
  return Object.fromEntries([...before, [name, rest.length === 0 ? value : withValue(own, rest, value)]]);
}
