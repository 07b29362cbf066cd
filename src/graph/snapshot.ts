/** A State taken from the working form of a run, rebuilt into it, written as JSON (with node ids, so that it survives a change of order in the document) and read with validation. */

import { z } from 'zod';
import { jsonObject } from '../dsl/json-object.js';
import { EngineError } from '../errors.js';
import type { Json, JsonObject } from '../json.js';
import type { RunUsage } from './events.js';
import { Frontier } from './frontier.js';
import type { Outputs } from './node-events.js';
import type { Node, Plan, Scope, Variables } from './plan.js';
import { Cells, type Checkpoint, type FrameState, NO_USAGE, type State, type TokenState } from './state.js';
import { Frame, type Token, type TokenData } from './tokens.js';

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
  };
}

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
    ...(token.isStreaming ? { isStreaming: true } : {}),
    ...(token.startedEarly === undefined ? {} : { startedEarly: token.startedEarly.map(({ id }) => id) }),
    ...(token.frames === undefined || token.frames.size === 0
      ? {}
      : { frames: [...token.frames.values()].map(frameState) }),
  };
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
  // A node that failed runs again after a recovery.
  frame.hasFailed = isExact && saved.hasFailed === true;
  const startedEarly = new Set(saved.tokens.flatMap((item) => item.startedEarly ?? []));
  for (const item of saved.tokens) {
    if (!isExact && startedEarly.has(item.id)) continue;
    const token = frontier.restore(frame, item.id, item.node, item.status);
    const { payload, answer, nodeState } = item;
    if (payload !== undefined || answer !== undefined || nodeState !== undefined)
      token.data = { payload, answer, nodeState, lists: undefined };
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

interface TokenJson extends Omit<TokenState, 'node' | 'frames'> {
  readonly node: string;
  readonly frames?: readonly FrameJson[] | undefined;
}
interface FrameJson extends Omit<FrameState, 'tokens' | 'values'> {
  readonly tokens: readonly TokenJson[];
  readonly values?: { readonly cells: JsonObject; readonly variables: Variables } | undefined;
}

/** Writes a State down. */
export function stateToJson(plan: Plan, state: State): JsonObject {
  const cellsToJson = (cells: Cells<Outputs>): JsonObject => {
    // Without a prototype: any id is a key like others, and V8 fills it in less than half the time of one with a prototype.
    const written = Object.create(null) as Record<string, Json>;
    for (const node of plan.nodes) {
      const outputs = cells.get(node.index);
      if (outputs !== undefined) written[node.id] = outputs;
    }
    return written;
  };
  const frameToJson = ({ tokens, values, ...frame }: FrameState): FrameJson => ({
    ...frame,
    tokens: tokens.map(({ frames, ...token }) => ({
      ...token,
      node: (plan.nodes[token.node] as Node).id,
      ...(frames === undefined ? {} : { frames: frames.map(frameToJson) }),
    })),
    ...(values === undefined ? {} : { values: { cells: cellsToJson(values.cells), variables: values.variables } }),
  });
  const { cells, root, ...rest } = state;
  return { ...rest, cells: cellsToJson(cells), root: frameToJson(root) } as unknown as JsonObject;
}

const cells = z.record(z.string(), jsonObject);

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
});

const frame: z.ZodType = z.strictObject({
  key: z.string(),
  tokens: z.array(token),
  aliases: jsonObject.optional(),
  isClosing: z.boolean().optional(),
  isLeft: z.boolean().optional(),
  hasFailed: z.boolean().optional(),
  values: z.strictObject({ cells, variables: jsonObject }).optional(),
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
    for (const [id, outputs] of Object.entries(written)) vector.set(this.#node(id).index, outputs);
    return vector;
  }

  frame({ tokens, values, ...rest }: FrameJson, scope: Scope): FrameState {
    const held = new Set<number>();
    return {
      ...rest,
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

  #token({ frames, ...saved }: TokenJson, scope: Scope): TokenState {
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

  #node(id: string): Node {
    const index = this.#plan.byId.get(id);
    if (index === undefined) throw invalid(`The saved state names node "${id}", which this graph does not have.`);
    return this.#plan.nodes[index] as Node;
  }
}
