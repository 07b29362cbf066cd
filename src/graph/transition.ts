/**
 * How a run changes: the one file that changes a run's state.
 *
 * ```text
 *                       live run ──┐
 *      log (foldState) ──────────┼──> apply(run, token, change, ready) ──> frontier.ts: who may run next
 *      transition(plan, state, …) ─┘
 * ```
 *
 * The live run, recovery and forks (`foldState`) and tools (`transition`) call the same `apply`; so the state after a log is the state
 * that the run was in when it reported the last event of it.
 */
import { EngineError } from '../errors.js';
import type { Json, JsonObject } from '../json.js';
import type { NodeFailed, PendingQuestion, RunEvent, RunUsage } from './events.js';
import { Frontier } from './frontier.js';
import type { BodyRound, Interrupt, Outputs, Progress, Settled, Usage } from './node-events.js';
import { type Node, nameInPath, type Plan, type Scope, type Variables } from './plan.js';
import { restore, snapshot, typedFrame } from './snapshot.js';
import { addUsage, Cells, NO_USAGE, type State } from './state.js';
import type { StateCell, StatePatch } from './state-cell.js';
import { dataOf, detachConsumers, Frame, framePath, leave, retire, type Token } from './tokens.js';
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
 * The state in which a run begins. Its first tokens are put behind `ready`.
 *
 * @param input In a typed plan: what the run begins with, unless it comes live.
 */
export function freshState(
  plan: Plan,
  variables: Variables,
  ready: Token[],
  input?: { readonly value: unknown },
): LiveState {
  const frontier = new Frontier(plan);
  const cells = Cells.empty<Outputs>(plan.nodes.length);
  const root = new Frame(plan.scopes[0] as Scope, undefined, '', { cells, variables });
  root.typed = typedFrame(root.scope);
  if (input === undefined) frontier.enter(root, ready);
  else frontier.enterWith(root, input.value, ready);
  return new LiveState(frontier, root, undefined, NO_USAGE);
}

/** The state that a recovered run starts from: what was at work runs again, what waits keeps waiting. */
export function recoveredState(plan: Plan, state: State, usage: RunUsage, ready: Token[]): LiveState {
  const { frontier, root } = restore(plan, state);
  // Tokens that the lost process gave out and that were not stored are never given to other nodes.
  frontier.nextTokenId += 1_000_000;
  for (let token = root.first; token !== undefined; token = token.next) {
    if (token.status === 'ready') ready.push(token);
  }
  return new LiveState(frontier, root, state.last, usage);
}

/** The state that a run with answers starts from: every node that waits gets them. */
export function resumedState(plan: Plan, state: State, answers: Json | undefined, ready: Token[]): LiveState {
  const { frontier, root } = restore(plan, state);
  answerForms(frontier, root, answers, ready);
  return new LiveState(frontier, root, state.last, NO_USAGE);
}

/**
 * The state of a typed plan that a run with answers for some of its questions starts from. What has none goes on waiting; what was ready
 * runs, in bodies as soon as their containers open them.
 */
export function answeredState(
  plan: Plan,
  state: State,
  answerOf: (question: PendingQuestion) => { readonly answer: Json | undefined } | undefined,
  patches: readonly { readonly state: string; readonly patch: StatePatch }[],
  ready: Token[],
): LiveState {
  const { frontier, root } = restore(plan, state);
  for (const { state: name, patch } of patches) root.typed?.states.get(name)?.change(patch);
  const wake = (frame: Frame): boolean => {
    let isAwake = false;
    for (let token = frame.first; token !== undefined; token = token.next) {
      if (token.status === 'waiting') {
        const payload = token.data?.payload;
        const given = payload === undefined ? undefined : answerOf(questionOf(plan, token, payload));
        if (given !== undefined) dataOf(token).answer = given.answer;
        let isWoken = given !== undefined;
        for (const inner of token.frames?.values() ?? []) isWoken = wake(inner) || isWoken;
        if (isWoken) frontier.setStatus(token, 'ready');
      }
      if (token.status !== 'ready') continue;
      isAwake = true;
      if (frame === root) ready.push(token);
    }
    return isAwake;
  };
  wake(root);
  return new LiveState(frontier, root, state.last, state.usage ?? NO_USAGE);
}

/** What a waiting token asks for. */
export function questionOf(plan: Plan, token: Token, payload: JsonObject): PendingQuestion {
  const within = framePath(token.frame, (index) => nameInPath(plan, index));
  return { node: (plan.nodes[token.node] as Node).id, ...(within === '' ? {} : { within }), token: token.id, payload };
}

