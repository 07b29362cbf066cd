/**
 * How a run changes: the one file that changes a run's state.
 *
 * ```text
 *                       live run ──┐
 *      log (foldState) ──────────┼──> apply(run, token, change, ready) ──> frontier.ts: who may run next
 *      transition(plan, state, …) ─┘
 * ```
 *
 * The live run, recovery and forks (`foldState`) and tools (`transition`, see `fold.ts`) call the same `apply`; so the state after a log is
 * the state that the run was in when it reported the last event of it.
 */
import { EngineError } from '../errors.js';
import type { Json } from '../json.js';
import type { NodeFailed, RunUsage } from './events.js';
import type { Frontier } from './frontier.js';
import type { BodyRound, Interrupt, Outputs, Progress, Settled, Usage } from './node-events.js';
import type { Node, Plan, Scope } from './plan.js';
import { snapshot, typedFrame } from './snapshot.js';
import { addUsage, type State } from './state.js';
import type { StateCell, StatePatch } from './state-cell.js';
import { dataOf, detachConsumers, Frame, leave, retire, type Token } from './tokens.js';
import { readStoredValue, type StoredValue, type ValueCodec } from './typed.js';
import { applyWrites } from './values.js';

/** Everything that can happen to the token of a node; the state-changing events of `events.ts`, without their headers. */
export type Change =
  | Settled
  | Interrupt
  | Progress
  | Usage
  | {
      readonly type: 'failed';
      readonly outputs: Outputs;
      readonly handling: NodeFailed['then'];
      /** With `goto`: ids of the nodes that run instead. */
      readonly next?: readonly string[] | undefined;
    }
  | {
      readonly type: 'streaming';
      /** In a typed plan: ids of the nodes that the chunks go to. @default all successors */
      readonly next?: readonly string[] | undefined;
    }
  | {
      readonly type: 'patched';
      /** Name of the state. */
      readonly state: string;
      readonly patch?: StatePatch | undefined;
      /** The patch, from a log. */
      readonly stored?: StoredValue | undefined;
    }
  | { readonly type: 'skipped' }
  | { readonly type: 'body-opened'; readonly round: BodyRound }
  | { readonly type: 'body-resumed'; readonly key: string; readonly answers?: Json | undefined }
  | { readonly type: 'body-closed'; readonly key: string };

/** The node is at work. */
interface Started {
  readonly type: 'started';
}

/** Changes of a live run that a State does not show: it calls such tokens ready, for they run again when the run is resumed. */
type LiveChange =
  | Change
  | Started
  /** The token waits for a node beside it, whose output its node reads. */
  | { readonly type: 'put-off'; readonly producer: Token };

/** The state of a run in its working form: mutable, and changed by `apply` alone. */
export class LiveState {
  readonly plan: Plan;
  readonly frontier: Frontier;
  readonly root: Frame;
  /** Token and outputs of the node that ran last; 0 and null before. */
  lastToken: number;
  lastOutputs: Outputs | null;
  usage: RunUsage;
  /** Tokens that changes took out of the run while their nodes may be at work. The live run stops that work and empties the list. */
  readonly removed: Token[] = [];

  constructor(frontier: Frontier, root: Frame, last: State['last'], usage: RunUsage) {
    this.plan = frontier.plan;
    this.frontier = frontier;
    this.root = root;
    this.lastToken = last?.token ?? 0;
    this.lastOutputs = last?.outputs ?? null;
    this.usage = usage;
  }

  /** The state as a value. */
  get state(): State {
    const outputs = this.lastOutputs;
    const last = outputs === null ? undefined : { token: this.lastToken, outputs };
    return snapshot(this.frontier, this.root, last, this.usage);
  }
}

/**
 * Changes a run: what happened to the node of `token` takes effect. Tokens that may run now because of it are put behind `ready`.
 *
 * @throws EngineError NODE_TARGET_UNKNOWN, REFERENCE_UNRESOLVED, REFERENCE_READ_ONLY, CHECKPOINT_INVALID; no token has moved then.
 */
export function apply(run: LiveState, token: Token, change: LiveChange, ready: Token[]): void {
  // The two changes of every node first: so short a function is compiled into its callers.
  if (change.type === 'settled') settle(run, token, change, ready);
  else if (change.type === 'started') run.frontier.setStatus(token, 'running');
  else applyOther(run, token, change, ready);
}

