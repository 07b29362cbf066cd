/** Values that a user changes before a run goes on: as text for texts, as JSON for everything else. */
import type { Json, JsonObject } from '../../src/json.js';

/** A value that can be changed. */
export interface Editable {
  /** Unique among all: `variable sys.query`, `output LLM:Answer@content`. */
  readonly key: string;
  readonly kind: 'variable' | 'output';
  /** Id of the component; empty for a variable. */
  readonly component: string;
  readonly name: string;
  readonly value: Json;
}

/** Texts of what was changed, by key. */
export type Edits = ReadonlyMap<string, string>;

export function editables(outputs: Readonly<Record<string, JsonObject>>, variables: JsonObject): readonly Editable[] {
  const ofOutputs = Object.entries(outputs).flatMap(([component, values]) =>
    Object.entries(values).map(([name, value]): Editable => {
      return { key: `output ${component}@${name}`, kind: 'output', component, name, value };
    }),
  );
  const ofVariables = Object.entries(variables).map(([name, value]): Editable => {
    return { key: `variable ${name}`, kind: 'variable', component: '', name, value };
  });
  return [...ofOutputs, ...ofVariables];
}

/** How a value is shown in its field. */
export function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** What a text stands for, where the value before was `before`; undefined when it is no JSON. */
function parsedText(text: string, before: Json): Json | undefined {
  if (typeof before === 'string') return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** The changes as the server takes them; `broken` are keys whose text is no JSON. */
export function changesOf(
  all: readonly Editable[],
  edits: Edits,
): { readonly variables?: JsonObject; readonly outputs?: JsonObject; readonly broken: readonly string[] } {
  const variables: [string, Json][] = [];
  const outputs = new Map<string, [string, Json][]>();
  const broken: string[] = [];
  for (const { key, kind, component, name, value } of all) {
    const text = edits.get(key);
    if (text === undefined || text === textOf(value)) continue;
    const next = parsedText(text, value);
    if (next === undefined) broken.push(key);
    else if (kind === 'variable') variables.push([name, next]);
    else outputs.set(component, [...(outputs.get(component) ?? []), [name, next]]);
  }
  return {
    ...(variables.length > 0 && { variables: Object.fromEntries(variables) }),
    ...(outputs.size > 0 && {
      outputs: Object.fromEntries([...outputs].map(([component, values]) => [component, Object.fromEntries(values)])),
    }),
    broken,
  };
}
