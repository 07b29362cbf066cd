import { EMPTY, filter, isObservable, type MonoTypeOperatorFunction, type Observable, of } from 'rxjs';
import type { Component, Placement } from '../../src/components/component.js';
import { parseReference } from '../../src/dsl/reference.js';
import { renderValue } from '../../src/dsl/render-value.js';
import { type Lookup, readReference, type ValueSource } from '../../src/dsl/resolve.js';
import type { Activation, NodeFunction } from '../../src/graph/node.js';
import { type Delta, delta, type NodeEvent, type Settled } from '../../src/graph/node-events.js';
import type { Json, JsonObject } from '../../src/json.js';
import type { ChatDelta, ChatModel, ChatRequest } from '../../src/models/chat-model.js';
import type { ScriptInput } from '../../src/models/scripted.js';
import { createScriptedModel } from '../../src/models/scripted.js';

/** What a text node sees; a node without outputs (null) has not run, one that is not listed does not exist. */
export interface Surroundings {
  readonly outputs?: Readonly<Record<string, JsonObject | null>>;
  readonly variables?: JsonObject;
  /** Texts that come live, by `node@output`. */
  readonly live?: Readonly<Record<string, Observable<Delta>>>;
  readonly services?: object;
  readonly random?: number;
}

/** An activation of the node `x` over fixed surroundings. */
export function activationOf({
  outputs = {},
  variables = {},
  live = {},
  services,
  random = 0,
}: Surroundings): Activation {
  const source: ValueSource = {
    output(component, name) {
      const given = Object.hasOwn(outputs, component) ? outputs[component] : undefined;
      if (given === undefined) return { status: 'unresolved' };
      return given === null ? { status: 'unset' } : found(given, name, 'undeclared');
    },
    variable: (key) => found(variables, key, 'unresolved'),
    alias: () => ({ status: 'unresolved' }),
  };
  const lookup = (text: string): Lookup => {
    const reference = parseReference(text);
    return reference === undefined ? { status: 'unresolved' } : readReference(reference, source);
  };
  return {
    node: 'x',
    ready: () => undefined,
    stored: () => undefined,
    name: 'X',
    token: 'run/1',
    attempt: 1,
    run: 'run',
    input: {},
    answer: undefined,
    nodeState: undefined,
    outputs: {},
    closing: false,
    source,
    services,
    state$: EMPTY,
    signal: new AbortController().signal,
    lookup,
    stream(text) {
      const coming = live[text];
      if (coming !== undefined) return coming;
      const settled = lookup(text);
      const whole = settled.status === 'found' ? renderValue(settled.value) : '';
      return whole === '' ? EMPTY : of(delta('content', whole));
    },
    runBody: () => EMPTY,
    nameOf: (node) => node,
    random: () => random,
    now: () => 0,
  };
}

/** A node of a component, from parameters as they stand in a document. */
export function nodeOf<P>(component: Component<P>, params: Json, place: Partial<Placement> = {}): NodeFunction {
  const placement = {
    id: 'x',
    name: 'X',
    downstream: [],
    upstream: [],
    containers: [],
    containerTypes: [],
    body: [],
    isStreamed: false,
    ...place,
  };
  return component.create(component.params.parse(params), placement);
}

/** What a node says, without what it tells about its calls. */
export function withoutCalls(): MonoTypeOperatorFunction<NodeEvent> {
  return filter((event) => event.type !== 'call');
}

/** What a node that works at once says, in order, without what it tells about its calls. */
export function eventsOf(result: ReturnType<NodeFunction>): NodeEvent[] {
  if (!isObservable(result)) return [result as Settled];
  const events: NodeEvent[] = [];
  let failure: { readonly error: unknown } | undefined;
  (result as Observable<NodeEvent>).pipe(withoutCalls()).subscribe({
    next: (event) => events.push(event as NodeEvent),
    error: (error: unknown) => {
      failure = { error };
    },
  });
  if (failure !== undefined) throw failure.error;
  return events;
}

/** Runs a node once and at once. */
export function runAtOnce<P>(component: Component<P>, params: Json, around: Surroundings = {}): NodeEvent[] {
  return eventsOf(nodeOf(component, params)(activationOf(around)));
}

/** The outputs that the last event settles with. */
export function outputsOf(events: readonly NodeEvent[]): JsonObject {
  const last = events.at(-1);
  if (last?.type !== 'settled') throw new Error(`not settled: ${JSON.stringify(events)}`);
  return last.outputs;
}

/** The messages of the warnings among events. */
export function warningsOf(events: readonly NodeEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === 'notice' && event.name === 'warning' ? [String(event.data.message)] : [],
  );
}

/** Services with one chat model, and the requests that it got. */
export function chatServices(
  model: ChatModel | ScriptInput,
  options: { readonly supportsImages?: boolean; readonly contextLength?: number } = {},
): { readonly services: object; readonly requests: ChatRequest[] } {
  const requests: ChatRequest[] = [];
  const asked = 'chat' in model ? model : createScriptedModel(model);
  const recording: ChatModel = {
    chat(request): Observable<ChatDelta> {
      requests.push(request);
      return asked.chat(request);
    },
  };
  const choice = { supportsImages: false, contextLength: undefined, ...options, model: recording };
  return { services: { models: { chat: (name: string) => ({ ...choice, name }) } }, requests };
}

function found(values: JsonObject, name: string, otherwise: 'undeclared' | 'unresolved'): Lookup {
  return Object.hasOwn(values, name) ? { status: 'found', value: values[name] ?? null } : { status: otherwise };
}