function applyOther(
  run: LiveState,
  token: Token,
  change: Exclude<LiveChange, Settled | Started>,
  ready: Token[],
): void {
  const { frontier } = run;
  const { frame } = token;
  switch (change.type) {
    case 'failed':
      fail(run, token, change, ready);
      return;
    case 'interrupt':
      cancelConsumers(run, token, ready);
      if (token.data !== undefined) token.data.answer = undefined;
      frontier.setStatus(token, 'waiting');
      if (change.outputs !== undefined) frame.values.cells.set(token.node, change.outputs);
      if (change.payload !== undefined) dataOf(token).payload = change.payload;
      // A container of a typed plan may have been stopped before it began, and now its body asks.
      else if (token.data !== undefined && frame.typed !== undefined) token.data.payload = undefined;
      frontier.breakTie(frame, ready);
      return;
    case 'progress':
      store(token, change);
      return;
    case 'usage':
      run.usage = addUsage(run.usage, change);
      return;
    case 'put-off':
      frontier.putOff(token, change.producer);
      return;
    case 'streaming':
      if (change.next === undefined) frontier.startStreaming(token, ready);
      else {
        const chosen = frontier.targetsOf(run.plan.nodes[token.node] as Node, change.next);
        frontier.startStreaming(token, ready, chosen);
      }
      return;
    case 'patched':
      cellOf(token, change.state)?.change(
        (change.patch ?? carriedBy(run.plan, change as { stored?: StoredValue })) as StatePatch,
      );
      return;
    case 'skipped':
      frontier.countStep();
      frontier.drop(token, ready);
      return;
    case 'body-opened': {
      const pass = createFrame(run.plan, token, change.round);
      if (pass.typed === undefined || change.round.isLive === true) frontier.enter(pass, ready);
      else frontier.enterWith(pass, carriedBy(run.plan, change.round), ready);
      return;
    }
    case 'body-resumed': {
      const pass = token.frames?.get(change.key);
      if (pass !== undefined) frontier.answer(pass, change.answers, ready);
      return;
    }
    case 'body-closed': {
      const pass = token.frames?.get(change.key);
      if (pass === undefined) return;
      token.frames?.delete(change.key);
      retire(pass, run.removed);
    }
  }
}

// ── the changes ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

function settle(run: LiveState, token: Token, outcome: Settled, ready: Token[]): void {
  const { plan, frontier } = run;
  const { frame } = token;
  const { next, writes } = outcome;
  const node = plan.nodes[token.node] as Node;
  const targets = next === undefined ? undefined : frontier.targetsOf(node, next);
  const { typed } = node;
  const value = typed === undefined ? undefined : carriedBy(plan, outcome);
  if (typed === undefined) frame.values.cells.set(token.node, outcome.outputs);
  else if (typed.isRead) frame.values.cells.set(token.node, { value } as Outputs);
  if (typed?.isResult === true && frame.typed !== undefined) frame.typed.result = { value };
  if (writes !== undefined) applyWrites(plan, frame, writes);
  // Of the nodes that settle, the last is the one whose token was made last.
  if (token.id >= run.lastToken) {
    run.lastToken = token.id;
    run.lastOutputs = outcome.outputs;
  }
  // A body that fails is closed by its failure.
  if (outcome.exit === true && (frame.owner !== undefined || typed !== undefined) && !frame.hasFailed) {
    frontier.countStep();
    leave(frame, run.removed);
    return;
  }
  moveOn(run, token, targets, ready, value);
}

/** The value of a change that comes from the run, or from its log. */
function carriedBy(
  plan: Plan,
  { value, stored }: { readonly value?: unknown; readonly stored?: StoredValue },
): unknown {
  return stored === undefined || value !== undefined ? value : readStoredValue(plan.values as ValueCodec, stored);
}

/** The nearest state of that name around a token; undefined when there is none. */
export function cellOf(token: Token, name: string): StateCell | undefined {
  for (let frame: Frame | undefined = token.frame; frame !== undefined; frame = frame.owner?.frame) {
    const cell = frame.typed?.states.get(name);
    if (cell !== undefined) return cell;
  }
  return undefined;
}

function fail(run: LiveState, token: Token, change: Extract<Change, { type: 'failed' }>, ready: Token[]): void {
  const { frame } = token;
  if (change.handling === 'retry') {
    cancelConsumers(run, token, ready);
    return;
  }
  const targets = run.frontier.targetsOf(run.plan.nodes[token.node] as Node, change.next ?? []);
  frame.values.cells.set(token.node, change.outputs);
  if (change.handling === 'goto') moveOn(run, token, targets, ready);
  else if (change.handling === 'body') frame.hasFailed = true;
}

