/** A trial of one component alone, as editors request it: in a document where given values replace everything that it reads. */

import { concatMap, defer, EMPTY, type Observable, of, take, throwIfEmpty } from 'rxjs';
import { z } from 'zod';
import type { TimeoutResolver } from '../../canvas/compile.js';
import { compile } from '../../canvas/compile.js';
import { conversationHooks } from '../../canvas/conversation.js';
import type { Canvas } from '../../canvas/load-canvas.js';
import { runTurn, type Session, type Turn } from '../../canvas/turn.js';
import { createRegistry, defineComponent, type Registry } from '../../components/component.js';
import { findComponent } from '../../dsl/component-id.js';
import { createComponentMap, type Document, type DocumentComponent } from '../../dsl/document.js';
import { initialVariables } from '../../dsl/globals.js';
import { jsonObject } from '../../dsl/json-object.js';
import { parseReference } from '../../dsl/reference.js';
import { EngineError } from '../../errors.js';
import type { NodeHeader, PendingQuestion, RunEvent } from '../../graph/events.js';
import { settled } from '../../graph/node-events.js';
import { badArgument } from '../../hosting/refusals.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { type FoundComponent, isForm } from './input-form.js';

/** Types that no document of a user can name, for no name of a class has a blank. */
const GIVEN = 'Given values';
const ABSENT = 'Absent component';

/** Starts the component when it reads nothing. */
const START_ID = 'start of a trial';

