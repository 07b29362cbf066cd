/** Turns what the driver does into events: stamps, numbers and delivers them. */
import type { Json, JsonObject } from '../json.js';
import { activationOf } from './activation.js';
import { CallLog } from './calls.js';
import type {
  CallsOfNode,
  ErrorInfo,
  NodeFailed,
  OpenCall,
  PendingQuestion,
  RunEvent,
  TerminalEvent,
  Unstamped,
} from './events.js';
import type { BodyRound, Call, Delta, Interrupt, Notice, Outputs, Progress, Settled, Usage } from './node-events.js';
import { type Node, nameInPath, type Plan } from './plan.js';

import type { Retractions } from './retractions.js';
import type { StatePatch } from './state-cell.js';
import { type Frame, framePath, type Token } from './tokens.js';
import type { StoredValue } from './typed.js';

/** What the driver reports. */
export interface Reporter {
  /** Milliseconds since 1970, when a node starts; 0 where no event will tell it. Read once until {@link timePasses}: the clock costs as much as an event. */
  time(): number;
  /** Code that is not the engine's has its turn. */
  timePasses(): void;
  started(token: Token, node: Node): void;
  delta(token: Token, node: Node, event: Delta): void;
  notice(token: Token, node: Node, event: Notice): void;
  call(token: Token, node: Node, event: Call): void;
  usage(token: Token, node: Node, event: Usage): void;
  progress(token: Token, node: Node, event: Progress): void;
  streaming(token: Token, node: Node, next?: readonly string[]): void;
  chunk(token: Token, node: Node, value: unknown): void;
  patched(token: Token, node: Node, state: string, patch: StatePatch, stored: StoredValue | undefined): void;
  settled(token: Token, node: Node, outcome: Settled, recovered: ErrorInfo | undefined): void;
  /** @param next with `goto`: ids of the nodes that run instead. */
  failed(
    token: Token,
    node: Node,
    error: ErrorInfo,
    outputs: Outputs,
    then: NodeFailed['then'],
    next?: readonly string[],
  ): void;
  skipped(token: Token, node: Node, missing: readonly string[]): void;
  interrupted(token: Token, node: Node, event: Interrupt): void;
  bodyOpened(token: Token, round: BodyRound): void;
  bodyResumed(token: Token, key: string, answers: Json | undefined): void;
  bodyClosed(token: Token, key: string): void;
}

const nothing = (): void => {};

/** Reports nothing, for runs without an observer. */
export const SILENT: Reporter = {
  time: () => 0,
  timePasses: nothing,
  started: nothing,
  delta: nothing,
  notice: nothing,
  call: nothing,
  usage: nothing,
  progress: nothing,
  streaming: nothing,
  chunk: nothing,
  patched: nothing,
  settled: nothing,
  failed: nothing,
  skipped: nothing,
  interrupted: nothing,
  bodyOpened: nothing,
  bodyResumed: nothing,
  bodyClosed: nothing,
};

/** Entries of the log of tools of one activation; later ones are left out. */
const MAX_TOOL_CALLS = 200;

/** What an activation called so far. */
interface Called {
  readonly node: string;
  readonly log: CallLog;
  readonly toolCalls: JsonObject[];
}

/** Numbers events without gaps and delivers them to one listener. */
export class EventReporter implements Reporter {
  readonly #plan: Plan;
  readonly #run: string;
  readonly #now: () => number;
  readonly #listener: (event: RunEvent) => void;
  #seq: number;
  /** When the last node settled, or started, since when only the engine was at work. */
  #time: number | undefined = undefined;
  #isMuted = false;
  readonly #isForLog: boolean;
  // Made when first needed: most runs need neither, and making both is a tenth of what a short run costs.
  /** Tokens whose last piece of text was on the port `thinking`. */
  #thinking: Set<number> | undefined = undefined;
  /** What activations that have not ended called, by token. */
  #called: Map<number, Called> | undefined = undefined;
  /** Starts that a recovered run repeats; undefined when there are none. */
  #retractions: Retractions | undefined = undefined;

