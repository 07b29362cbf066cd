/** A State taken from the working form of a run, rebuilt into it, written as JSON (with node ids, so that it survives a change of order in the document) and read with validation. */

import { z } from 'zod';
import { jsonObject } from '../dsl/json-object.js';
import { EngineError } from '../errors.js';
import type { Json, JsonObject } from '../json.js';
import type { RunUsage } from './events.js';
import { Frontier } from './frontier.js';
import type { Outputs } from './node-events.js';
import type { Node, Plan, Scope, Variables } from './plan.js';
import {
  type ArrivalState,
  Cells,
  type Checkpoint,
  type FrameState,
  NO_USAGE,
  type State,
  type TokenState,
  type TypedFrameState,
} from './state.js';
import { StateCell } from './state-cell.js';
import { dataOf, Frame, type Token, type TokenData, TypedFrame } from './tokens.js';
import { type Arrival, COMING, readStoredValue, type StoredValue, storeValue, type ValueCodec } from './typed.js';

/** Takes a State of a working run. Running nodes count as ready: they run again when the State is resumed. */
export function snapshot(frontier: Frontier, root: Frame, last: State['last'], usage: RunUsage = NO_USAGE): State {
  return {
    step: frontier.step,
    nextToken: frontier.nextTokenId,
    cells: root.values.cells.fork(),
    variables: root.values.variables,
    root: frameState(root),
    ...(last === undefined ? {} : { last }),
    ...(usage.calls === 0 ? {} : { usage }),
  };
}

function frameState(frame: Frame): FrameState {
  const tokens: TokenState[] = [];
  for (let token = frame.first; token !== undefined; token = token.next) tokens.push(tokenState(token));
  return {
    key: frame.key,
    tokens,
    ...(frame.aliases === undefined ? {} : { aliases: frame.aliases }),
    ...(frame.isClosing ? { isClosing: true } : {}),
    ...(frame.isLeft ? { isLeft: true } : {}),
    ...(frame.hasFailed ? { hasFailed: true } : {}),
    ...(frame.isIsolated ? { values: { cells: frame.values.cells.fork(), variables: frame.values.variables } } : {}),
    ...(frame.typed === undefined ? {} : { typed: typedState(frame.typed) }),
  };
}

function typedState({ steps, result, states }: TypedFrame): TypedFrameState {
  const values = Object.fromEntries([...states].map(([name, { value }]) => [name, value]));
  return { steps, ...(result === undefined ? {} : { result }), states: values };
}

/** What a frame of a typed plan keeps, with its states as they begin or as they were; undefined in a plan of a canvas. */
export function typedFrame({ typed }: Scope, saved?: TypedFrameState): TypedFrame | undefined {
  if (typed === undefined) return undefined;
  const cells = typed.states.map(({ name, initial }) => {
    const isSaved = saved !== undefined && Object.hasOwn(saved.states, name);
    return [name, new StateCell(isSaved ? saved.states[name] : initial())] as const;
  });
  const frame = new TypedFrame(cells.length === 0 ? NO_STATES : new Map(cells));
  frame.steps = saved?.steps ?? 0;
  frame.result = saved?.result;
  return frame;
}

const NO_STATES: ReadonlyMap<string, StateCell> = new Map();

const NO_DATA: Partial<TokenData> = {};

function tokenState(token: Token): TokenState {
  const { payload, answer, nodeState } = token.data ?? NO_DATA;
  return {
    id: token.id,
    node: token.node,
    status: token.status === 'running' || token.isPutOff ? 'ready' : token.status,
    ...(payload === undefined ? {} : { payload }),
    ...(answer === undefined ? {} : { answer }),
    ...(nodeState === undefined ? {} : { nodeState }),
    ...(token.input === undefined ? {} : { input: arrivalStates(token.input) }),
    ...(token.data?.chosen === undefined ? {} : { chosen: token.data.chosen }),
    ...(token.isStreaming ? { isStreaming: true } : {}),
    ...(token.startedEarly === undefined ? {} : { startedEarly: token.startedEarly.map(({ id }) => id) }),
    ...(token.frames === undefined || token.frames.size === 0
      ? {}
      : { frames: [...token.frames.values()].map(frameState) }),
  };
}

function arrivalStates(newest: Arrival): ArrivalState[] {
  const states: ArrivalState[] = [];
  for (let arrival: Arrival | undefined = newest; arrival !== undefined; arrival = arrival.next) {
    const { from, value } = arrival;
    if (value !== COMING) states.push({ from, value });
  }
  return states;
}

