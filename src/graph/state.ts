/**
 * The state of a run as a value: what `state$` holds, what a checkpoint saves, what `settle` takes and gives.
 *
 * A State is immutable and shares its cells with the run it was taken from. See `state-json.ts` for its written form.
 */
import type { Json, JsonObject } from '../json.js';
import type { Cells } from './cells.js';
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
  readonly memo?: Json;
  readonly frames?: readonly FrameState[];
}

/** One execution of a scope in a State. */
export interface FrameState {
  readonly key: string;
  readonly tokens: readonly TokenState[];
  readonly aliases?: JsonObject;
  readonly isClosing?: boolean;
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
  readonly state: JsonObject;
}

/** Takes a State of a working run. Running nodes count as ready: they run again when the State is resumed. */
export function snapshot(frontier: Frontier, root: Frame, last: State['last']): State {
  return {
    step: frontier.step,
    nextToken: frontier.nextTokenId,
    cells: root.values.cells.fork(),
    variables: root.values.variables,
    root: frameState(root),
    ...(last === undefined ? {} : { last }),
  };
}

function frameState(frame: Frame): FrameState {
  const tokens: TokenState[] = [];
  for (let token = frame.first; token !== undefined; token = token.next) {
    // A consumer that was started early is started again by its producer, which runs again.
    if (token.awaits > 0) continue;
    tokens.push(tokenState(token));
  }
  return {
    key: frame.key,
    tokens,
    ...(frame.aliases === undefined ? {} : { aliases: frame.aliases }),
    ...(frame.isClosing ? { isClosing: true } : {}),
    ...(frame.isIsolated ? { values: { cells: frame.values.cells.fork(), variables: frame.values.variables } } : {}),
  };
}

function tokenState(token: Token): TokenState {
  return {
    id: token.id,
    node: token.node,
    status: token.status === 'running' ? 'ready' : token.status,
    ...(token.payload === undefined ? {} : { payload: token.payload }),
    ...(token.memo === undefined ? {} : { memo: token.memo }),
    ...(token.frames === undefined || token.frames.size === 0
      ? {}
      : { frames: [...token.frames.values()].map(frameState) }),
  };
}

/**
 * Rebuilds the working form of a State. `frontier.wake(root)` gives the tokens that run again; frames of bodies wait in
 * `token.frames` until their container asks for them.
 */
export function restore(plan: Plan, state: State): { readonly frontier: Frontier; readonly root: Frame } {
  const frontier = new Frontier(plan, state.nextToken, state.step);
  const values = { cells: state.cells.fork(), variables: state.variables };
  const root = restoreFrame(plan, frontier, plan.scopes[0] as Scope, undefined, state.root, values);
  return { frontier, root };
}

function restoreFrame(
  plan: Plan,
  frontier: Frontier,
  scope: Scope,
  owner: Token | undefined,
  saved: FrameState,
  around: Frame['values'],
): Frame {
  const values =
    saved.values === undefined ? around : { cells: saved.values.cells.fork(), variables: saved.values.variables };
  const frame = new Frame(scope, owner, saved.key, values, {
    aliases: saved.aliases,
    isIsolated: saved.values !== undefined,
    isClosing: saved.isClosing ?? false,
  });
  for (const item of saved.tokens) {
    const token = frontier.restore(frame, item.id, item.node, item.status);
    token.payload = item.payload;
    token.memo = item.memo;
    if (item.frames !== undefined) {
      const body = plan.scopes[(plan.nodes[item.node] as Node).body] as Scope;
      token.frames = new Map(
        item.frames.map((inner) => [inner.key, restoreFrame(plan, frontier, body, token, inner, values)]),
      );
    }
  }
  // Only finds witnesses: whatever could go had its ready token saved.
  frontier.recheck(frame, []);
  return frame;
}
