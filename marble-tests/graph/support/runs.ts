/** Runs as marbles: one letter a node, one line a kind of event. */
import { filter, map, type Observable, shareReplay } from 'rxjs';
import type { RunEvent } from '../../../src/graph/events.js';
import { link } from '../../../src/graph/link.js';
import type { NodeFunction } from '../../../src/graph/node.js';
import type { Plan } from '../../../src/graph/plan.js';
import { run } from '../../../src/graph/run.js';
import type { RunOptions } from '../../../src/graph/run-options.js';
import { type SpecParts, spec } from '../../../test/graph/support/specs.js';

/** A plan of nodes by id; what is not said does not matter. */
export function planOfSpecs(nodes: Readonly<Record<string, SpecParts | NodeFunction>>): Plan {
  return link(
    Object.entries(nodes).map(([id, given]) =>
      spec(id, { activate: () => ({}), ...(typeof given === 'function' ? { activate: given } : given) }),
    ),
  );
}

/** One run that several expectations look at. */
export function watched(plan: Plan, options: RunOptions = {}): Observable<RunEvent> {
  return run(plan, { input: null }, { now: () => 0, ...options }).pipe(
    shareReplay({ refCount: true, bufferSize: Number.POSITIVE_INFINITY }),
  );
}

/** The ids of the nodes that an event of this type is about. */
export const nodesAt =
  (type: RunEvent['type']) =>
  (events$: Observable<RunEvent>): Observable<string> =>
    events$.pipe(
      filter((event) => event.type === type && 'node' in event),
      map((event) => (event as { readonly node: string }).node),
    );

/** The types of the events that end a run, with the code of their error. */
export const endsAt = (events$: Observable<RunEvent>): Observable<string> =>
  events$.pipe(
    filter(({ type }) => type.startsWith('run-') && type !== 'run-started'),
    map((event) => (event.type === 'run-failed' ? event.error.code : event.type)),
  );

/** The pieces of text that one node says. */
export const textOf =
  (node: string) =>
  (events$: Observable<RunEvent>): Observable<string> =>
    events$.pipe(
      filter((event) => event.type === 'node-delta' && event.node === node),
      map((event) => (event as { readonly text: string }).text),
    );