function arrivalsOf(states: readonly ArrivalState[] = []): Arrival | undefined {
  let newest: Arrival | undefined;
  for (let at = states.length - 1; at >= 0; at -= 1) {
    const { from, value } = states[at] as ArrivalState;
    newest = { from, value, next: newest };
  }
  return newest;
}

/** What a State is rebuilt for. */
export interface RestoreOptions {
  /** As it was, to apply changes to it. Otherwise nodes run again: producers start their consumers again. @default false */
  readonly isExact?: boolean;
}

/** Rebuilds the working form of a State. Frames of bodies wait in `token.frames` until their container asks for them. */
export function restore(
  plan: Plan,
  state: State,
  options: RestoreOptions = {},
): { readonly frontier: Frontier; readonly root: Frame } {
  const frontier = new Frontier(plan, state.nextToken, state.step);
  const values = { cells: state.cells.fork(), variables: state.variables };
  const restoration = { plan, frontier, isExact: options.isExact ?? false };
  const root = restoreFrame(restoration, plan.scopes[0] as Scope, undefined, state.root, values);
  return { frontier, root };
}

interface Restoration {
  readonly plan: Plan;
  readonly frontier: Frontier;
  readonly isExact: boolean;
}

function restoreFrame(
  restoration: Restoration,
  scope: Scope,
  owner: Token | undefined,
  saved: FrameState,
  around: Frame['values'],
): Frame {
  const { plan, frontier, isExact } = restoration;
  const values =
    saved.values === undefined ? around : { cells: saved.values.cells.fork(), variables: saved.values.variables };
  const frame = new Frame(scope, owner, saved.key, values, {
    aliases: saved.aliases,
    isIsolated: saved.values !== undefined,
    isClosing: saved.isClosing ?? false,
  });
  frame.isLeft = saved.isLeft ?? false;
  frame.typed = typedFrame(scope, saved.typed);
  // A node that failed runs again after a recovery.
  frame.hasFailed = isExact && saved.hasFailed === true;
  const startedEarly = new Set(saved.tokens.flatMap((item) => item.startedEarly ?? []));
  for (const item of saved.tokens) {
    const isRestarted = !isExact && startedEarly.has(item.id);
    // What has come from other producers waits for those that run again.
    if (isRestarted && (item.input === undefined || item.input.length === 0)) continue;
    const token = frontier.restore(frame, item.id, item.node, isRestarted ? 'held' : item.status);
    const { payload, answer, nodeState } = item;
    if (payload !== undefined || answer !== undefined || nodeState !== undefined)
      token.data = { payload, answer, nodeState, lists: undefined };
    token.input = arrivalsOf(item.input);
    if (isExact && item.chosen !== undefined) dataOf(token).chosen = item.chosen;
    if (item.frames === undefined) continue;
    const body = plan.scopes[(plan.nodes[item.node] as Node).body] as Scope;
    const inner = item.frames.map((pass) => restoreFrame(restoration, body, token, pass, values));
    token.frames = new Map(inner.map((pass) => [pass.key, pass]));
  }
  if (isExact) linkStreams(frame, saved);
  // Only finds witnesses: whatever could go had its ready token saved.
  frontier.recheck(frame, []);
  return frame;
}

function linkStreams(frame: Frame, saved: FrameState): void {
  const tokens = new Map<number, Token>();
  for (let token = frame.first; token !== undefined; token = token.next) tokens.set(token.id, token);
  for (const { id, isStreaming, startedEarly } of saved.tokens) {
    const producer = tokens.get(id) as Token;
    producer.isStreaming = isStreaming ?? false;
    if (startedEarly === undefined) continue;
    producer.startedEarly = startedEarly.flatMap((early) => tokens.get(early) ?? []);
    for (const consumer of producer.startedEarly) consumer.awaits += 1;
  }
}

interface TokenJson extends Omit<TokenState, 'node' | 'frames' | 'input' | 'chosen'> {
  readonly node: string;
  readonly input?: readonly { readonly from: string; readonly stored: StoredValue }[] | undefined;
  readonly chosen?: readonly string[] | undefined;
  readonly frames?: readonly FrameJson[] | undefined;
}
interface FrameJson extends Omit<FrameState, 'tokens' | 'values' | 'typed'> {
  readonly typed?:
    | { readonly steps: number; readonly result?: StoredValue; readonly states: Readonly<Record<string, StoredValue>> }
    | undefined;
  readonly tokens: readonly TokenJson[];
  readonly values?: { readonly cells: JsonObject; readonly variables: Variables } | undefined;
}