  /** @param isForLog nothing but a log takes the events: values are in them as they are stored alone */
  constructor(
    plan: Plan,
    run: string,
    now: () => number,
    seq: number,
    listener: (event: RunEvent) => void,
    isForLog = false,
  ) {
    this.#isForLog = isForLog;
    this.#plan = plan;
    this.#run = run;
    this.#now = now;
    this.#seq = seq;
    this.#listener = listener;
  }

  time(): number {
    this.#time ??= this.#now();
    return this.#time;
  }

  timePasses(): void {
    this.#time = undefined;
  }

  /** Number of the last event. */
  get seq(): number {
    return this.#seq;
  }

  /** From now on `node-started` tells which earlier start it repeats. */
  retract(retractions: Retractions): void {
    this.#retractions = retractions;
  }

  /** Drops the events of nodes from now on: what is still on the stack may finish, but is not reported. */
  mute(): void {
    this.#isMuted = true;
  }

  /** Calls of the nodes that are still at work, which end with the run. */
  openCalls(): readonly OpenCall[] {
    if (this.#called === undefined || this.#called.size === 0) return [];
    const at = this.#now();
    return [...this.#called].flatMap(([token, { node, log }]) => {
      log.stop(at);
      return log.told.map((call) => ({ ...call, node, token }));
    });
  }

  report(event: Unstamped<TerminalEvent> | Unstamped<Extract<RunEvent, { type: 'run-started' }>>): void {
    this.#listener({ run: this.#run, seq: ++this.#seq, at: this.#now(), ...event } as RunEvent);
  }

