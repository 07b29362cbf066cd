/** Taking a State of a run, and rebuilding the working form of a run from one. */
import type { RunUsage } from './events.js';
import { Frontier } from './frontier.js';
import type { Node, Plan, Scope } from './plan.js';
import { type FrameState, NO_USAGE, type State, type TokenState } from './state.js';
import { Frame, type Token } from './tokens.js';

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

function tokenState(token: Token): TokenState {
  return {
    id: token.id,
    node: token.node,
    status: token.status === 'running' || token.isPutOff ? 'ready' : token.status,
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
    token.payload = item.payload;
    token.answer = item.answer;
    token.nodeState = item.nodeState;
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