/** Also what waits in bodies, at once: a run that is lost before a container opens its body again still has the answers. */
function answerForms(frontier: Frontier, frame: Frame, answers: Json | undefined, ready: Token[]): void {
  frontier.answer(frame, answers, ready);
  for (let token = frame.first; token !== undefined; token = token.next) {
    if (token.status !== 'ready' || token.frames === undefined) continue;
    for (const inner of token.frames.values()) answerForms(frontier, inner, answers, []);
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

/**
 * The next state, and the ids of the tokens that may run because of the change. Pure: `state` is not changed.
 *
 * @param token id of a live token of the state, in any frame.
 * @throws EngineError CHECKPOINT_INVALID for a token that the state does not have; else as `apply`.
 */
export function transition(
  plan: Plan,
  state: State,
  token: number,
  change: Change,
): readonly [State, readonly number[]] {
  const run = liveState(plan, state);
  const found = findToken(run.root, token);
  if (found === undefined) {
    throw new EngineError('CHECKPOINT_INVALID', `The state has no live token ${token}; it may have settled before.`);
  }
  const ready: Token[] = [];
  apply(run, found, change, ready);
  return [run.state, ready.map(({ id }) => id)];
}

/**
 * The state after the events of a run's log that came after a state. Pure: neither is changed. Events that change nothing are passed
 * over.
 *
 * @throws EngineError CHECKPOINT_INVALID when an event does not fit the state that it comes to.
 */
export function foldState(plan: Plan, state: State, events: Iterable<RunEvent>): State {
  const run = liveState(plan, state);
  const ready: Token[] = [];
  for (const event of events) {
    const change = changeOf(event);
    if (change === undefined) continue;
    const { token: id } = event as Extract<RunEvent, { token: number }>;
    const token = findToken(run.root, id);
    if (token === undefined) throw misfit(event, `token ${id} is not live.`);
    try {
      apply(run, token, change, ready);
    } catch (error) {
      throw misfit(event, (error as Error).message);
    }
    ready.length = 0;
    run.removed.length = 0;
  }
  return run.state;
}

/**
 * The events that a run can start from again: without a failure at the end, and without ends of passes that their containers had not
 * reacted to. Such a pass continues where it was, and if all of it is done it ends at once; without it its nodes would run again.
 */
export function undisturbed(events: readonly RunEvent[]): readonly RunEvent[] {
  const chosen: RunEvent[] = [];
  /** Containers that changed something later. */
  const reacted = new Set<number>();
  let isEndChosen = false;
  for (let at = events.length - 1; at >= 0; at -= 1) {
    const event = events[at] as RunEvent;
    if (changeOf(event) === undefined) continue;
    const { token } = event as Extract<RunEvent, { token: number }>;
    // The end of the pass, and of those around, comes right after the failure; one outside of all bodies has none.
    const isFatal = event.type === 'node-failed' && (event.then === 'body' || event.then === 'run');
    const isChosen: boolean = isFatal ? isEndChosen : event.type !== 'body-closed' || reacted.has(token);
    isEndChosen = isChosen && event.type === 'body-closed';
    if (!isChosen) continue;
    chosen.push(event);
    reacted.add(token);
  }
  return chosen.reverse();
}

/** What an event changes; undefined for one that is for observers only. */
export function changeOf(event: RunEvent): Change | undefined {
  switch (event.type) {
    case 'node-settled': {
      const { outputs, value, stored, next, writes, exit } = event;
      return {
        type: 'settled',
        outputs,
        ...(value === undefined ? {} : { value }),
        ...(stored === undefined ? {} : { stored }),
        ...(next === undefined ? {} : { next }),
        ...(writes === undefined ? {} : { writes }),
        ...(exit === undefined ? {} : { exit }),
      };
    }
    case 'node-failed':
      return { type: 'failed', outputs: event.outputs, handling: event.then, next: event.next };
    case 'node-interrupted': {
      const { payload, outputs } = event;
      return {
        type: 'interrupt',
        ...(payload === undefined ? {} : { payload }),
        ...(outputs === undefined ? {} : { outputs }),
      };
    }
    case 'node-progress': {
      const { outputs, append, nodeState } = event;
      return {
        type: 'progress',
        ...(outputs === undefined ? {} : { outputs }),
        ...(append === undefined ? {} : { append }),
        ...(nodeState === undefined ? {} : { nodeState }),
      };
    }
    case 'node-usage': {
      const { promptTokens, completionTokens, totalTokens } = event;
      return { type: 'usage', promptTokens, completionTokens, totalTokens };
    }
    case 'node-streaming':
      return { type: 'streaming', next: event.next };
    case 'node-patched':
      return { type: 'patched', state: event.state, patch: event.patch, stored: event.stored };
    case 'node-skipped':
      return { type: 'skipped' };
    case 'body-opened':
      return { type: 'body-opened', round: event.round };
    case 'body-resumed':
      return { type: 'body-resumed', key: event.key, answers: event.answers };
    case 'body-closed':
      return { type: 'body-closed', key: event.key };
    case 'run-started':
    case 'node-started':
    case 'node-delta':
    case 'node-chunk':
    case 'node-thinking':
    case 'node-notice':
    case 'node-call':
    case 'run-interrupted':
    case 'run-settled':
    case 'run-failed':
    case 'run-cancelled':
      return undefined;
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
    run.frontier.countStep();
    run.frontier.drop(consumer, ready);
    run.removed.push(consumer);
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

// ── finding and rebuilding ──────────────────────────────────────────────────────────────────────────────────────────────────

function liveState(plan: Plan, state: State): LiveState {
  const { frontier, root } = restore(plan, state, { isExact: true });
  return new LiveState(frontier, root, state.last, state.usage ?? NO_USAGE);
}

function findToken(frame: Frame, id: number): Token | undefined {
  for (let token = frame.first; token !== undefined; token = token.next) {
    if (token.id === id) return token;
    if (token.frames === undefined) continue;
    for (const inner of token.frames.values()) {
      const found = findToken(inner, id);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function misfit({ type, seq }: RunEvent, why: string): EngineError {
  return new EngineError('CHECKPOINT_INVALID', `Event ${seq} of the log (${type}) does not fit the state: ${why}`);
}