const given = defineComponent({
  type: GIVEN,
  summary: 'Has the outputs that it was given.',
  params: z.looseObject({ outputs: jsonObject }),
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

export interface TrialOptions {
  readonly registry: Registry;
  readonly timeouts?: TimeoutResolver | undefined;
  /** What the component may use. */
  readonly services: unknown;
  /** Milliseconds after which the trial fails. */
  readonly timeoutMs: number;
}

/**
 * Runs one component alone and emits its outputs. Cold: one subscription is one trial, unsubscribing stops it at once.
 *
 * `values` are by the keys of the component's form, or by any other reference; `sys.*` and `env.*` are set for the trial.
 * Errors: BAD_REQUEST when a value is missing without which the component does not run, and what the component fails with.
 */
export function tryComponent(
  document: Document,
  found: FoundComponent,
  values: ReadonlyMap<string, Json>,
  options: TrialOptions,
): Observable<JsonObject> {
  const { turn, outputs } = sortValues(document, found, values);
  const canvas = trialCanvas(trialDocument(document, found, outputs), options);
  return runTrial(canvas, turn, found.source.id, options);
}

/** Values for variables and fields, and outputs of other components. */
function sortValues(document: Document, { source, type }: FoundComponent, values: ReadonlyMap<string, Json>) {
  const variables: Record<string, Json> = {};
  const inputs: [string, Json][] = [];
  const outputs: [string, readonly string[], Json][] = [];
  for (const [key, value] of values) {
    const reference = isForm(type) ? undefined : referenceOf(key, source.params);
    if (reference?.kind === 'variable') variables[reference.key] = value;
    else if (reference?.kind === 'output') {
      const owner = findComponent(document, reference.component)?.id ?? reference.component;
      outputs.push([owner, [reference.name, ...reference.path], value]);
    } else if (/^(?:sys|env)\./.test(key)) variables[key] = value;
    else inputs.push([key, { value }]);
  }
  const turn: Turn = { inputs: Object.fromEntries(inputs), variables };
  return { turn, outputs: outputsOf(outputs) };
}

/** What a key names; the name of a parameter that is a reference stands for that reference. */
function referenceOf(key: string, params: JsonObject) {
  const parameter = Object.hasOwn(params, key) ? params[key] : undefined;
  return parseReference(key) ?? (typeof parameter === 'string' ? parseReference(parameter) : undefined);
}

function trialCanvas(document: Document, { registry, timeouts }: TrialOptions): Canvas {
  // The types of the document, and those that `trialDocument` puts into it.
  const types = createRegistry([...new Set(registry.values()), given, absent]);
  const plan = compile(document, types, {
    variables: initialVariables(document),
    hooks: conversationHooks,
    ...(timeouts === undefined ? {} : { timeouts }),
  });
  return { document, plan, issues: [] };
}

/** `waiting` is what a first try left that stopped at a form: the second one answers it. */
function runTrial(
  canvas: Canvas,
  turn: Turn,
  id: string,
  options: TrialOptions,
  waiting?: Session,
): Observable<JsonObject> {
  const { services, timeoutMs } = options;
  return defer(() => {
    let left: Session | undefined;
    const events$ = runTurn(canvas, turn, {
      services,
      timeoutMs,
      ...(waiting === undefined ? {} : { session: waiting }),
      onSession: (session) => {
        left = session;
      },
    });
    return events$.pipe(
      concatMap((event) => {
        if (event.type !== 'run-interrupted' || waiting !== undefined || left === undefined) return resultOf(event, id);
        requireFields(event.pending, turn);
        return runTrial(canvas, turn, id, options, left);
      }),
      // What follows the component is no part of the trial.
      take(1),
      throwIfEmpty(() => new EngineError('NODE_FAILED', `Component "${id}" ended without outputs.`)),
    );
  });
}

/** The outputs, when an event has them. @throws EngineError when there will be none. */
function resultOf(event: RunEvent, id: string): Observable<JsonObject> {
  switch (event.type) {
    case 'node-settled':
      return isRoot(event, id) ? of(event.outputs) : EMPTY;
    case 'node-failed':
      return isRoot(event, id) && event.then === 'goto' ? of(event.outputs) : EMPTY;
    case 'node-skipped':
      if (!isRoot(event, id)) return EMPTY;
      throw badArgument(`required argument are missing: ${event.missing.join(',')}; `);
    case 'run-interrupted':
      throw badArgument(`required argument are missing: ${openFields(event.pending).join(',')}; `);
    case 'run-failed':
      throw new EngineError(event.error.code, event.error.message);
    default:
      return EMPTY;
  }
}

function isRoot({ node, within }: NodeHeader, id: string): boolean {
  return node === id && within === undefined;
}

/** A run accepts a form with missing fields; a trial does not. @throws EngineError BAD_REQUEST. */
function requireFields(pending: readonly PendingQuestion[], { inputs }: Turn): void {
  const fields = pending.flatMap(({ payload }) => (isJsonObject(payload.inputs) ? Object.entries(payload.inputs) : []));
  const missing = fields.flatMap(([name, field]) =>
    Object.hasOwn(inputs ?? {}, name) || (isJsonObject(field) && field.optional === true) ? [] : [name],
  );
  if (missing.length > 0) throw badArgument(`required argument are missing: ${missing.join(',')}; `);
}

function openFields(pending: readonly PendingQuestion[]): string[] {
  return pending.flatMap(({ payload: { inputs } }) => (isJsonObject(inputs) ? Object.keys(inputs) : []));
}

/**
 * The document with everything but one component and its body replaced: by the outputs in `values`, by component, or by nothing.
 * All ids are still there, so that the component may choose its successors as ever.
 */
function trialDocument(
  document: Document,
  { source, type, family }: FoundComponent,
  values: ReadonlyMap<string, JsonObject>,
): Document {
  const unchanged = new Set(family.map(({ id }) => id));
  const components = createComponentMap();
  for (const component of Object.values(document.components)) {
    const { id, name } = component;
    const outputs = values.get(id);
    if (unchanged.has(id)) components[id] = component;
    else if (outputs !== undefined) components[id] = givenIn(component, outputs, source.id);
    else components[id] = { id, name, type: ABSENT, params: {}, downstream: [] };
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

/** Outputs by component from values by reference: `a@b.c` = 1 is `{ b: { c: 1 } }` of `a`. */
function outputsOf(
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