/** Writes a State down. */
export function stateToJson(plan: Plan, state: State): JsonObject {
  const codec = plan.values;
  const idOf = (index: number) => (plan.nodes[index] as Node).id;
  const cellsToJson = (cells: Cells<Outputs>): JsonObject => {
    // Without a prototype: any id is a key like others, and V8 fills it in less than half the time of one with a prototype.
    const written = Object.create(null) as Record<string, Json>;
    for (const node of plan.nodes) {
      const outputs = cells.get(node.index);
      if (outputs !== undefined) {
        written[node.id] =
          codec === undefined
            ? outputs
            : (storeValue(codec, (outputs as { value?: unknown }).value, `$.values.${node.id}`) as JsonObject);
      }
    }
    return written;
  };
  const frameToJson = ({ tokens, values, typed, ...frame }: FrameState): FrameJson => ({
    ...frame,
    ...(typed === undefined ? {} : { typed: typedToJson(codec as ValueCodec, typed) }),
    tokens: tokens.map(({ frames, input, chosen, ...token }) => ({
      ...token,
      node: idOf(token.node),
      ...(input === undefined
        ? {}
        : { input: input.map((arrival) => arrivalToJson(codec as ValueCodec, arrival, idOf)) }),
      ...(chosen === undefined ? {} : { chosen: chosen.map(idOf) }),
      ...(frames === undefined ? {} : { frames: frames.map(frameToJson) }),
    })),
    ...(values === undefined ? {} : { values: { cells: cellsToJson(values.cells), variables: values.variables } }),
  });
  const { cells, root, ...rest } = state;
  return { ...rest, cells: cellsToJson(cells), root: frameToJson(root) } as unknown as JsonObject;
}

function arrivalToJson(codec: ValueCodec, { from, value }: ArrivalState, idOf: (index: number) => string) {
  const id = idOf(from);
  return { from: id, stored: storeValue(codec, value, `$.values.${id}`) };
}

function typedToJson(codec: ValueCodec, { steps, result, states }: TypedFrameState): NonNullable<FrameJson['typed']> {
  const stored = Object.entries(states).map(([name, value]) => [name, storeValue(codec, value, `$.states.${name}`)]);
  return {
    steps,
    ...(result === undefined ? {} : { result: storeValue(codec, result.value, '$.result') }),
    states: Object.fromEntries(stored),
  };
}

const cells = z.record(z.string(), jsonObject);
const storedValue = z.union([z.strictObject({ v: z.json() }), z.strictObject({ c: z.array(z.json()) })]);

const token: z.ZodType = z.strictObject({
  id: z.number().int().positive(),
  node: z.string(),
  status: z.enum(['ready', 'held', 'waiting']),
  payload: jsonObject.optional(),
  answer: z.json().optional(),
  nodeState: z.json().optional(),
  frames: z.array(z.lazy(() => frame)).optional(),
  isStreaming: z.boolean().optional(),
  startedEarly: z.array(z.number().int()).optional(),
  input: z.array(z.strictObject({ from: z.string(), stored: storedValue })).optional(),
  chosen: z.array(z.string()).optional(),
});

const frame: z.ZodType = z.strictObject({
  key: z.string(),
  tokens: z.array(token),
  aliases: jsonObject.optional(),
  isClosing: z.boolean().optional(),
  isLeft: z.boolean().optional(),
  hasFailed: z.boolean().optional(),
  values: z.strictObject({ cells, variables: jsonObject }).optional(),
  typed: z
    .strictObject({
      steps: z.number().int().nonnegative(),
      result: storedValue.optional(),
      states: z.record(z.string(), storedValue),
    })
    .optional(),
});

const count = z.number().nonnegative();

const stateSchema = z.strictObject({
  step: z.number().int().nonnegative(),
  nextToken: z.number().int().positive(),
  cells,
  variables: jsonObject,
  root: frame as z.ZodType<FrameJson>,
  last: z.strictObject({ token: z.number().int(), outputs: jsonObject }).optional(),
  usage: z.strictObject({ promptTokens: count, completionTokens: count, totalTokens: count, calls: count }).optional(),
});

const checkpointSchema = z.strictObject({
  version: z.literal(1),
  run: z.string(),
  planHash: z.string(),
  at: z.number(),
  seq: z.number().int().nonnegative(),
  input: z.json().optional(),
  state: jsonObject,
});

/**
 * Reads a checkpoint that comes from outside.
 *
 * @throws EngineError CHECKPOINT_INVALID naming every field that is wrong.
 */
export function readCheckpoint(value: unknown): Checkpoint {
  return parse(checkpointSchema, value, 'The checkpoint') as Checkpoint;
}