function moveOn(
  run: LiveState,
  token: Token,
  targets: readonly number[] | undefined,
  ready: Token[],
  value?: unknown,
): void {
  run.frontier.advance(token, targets, ready, value);
  if (token.startedEarly !== undefined) for (const consumer of token.startedEarly) consumer.awaits -= 1;
}

/** The producer does not settle: consumers that read its text so far leave the run, and are started again with it. */
function cancelConsumers(run: LiveState, producer: Token, ready: Token[]): void {
  for (const consumer of detachConsumers(producer)) {
    const isTyped = (run.plan.nodes[consumer.node] as Node).typed !== undefined;
    // What it passed on is taken back as well.
    if (isTyped) cancelConsumers(run, consumer, ready);
    run.frontier.countStep();
    run.frontier.drop(consumer, ready);
    run.removed.push(consumer);
    if (isTyped) run.frontier.giveAgain(consumer, ready);
  }
}

/** A frame for a fresh pass through the body of a token's node. */
function createFrame(plan: Plan, token: Token, round: BodyRound): Frame {
  const node = plan.nodes[token.node] as Node;
  const scope = plan.scopes[node.body];
  if (scope === undefined) throw new EngineError('CHECKPOINT_INVALID', `Node "${node.id}" has no body.`);
  if (token.frames?.has(round.key)) {
    throw new EngineError('CHECKPOINT_INVALID', `The pass "${round.key}" of node "${node.id}" is open.`);
  }
  const around = token.frame.values;
  const isIsolated = round.isolated === true || scope.typed?.hasReads === true;
  const values = isIsolated ? { cells: around.cells.fork(), variables: around.variables } : around;
  const frame = new Frame(scope, token, round.key, values, {
    aliases: round.aliases,
    isIsolated,
    isClosing: round.closing === true,
  });
  frame.typed = typedFrame(scope);
  if (round.fresh === true) forget(plan, scope, frame);
  token.frames ??= new Map();
  token.frames.set(round.key, frame);
  return frame;
}

/** Outputs of earlier passes, of the bodies inside too. */
function forget(plan: Plan, scope: Scope, frame: Frame): void {
  for (const member of scope.members) {
    frame.values.cells.set(member, undefined);
    const { body } = plan.nodes[member] as Node;
    if (body !== -1) forget(plan, plan.scopes[body] as Scope, frame);
  }
}

/** Puts a progress where others read it, and where a resumed run finds it. */
function store(token: Token, { outputs, append, nodeState }: Omit<Progress, 'type'>): void {
  const { cells } = token.frame.values;
  if (outputs !== undefined) cells.set(token.node, outputs);
  if (append !== undefined) {
    const data = dataOf(token);
    data.lists ??= new Map();
    cells.set(token.node, appended(cells.get(token.node) ?? {}, append, data.lists));
  }
  if (nodeState !== undefined) dataOf(token).nodeState = nodeState;
}

/**
 * Outputs with one more item in each of the lists that `append` names. `lists` are the growing lists behind them.
 *
 * The lists are not copied: a copy at every round would be five billion items for a hundred thousand rounds.
 */
export function appended(before: Outputs, append: Outputs, lists: Map<string, Json[]>): Outputs {
  const after = Object.create(Object.prototype, Object.getOwnPropertyDescriptors(before)) as Outputs;
  for (const [name, item] of Object.entries(append)) {
    const isOurs = Object.getOwnPropertyDescriptor(before, name)?.get !== undefined;
    let list = isOurs ? lists.get(name) : undefined;
    if (list === undefined) {
      const existing = Object.hasOwn(before, name) ? before[name] : undefined;
      list = Array.isArray(existing) ? [...(existing as readonly Json[])] : [];
      lists.set(name, list);
    }
    list.push(item);
    defineListSoFar(after, name, list);
  }
  return after;
}

/** A property with the items that `list` holds now; the list only grows. The copy is made when the property is read. */
function defineListSoFar(target: object, name: string, list: readonly Json[]): void {
  const { length } = list;
  Object.defineProperty(target, name, { enumerable: true, configurable: true, get: () => list.slice(0, length) });
}
