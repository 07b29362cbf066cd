import { defer, EMPTY, from, isObservable, map, type Observable, of, tap, throwError } from 'rxjs';
import type { Component, Placement } from '../../src/components/component.js';
import { parseReference } from '../../src/dsl/reference.js';
import { renderValue } from '../../src/dsl/render-value.js';
import { type Lookup, readReference, type ValueSource } from '../../src/dsl/resolve.js';
import { toOutcome } from '../../src/graph/activation.js';
import type { Activation, BodyEnd, NodeFunction } from '../../src/graph/node.js';
import type { BodyRound } from '../../src/graph/node-events.js';
import { type Delta, delta, type NodeEvent, type Outputs } from '../../src/graph/node-events.js';
import { appended } from '../../src/graph/transition.js';
import type { Json, JsonObject } from '../../src/json.js';

/** What a fake activation sees; everything is optional. */
export interface FakeOptions {
  /** Id of the node. @default 'node' */
  readonly node?: string;
  readonly input?: Json;
  readonly answer?: Json;
  readonly nodeState?: Json;
  readonly closing?: boolean;
  readonly attempt?: number;
  readonly services?: unknown;
  /** Outputs by node: the nodes that exist, beside the node itself; null for one that has not run. */
  readonly outputs?: Readonly<Record<string, Outputs | null>>;
  readonly variables?: JsonObject;
  readonly aliases?: JsonObject;
  /** Display names by id. */
  readonly names?: Readonly<Record<string, string>>;
  /** Live texts by reference; others give their value as one piece, or nothing. */
  readonly texts?: Readonly<Record<string, Observable<Delta>>>;
  /** One pass through the body: how it ends, now or later. */
  readonly body?: (round: BodyRound, fake: FakeActivation) => BodyEnd['status'] | Observable<BodyEnd['status']>;
  /** What `random()` gives. @default 0 */
  readonly random?: number;
}

/** An activation written by hand, with what happened to it. */
export interface FakeActivation extends Activation {
  /** Passes through the body so far, in the order in which they were opened. */
  readonly rounds: readonly BodyRound[];
  /** Sets outputs of a node, as settling would. */
  write(node: string, outputs: Outputs): void;
}

/** Makes an activation outside of a run; `perform` gives it to a node. */
export function fakeActivation(options: FakeOptions = {}): FakeActivation {
  const { node = 'node', names = {}, aliases = {} } = options;
  const outputs = new Map<string, Outputs | null>([[node, null], ...Object.entries(options.outputs ?? {})]);
  const rounds: BodyRound[] = [];
  const source = sourceOf(outputs, options.variables ?? {}, aliases);
  const lookup = (reference: string): Lookup => {
    const parsed = parseReference(reference);
    return parsed === undefined ? { status: 'unresolved' } : readReference(parsed, source);
  };
  const fake: FakeActivation = {
    node,
    ready: () => undefined,
    stored: () => undefined,
    name: names[node] ?? node,
    token: 'run/1',
    attempt: options.attempt ?? 1,
    run: 'run',
    input: options.input ?? null,
    answer: options.answer,
    nodeState: options.nodeState,
    get outputs() {
      return outputs.get(node) ?? {};
    },
    closing: options.closing ?? false,
    services: options.services,
    state$: EMPTY,
    source,
    signal: new AbortController().signal,
    lookup,
    stream: (reference) => options.texts?.[reference] ?? pieceOf(lookup(reference)),
    runBody: (round) =>
      defer(() => {
        rounds.push(round);
        const end = options.body?.(round, fake) ?? 'done';
        const inside = sourceOf(outputs, options.variables ?? {}, { ...aliases, ...round.aliases });
        return (isObservable(end) ? end : of(end)).pipe(map((status) => ({ status, source: inside })));
      }),
    nameOf: (id) => names[id] ?? id,
    random: () => options.random ?? 0,
    now: () => 0,
    rounds,
    write: (id, values) => outputs.set(id, values),
  };
  return fake;
}

/** Makes a node from parameters as a document writes them. @throws ZodError for parameters that are refused. */
export function createNode<P>(
  component: Component<P>,
  params: JsonObject,
  placement: Partial<Placement> = {},
): NodeFunction {
  const {
    id = 'node',
    name = id,
    downstream = [],
    upstream = [],
    containers = [],
    containerTypes = [],
    body = [],
    isStreamed = false,
  } = placement;
  return component.create(component.params.parse(params), {
    id,
    name,
    downstream,
    upstream,
    containers,
    containerTypes,
    body,
    isStreamed,
  });
}

/** Everything a node says in an activation. What it publishes is readable at once, as in a run. No promises: see `marbles`. */
export function perform(node: NodeFunction, activation: FakeActivation): Observable<NodeEvent> {
  let events$: Observable<NodeEvent>;
  try {
    const result = node(activation);
    if (result instanceof Promise) events$ = from(result).pipe(map(toOutcome));
    else events$ = isObservable(result) ? result : of(toOutcome(result));
  } catch (error) {
    return throwError(() => error);
  }
  const lists = new Map<string, Json[]>();
  return events$.pipe(
    tap((event) => {
      if (event.type === 'progress' && event.append !== undefined) {
        const before = event.outputs ?? activation.outputs;
        activation.write(activation.node, appended(before, event.append, lists));
      } else if ('outputs' in event && event.outputs !== undefined) activation.write(activation.node, event.outputs);
    }),
  );
}

/** Everything a node says that works synchronously. @throws what the node fails with; Error when it is not done at once. */
export function performNow(node: NodeFunction, activation: FakeActivation): readonly NodeEvent[] {
  const events: NodeEvent[] = [];
  let failure: { readonly error: unknown } | undefined;
  let isDone = false;
  const subscription = perform(node, activation).subscribe({
    next: (event) => events.push(event),
    error: (error: unknown) => {
      failure = { error };
    },
    complete: () => {
      isDone = true;
    },
  });
  subscription.unsubscribe();
  if (failure !== undefined) throw failure.error;
  if (!isDone) throw new Error(`The node is not done at once; it said ${JSON.stringify(events)}.`);
  return events;
}

function sourceOf(
  outputs: ReadonlyMap<string, Outputs | null>,
  variables: JsonObject,
  aliases: JsonObject,
): ValueSource {
  return {
    output: (node, name) => {
      const values = outputs.get(node);
      if (values === undefined) return { status: 'unresolved' };
      if (values === null) return { status: 'unset' };
      return Object.hasOwn(values, name) ? { status: 'found', value: values[name] ?? null } : { status: 'undeclared' };
    },
    variable: (key) => ownLookup(variables, key),
    alias: (name) => ownLookup(aliases, name),
  };
}

function ownLookup(values: JsonObject, key: string): Lookup {
  return Object.hasOwn(values, key) ? { status: 'found', value: values[key] ?? null } : { status: 'unresolved' };
}

function pieceOf(lookup: Lookup): Observable<Delta> {
  if (lookup.status !== 'found' || lookup.value === null) return EMPTY;
  return of(delta('content', renderValue(lookup.value)));
}