/**
 * Reads a State that `stateToJson` wrote.
 *
 * @throws EngineError CHECKPOINT_INVALID when the shape is wrong, or a token stands where the plan has no place for it.
 */
export function stateFromJson(plan: Plan, json: unknown): State {
  const { root, last, usage, cells: written, ...rest } = parse(stateSchema, json, 'The saved state');
  const reader = new StateReader(plan, rest.nextToken);
  return {
    ...rest,
    cells: reader.cells(written),
    root: reader.frame(root, plan.scopes[0] as Scope),
    ...(last === undefined ? {} : { last }),
    ...(usage === undefined ? {} : { usage }),
  };
}

function parse<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${['$', ...issue.path].join('.')}: ${issue.message}`);
  throw invalid(`${what} cannot be read: ${problems.join('; ')}.`);
}

function invalid(message: string): EngineError {
  return new EngineError('CHECKPOINT_INVALID', message);
}

/** Turns ids into indexes and holds every token against the plan. */
class StateReader {
  readonly #plan: Plan;
  readonly #nextToken: number;
  readonly #seen = new Set<number>();

  constructor(plan: Plan, nextToken: number) {
    this.#plan = plan;
    this.#nextToken = nextToken;
  }

  cells(written: Readonly<Record<string, JsonObject>>): Cells<Outputs> {
    const vector = Cells.empty<Outputs>(this.#plan.nodes.length);
    for (const [id, outputs] of Object.entries(written)) {
      const { index } = this.#node(id);
      vector.set(
        index,
        this.#isTyped ? ({ value: this.#value(outputs as unknown as StoredValue) } as Outputs) : outputs,
      );
    }
    return vector;
  }

  frame({ tokens, values, typed, ...rest }: FrameJson, scope: Scope): FrameState {
    const held = new Set<number>();
    if ((typed !== undefined) !== this.#isTyped)
      throw invalid('The saved state does not belong to this kind of graph.');
    return {
      ...rest,
      ...(typed === undefined ? {} : { typed: this.#typed(typed) }),
      tokens: tokens.map((saved) => {
        const state = this.#token(saved, scope);
        if (state.status === 'held' && held.size === held.add(state.node).size) {
          throw invalid(`The saved state holds two tokens at join "${saved.node}".`);
        }
        return state;
      }),
      ...(values === undefined
        ? {}
        : {
            values: {
              cells: this.cells(values.cells as Readonly<Record<string, JsonObject>>),
              variables: values.variables,
            },
          }),
    };
  }

  #token({ frames, input, chosen, ...json }: TokenJson, scope: Scope): TokenState {
    const saved = {
      ...json,
      ...(input === undefined
        ? {}
        : { input: input.map(({ from, stored }) => ({ from: this.#node(from).index, value: this.#value(stored) })) }),
      ...(chosen === undefined ? {} : { chosen: chosen.map((id) => this.#node(id).index) }),
    };
    const node = this.#node(saved.node);
    if (node.scope !== scope.index) throw invalid(`The saved state has a token on "${node.id}" outside its body.`);
    if (saved.id >= this.#nextToken || this.#seen.has(saved.id)) {
      throw invalid(`The saved state uses token ${saved.id} twice, or one that was never given out.`);
    }
    this.#seen.add(saved.id);
    if (saved.status === 'held' && !node.isJoin) {
      throw invalid(`The saved state holds a token at "${node.id}", which is no join.`);
    }
    if (frames === undefined) return { ...saved, node: node.index };
    const body = this.#plan.scopes[node.body];
    if (body === undefined)
      throw invalid(`The saved state has a pass through the body of "${node.id}", which has none.`);
    if (new Set(frames.map(({ key }) => key)).size < frames.length) {
      throw invalid(`The saved state has two passes of "${node.id}" under one key.`);
    }
    return { ...saved, node: node.index, frames: frames.map((inner) => this.frame(inner, body)) };
  }

  get #isTyped(): boolean {
    return this.#plan.values !== undefined;
  }

  #value(stored: StoredValue): unknown {
    return readStoredValue(this.#plan.values as ValueCodec, stored);
  }

  #typed({ steps, result, states }: NonNullable<FrameJson['typed']>): TypedFrameState {
    return {
      steps,
      ...(result === undefined ? {} : { result: { value: this.#value(result) } }),
      states: Object.fromEntries(Object.entries(states).map(([name, stored]) => [name, this.#value(stored)])),
    };
  }

  #node(id: string): Node {
    const index = this.#plan.byId.get(id);
    if (index === undefined) throw invalid(`The saved state names node "${id}", which this graph does not have.`);
    return this.#plan.nodes[index] as Node;
  }
}
