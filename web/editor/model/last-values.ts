/** Values of a run's end, by the references that say them. */
import { canonicalId } from '../../../src/dsl/component-id.js';
import { ownValue } from '../../../src/dsl/json-copy.js';
import { parseReference } from '../../../src/dsl/reference.js';
import type { Json, JsonObject } from '../../../src/json.js';

/** What a run came to. */
export interface LastValues {
  /** By id of the component. */
  readonly outputs: Readonly<Record<string, JsonObject>>;
  readonly variables: JsonObject;
}

/** The value that a reference had; undefined when it had none. */
export function valueAt({ outputs, variables }: LastValues, key: string): Json | undefined {
  const reference = parseReference(key);
  if (reference === undefined || reference.kind === 'alias') return undefined;
  if (reference.kind === 'variable') return ownValue(variables, reference.key);
  const form = canonicalId(reference.component);
  const own = Object.entries(outputs).find(([id]) => canonicalId(id) === form)?.[1];
  let value: Json | undefined = ownValue(own, reference.name);
  for (const step of reference.path) value = ownValue(value, step);
  return value;
}
