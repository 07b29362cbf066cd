/**
 * The state of a run as a value: what `state$` holds, what a checkpoint saves, what `settle` takes and gives.
 *
 * A State is immutable and shares its cells with the run it was taken from. See `state-json.ts` for its written form.
 */
import type { Json, JsonObject } from '../json.js';
import type { Cells } from './cells.js';
import type { RunUsage } from './events.js';
import { Frontier } from './frontier.js';
import type { Outputs } from './node-events.js';
import type { Node, Plan, Scope, Variables } from './plan.js';
import { Frame, type Token, type TokenStatus } from './token.js';

/** A live token of a State. */
export interface TokenState {
  readonly id: number;
  readonly node: number;
  readonly status: Exclude<TokenStatus, 'running'>;
  readonly payload?: JsonObject;
  readonly answer?: Json;
  readonly nodeState?: Json;
  readonly frames?: readonly FrameState[];
  /** The node is at work and its text comes live. */
  readonly isStreaming?: boolean;
  /** Tokens of the consumers that were started before the node settled. */
  readonly startedEarly?: readonly number[];
}

/** One execution of a scope in a State. */
export interface FrameState {
  readonly key: string;
  readonly tokens: readonly TokenState[];
  readonly aliases?: JsonObject;
  readonly isClosing?: boolean;
  /** A node left the body early, and the container has not heard of it. */
  readonly isLeft?: boolean;
  /** Own values of an isolated frame. */
  readonly values?: { readonly cells: Cells<Outputs>; readonly variables: Variables };
}

/** Where a run stands. */
export interface State {
  /** Number of settlements so far. */
  readonly step: number;
  readonly nextToken: number;
  readonly cells: Cells<Outputs>;
  readonly variables: Variables;
  readonly root: FrameState;
  /** Token and outputs of the node that ran last. */
  readonly last?: { readonly token: number; readonly outputs: Outputs };
  /** Tokens of models that the run used; absent when there are none. */
  readonly usage?: RunUsage;
}

/** A run that has not called a model. */
export const NO_USAGE: RunUsage = Object.freeze({ promptTokens: 0, completionTokens: 0, totalTokens: 0, calls: 0 });

/** The usage after one more call. */
export function addUsage(usage: RunUsage, call: Omit<RunUsage, 'calls'>): RunUsage {
  return {
    promptTokens: usage.promptTokens + call.promptTokens,
    completionTokens: usage.completionTokens + call.completionTokens,
    totalTokens: usage.totalTokens + call.totalTokens,
    calls: usage.calls + 1,
  };
}

/** A State that can be written down and resumed from. */
export interface Checkpoint {
  readonly version: 1;
  readonly run: string;
  readonly planHash: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Sequence number of the last event before the checkpoint; a resumed run continues from it when asked to. */
  readonly seq: number;
  /** Number of the last event in the log that clients see, where that is another one. */
  readonly mark?: number;
  /** What the run was started with; a run that is taken over goes on with it. */
  readonly input?: Json;
  /** What its models took so far, as whoever counts that writes it. */
  readonly usage?: JsonObject;
  readonly state: JsonObject;
}

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
    ...(frame.isIsolated ? { values: { cells: frame.values.cells.fork(), variables: frame.values.variables } } : {}),
  };
}

function tokenState(token: Token): TokenState {
  return {
    id: token.id,
    node: token.node,
    status: token.status === 'running' ? 'ready' : token.status,
    ...(token.payload === undefined ? {} : { payload: token.payload }),
    ...(token.answer === undefined ? {} : { answer: token.answer }),
    ...(token.nodeState === undefined ? {} : { nodeState: token.nodeState }),
    ...(token.isStreaming ? { isStreaming: true } : {}),
    ...(token.startedEarly === undefined ? {} : { startedEarly: token.startedEarly.map(({ id }) => id) }),
    ...(token.frames === undefined || token.frames.size === 0
      ? {}
      : { frames: [...token.frames.values()].map(frameState) }),
  };
}

/** What a State is rebuilt for. */
export interface RestoreOptions {
  /**
   * Stream edges as they were, to follow a journal. Otherwise producers run again, and start their consumers again.
   * @default false
   */
  readonly keepsStreams?: boolean;
}

/**
 * Rebuilds the working form of a State. `frontier.wake(root)` gives the tokens that run again; frames of bodies wait in
 * `token.frames` until their container asks for them.
 */
export function restore(
  plan: Plan,
  state: State,
  options: RestoreOptions = {},
): { readonly frontier: Frontier; readonly root: Frame } {
  const frontier = new Frontier(plan, state.nextToken, state.step);
  const values = { cells: state.cells.fork(), variables: state.variables };
  const restoration = { plan, frontier, keepsStreams: options.keepsStreams ?? false };
  const root = restoreFrame(restoration, plan.scopes[0] as Scope, undefined, state.root, values);
  return { frontier, root };
}

interface Restoration {
  readonly plan: Plan;
  readonly frontier: Frontier;
  readonly keepsStreams: boolean;
}

function restoreFrame(
  restoration: Restoration,
  scope: Scope,
  owner: Token | undefined,
  saved: FrameState,
  around: Frame['values'],
): Frame {
  const { plan, frontier, keepsStreams } = restoration;
  const values =
    saved.values === undefined ? around : { cells: saved.values.cells.fork(), variables: saved.values.variables };
  const frame = new Frame(scope, owner, saved.key, values, {
    aliases: saved.aliases,
    isIsolated: saved.values !== undefined,
    isClosing: saved.isClosing ?? false,
  });
  frame.isLeft = saved.isLeft ?? false;
  const startedEarly = new Set(saved.tokens.flatMap((item) => item.startedEarly ?? []));
  for (const item of saved.tokens) {
    if (!keepsStreams && startedEarly.has(item.id)) continue;
    const token = frontier.restore(frame, item.id, item.node, item.status);
    token.payload = item.payload;
    token.answer = item.answer;
    token.nodeState = item.nodeState;
    if (item.frames === undefined) continue;
    const body = plan.scopes[(plan.nodes[item.node] as Node).body] as Scope;
    const inner = item.frames.map((pass) => restoreFrame(restoration, body, token, pass, values));
    token.frames = new Map(inner.map((pass) => [pass.key, pass]));
  }
  if (keepsStreams) linkStreams(frame, saved);
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