  started(token: Token, node: Node): void {
    if (this.#isMuted) return;
    const { frame, id } = token;
    const { attempt, startedAt: at } = activationOf(token);
    // A literal for the common case: this is the hot path, and most nodes are at the top level.
    if (frame.owner === undefined && token.frames === undefined && this.#retractions === undefined) {
      this.#listener({ type: 'node-started', run: this.#run, seq: ++this.#seq, at, node: node.id, token: id, attempt });
      return;
    }
    const resumed = token.frames === undefined ? {} : ({ resumed: true } as const);
    const from = this.#retractions?.take(id, node.index, this.#path(frame));
    this.#listener({
      type: 'node-started',
      ...this.#header(token, node, at),
      attempt,
      ...resumed,
      ...(from === undefined ? {} : { retractFrom: from }),
    });
  }

  delta(token: Token, node: Node, event: Delta): void {
    const { frame, id } = token;
    const { port, text } = event;
    if (port === 'thinking') this.#startThinking(token, node);
    else this.#endThinking(token, node);
    if (this.#isMuted) return;
    const at = this.#now();
    this.#listener(
      frame.owner === undefined
        ? { type: 'node-delta', run: this.#run, seq: ++this.#seq, at, node: node.id, token: id, port, text }
        : {
            type: 'node-delta',
            run: this.#run,
            seq: ++this.#seq,
            at,
            node: node.id,
            within: this.#path(frame),
            token: id,
            port,
            text,
          },
    );
  }

  settled(token: Token, node: Node, outcome: Settled, recovered: ErrorInfo | undefined): void {
    this.#endThinking(token, node);
    if (this.#isMuted) return;
    const at = this.#now();
    // What it leads to starts then.
    this.#time = at;
    const { frame, id } = token;
    const { outputs, next, writes, exit } = outcome;
    const elapsedMs = at - activationOf(token).startedAt;
    const isPlain = next === undefined && writes === undefined && exit === undefined && recovered === undefined;
    if (node.typed !== undefined && isPlain && this.#called === undefined) {
      this.#typedSettled(token, node, outcome, at);
      return;
    }
    if (isPlain && frame.owner === undefined && this.#called === undefined) {
      this.#listener({
        type: 'node-settled',
        run: this.#run,
        seq: ++this.#seq,
        at,
        node: node.id,
        token: id,
        outputs,
        elapsedMs,
      });
      return;
    }
    this.#listener({
      type: 'node-settled',
      ...this.#header(token, node, at),
      outputs,
      ...('value' in outcome ? { value: outcome.value } : {}),
      ...(outcome.stored === undefined ? {} : { stored: outcome.stored }),
      ...(next === undefined ? {} : { next }),
      ...(writes === undefined ? {} : { writes }),
      ...(exit === undefined ? {} : { exit }),
      elapsedMs,
      ...(recovered === undefined ? {} : { recovered }),
      ...this.#takeCalls(id, at),
    });
  }

  /** A literal: most nodes of a typed plan end like this. */
  #typedSettled(token: Token, node: Node, { outputs, value, stored }: Settled, at: number): void {
    const { frame, id } = token;
    const elapsedMs = at - activationOf(token).startedAt;
    const run = this.#run;
    const seq = ++this.#seq;
    if (frame.owner === undefined && stored === undefined) {
      this.#listener({ type: 'node-settled', run, seq, at, node: node.id, token: id, outputs, value, elapsedMs });
      return;
    }
    const within = this.#path(frame);
    if (within === '' && stored !== undefined) {
      const type = 'node-settled';
      if (this.#isForLog) this.#listener({ type, run, seq, at, node: node.id, token: id, outputs, stored, elapsedMs });
      else this.#listener({ type, run, seq, at, node: node.id, token: id, outputs, value, stored, elapsedMs });
      return;
    }
    this.#listener({
      type: 'node-settled',
      run,
      seq,
      at,
      node: node.id,
      ...(within === '' ? {} : { within }),
      token: id,
      outputs,
      value,
      ...(stored === undefined ? {} : { stored }),
      elapsedMs,
    });
  }

  notice(token: Token, node: Node, { name, data }: Notice): void {
    if (name === 'message-ended') this.#endThinking(token, node);
    if (this.#isMuted) return;
    if (name === 'tool-called') {
      const { toolCalls } = this.#calledBy(token, node);
      if (toolCalls.length < MAX_TOOL_CALLS) toolCalls.push(data);
    }
    this.#listener({ type: 'node-notice', ...this.#header(token, node, this.#now()), name, data });
  }

  call(token: Token, node: Node, { call }: Call): void {
    if (this.#isMuted) return;
    const at = this.#now();
    this.#calledBy(token, node).log.add(call, at);
    this.#listener({ type: 'node-call', ...this.#header(token, node, at), call });
  }

  progress(token: Token, node: Node, { outputs, append, nodeState }: Progress): void {
    if (this.#isMuted) return;
    this.#listener({
      type: 'node-progress',
      ...this.#header(token, node, this.#now()),
      ...(outputs === undefined ? {} : { outputs }),
      ...(append === undefined ? {} : { append }),
      ...(nodeState === undefined ? {} : { nodeState }),
    });
  }

  streaming(token: Token, node: Node, next?: readonly string[]): void {
    if (this.#isMuted) return;
    this.#listener({
      type: 'node-streaming',
      ...this.#header(token, node, this.#now()),
      ...(next === undefined ? {} : { next }),
    });
  }

  chunk(token: Token, node: Node, value: unknown): void {
    if (this.#isMuted) return;
    this.#listener({ type: 'node-chunk', ...this.#header(token, node, this.#now()), value });
  }

  patched(token: Token, node: Node, state: string, patch: StatePatch, stored: StoredValue | undefined): void {
    if (this.#isMuted) return;
    const header = this.#header(token, node, this.#now());
    this.#listener({ type: 'node-patched', ...header, state, patch, ...(stored === undefined ? {} : { stored }) });
  }

  usage(token: Token, node: Node, { promptTokens, completionTokens, totalTokens }: Usage): void {
    if (this.#isMuted) return;
    const header = this.#header(token, node, this.#now());
    this.#listener({ type: 'node-usage', ...header, promptTokens, completionTokens, totalTokens });
  }

  failed(
    token: Token,
    node: Node,
    error: ErrorInfo,
    outputs: Outputs,
    then: NodeFailed['then'],
    next?: readonly string[],
  ): void {
    if (then !== 'retry') this.#endThinking(token, node);
    if (this.#isMuted) return;
    const at = this.#now();
    const elapsedMs = at - activationOf(token).startedAt;
    // A node that is tried again keeps what it called so far; it ends here.
    if (then === 'retry') this.#called?.get(token.id)?.log.stop(at);
    this.#listener({
      type: 'node-failed',
      ...this.#header(token, node, at),
      error,
      outputs,
      elapsedMs,
      then,
      ...(next === undefined ? {} : { next }),
      ...(then === 'retry' ? {} : this.#takeCalls(token.id, at)),
    });
  }

  skipped(token: Token, node: Node, missing: readonly string[]): void {
    if (this.#isMuted) return;
    this.#listener({ type: 'node-skipped', ...this.#header(token, node, this.#now()), missing });
  }

  interrupted(token: Token, node: Node, { payload, outputs }: Interrupt): void {
    if (this.#isMuted) return;
    this.#listener({
      type: 'node-interrupted',
      ...this.#header(token, node, this.#now()),
      ...(payload === undefined ? {} : { payload }),
      ...(outputs === undefined ? {} : { outputs }),
    });
  }

  bodyOpened(token: Token, round: BodyRound): void {
    if (this.#isMuted) return;
    this.#listener({ type: 'body-opened', ...this.#header(token, this.#nodeOf(token), this.#now()), round });
  }

  bodyResumed(token: Token, key: string, answers: Json | undefined): void {
    if (this.#isMuted) return;
    const header = this.#header(token, this.#nodeOf(token), this.#now());
    this.#listener({ type: 'body-resumed', ...header, key, ...(answers === undefined ? {} : { answers }) });
  }

  bodyClosed(token: Token, key: string): void {
    if (this.#isMuted) return;
    this.#listener({ type: 'body-closed', ...this.#header(token, this.#nodeOf(token), this.#now()), key });
  }

  #startThinking(token: Token, node: Node): void {
    if (this.#isMuted || this.#thinking?.has(token.id) === true) return;
    this.#thinking ??= new Set();
    this.#thinking.add(token.id);
    this.#listener({ type: 'node-thinking', ...this.#header(token, node, this.#now()), phase: 'started' });
  }

  #endThinking(token: Token, node: Node): void {
    if (this.#isMuted || this.#thinking?.delete(token.id) !== true) return;
    this.#listener({ type: 'node-thinking', ...this.#header(token, node, this.#now()), phase: 'ended' });
  }

  #calledBy(token: Token, node: Node): Called {
    const known = this.#called?.get(token.id);
    if (known !== undefined) return known;
    const made: Called = { node: node.id, log: new CallLog(), toolCalls: [] };
    this.#called ??= new Map();
    this.#called.set(token.id, made);
    return made;
  }

  /** What the end of an activation carries about its calls; those that are open end with it. */
  #takeCalls(token: number, at: number): CallsOfNode {
    const called = this.#called?.get(token);
    if (called === undefined) return {};
    this.#called?.delete(token);
    const { log, toolCalls } = called;
    log.stop(at);
    const { told, omitted } = log;
    return {
      ...(told.length > 0 && { calls: told }),
      ...(omitted > 0 && { callsOmitted: omitted }),
      ...(toolCalls.length > 0 && { toolCalls }),
    };
  }

  #nodeOf(token: Token): Node {
    return this.#plan.nodes[token.node] as Node;
  }

  #header(token: Token, node: Node, at: number) {
    const within = this.#path(token.frame);
    return {
      run: this.#run,
      seq: ++this.#seq,
      at,
      node: node.id,
      ...(within === '' ? {} : { within }),
      token: token.id,
    };
  }

  #path(frame: Frame): string {
    // No closure where most nodes are.
    if (frame.owner === undefined) return '';
    return framePath(frame, (node) => nameInPath(this.#plan, node));
  }
}

/** Everything that a waiting run asks for, outermost frames first, in the order in which the nodes were reached. */
export function pendingQuestions(plan: Plan, frame: Frame): PendingQuestion[] {
  const idOf = (node: number) => (plan.nodes[node] as Node).id;
  const within = framePath(frame, (node) => nameInPath(plan, node));
  const questions: PendingQuestion[] = [];
  for (let token = frame.first; token !== undefined; token = token.next) {
    const payload = token.data?.payload;
    if (token.status === 'waiting' && payload !== undefined) {
      const question = { node: idOf(token.node), token: token.id, payload };
      questions.push(within === '' ? question : { ...question, within });
    }
    if (token.frames === undefined) continue;
    for (const inner of token.frames.values()) questions.push(...pendingQuestions(plan, inner));
  }
  return questions;
}
