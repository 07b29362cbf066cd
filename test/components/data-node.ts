import { isObservable, type Observable } from 'rxjs';
import { nodeOf } from '../../marble-tests/components/data-run.js';
import type { Component } from '../../src/components/component.js';
import type { Lookup, ValueSource } from '../../src/dsl/resolve.js';
import type { Activation } from '../../src/graph/node.js';
import type { NodeEvent, Settled } from '../../src/graph/node-events.js';
import type { Json, JsonObject } from '../../src/json.js';

/** The values a data node is tested with; a node without outputs has not run yet. */
export interface Values {
  readonly outputs?: Readonly<Record<string, JsonObject | null>>;
  readonly variables?: JsonObject;
  readonly item?: Json;
}

/** What a synchronous node gave: its settlement, and its warnings in order. */
export interface Result extends Settled {
  readonly warnings: readonly string[];
}

/** Runs a node of a component once over frozen values; nothing but its id and its source may be looked at. */
export function runNode<P>(component: Component<P>, params: Json, values: Values = {}): Result {
  const activation = { node: 'x', source: sourceOf(deepFreeze(values)) } as unknown as Activation;
  const result = nodeOf(component, params)(activation);
  const events = isObservable(result) ? collectNow(result) : [result as Settled];
  const last = events.at(-1);
  if (last?.type !== 'settled') throw new Error(`the node did not settle at once: ${JSON.stringify(events)}`);
  const warnings = events.flatMap((event) => (event.type === 'notice' ? [String(event.data.message)] : []));
  return { ...last, warnings };
}

function sourceOf({ outputs = {}, variables = {}, item }: Values): ValueSource {
  return {
    output(component, name) {
      const given = own(outputs, component);
      if (given === undefined) return { status: 'unresolved' };
      if (given === null) return { status: 'unset' };
      return found(own(given, name), 'undeclared');
    },
    variable: (key) => found(own(variables, key), 'unresolved'),
    alias: (name) => found(name === 'item' ? item : undefined, 'unresolved'),
  };
}

function found(value: Json | undefined, otherwise: 'undeclared' | 'unresolved'): Lookup {
  return value === undefined ? { status: otherwise } : { status: 'found', value };
}

function own<T>(object: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function collectNow(events$: Observable<NodeEvent>): NodeEvent[] {
  const events: NodeEvent[] = [];
  events$.subscribe((event) => events.push(event));
  return events;
}

/** Makes every mutation of an input throw. */
function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
