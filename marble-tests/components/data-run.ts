import { concatMap, EMPTY, type Observable, of } from 'rxjs';
import type { Component } from '../../src/components/component.js';
import type { RunEvent } from '../../src/graph/events.js';
import type { NodeFunction } from '../../src/graph/node.js';
import type { Plan, Variables } from '../../src/graph/plan.js';
import { run } from '../../src/graph/run.js';
import type { Json } from '../../src/json.js';

/** What one node said: its id with its outputs, with `warning`, or with the code of its error. */
export type Said = Readonly<Record<string, Json>>;

/** A node of a component, from parameters as they stand in a document. */
export function nodeOf<P>(component: Component<P>, params: Json): NodeFunction {
  const placement = {
    id: 'x',
    name: 'X',
    downstream: [],
    upstream: [],
    containers: [],
    containerTypes: [],
    body: [],
    isStreamed: false,
  };
  return component.create(component.params.parse(params), placement);
}

/** Runs a plan and gives what the named nodes said, as it happened. */
export function said(plan: Plan, nodes: readonly string[], variables: Variables = {}): Observable<Said> {
  return run(plan, { input: null, variables }).pipe(
    concatMap((event) => ('node' in event && nodes.includes(event.node) ? sayingOf(event) : EMPTY)),
  );
}

function sayingOf(event: RunEvent): Observable<Said> {
  switch (event.type) {
    case 'node-settled':
      return of({ [event.node]: event.outputs });
    case 'node-notice':
      return of({ [event.node]: event.name });
    case 'node-failed':
      return of({ [event.node]: event.error.code });
    default:
      return EMPTY;
  }
}
