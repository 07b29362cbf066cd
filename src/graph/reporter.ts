/** Turns what the driver does into events: stamps, numbers and hands them on. */
import type { JsonObject } from '../json.js';
import type { ErrorInfo, NodeFailed, PendingQuestion, RunEvent, TerminalEvent, Unstamped } from './events.js';
import type { Delta, Notice, Outputs, Settled, Usage } from './node-events.js';
import type { Node, Plan } from './plan.js';
import { type Frame, framePath, type Token } from './token.js';

/** What the driver reports. */
export interface Reporter {
  started(token: Token, node: Node): void;
  delta(token: Token, node: Node, event: Delta): void;
  notice(token: Token, node: Node, event: Notice): void;
  usage(token: Token, node: Node, event: Usage): void;
  settled(token: Token, node: Node, outcome: Settled, recovered: ErrorInfo | undefined): void;
  failed(token: Token, node: Node, error: ErrorInfo, outputs: Outputs, then: NodeFailed['then']): void;
  skipped(token: Token, node: Node, missing: readonly string[]): void;
  interrupted(token: Token, node: Node, payload: JsonObject, outputs: Outputs): void;
}

const nothing = (): void => {};

/** Reports nothing, for runs that nobody watches. */
export const SILENT: Reporter = {
  started: nothing,
  delta: nothing,
  notice: nothing,
  usage: nothing,
  settled: nothing,
  failed: nothing,
  skipped: nothing,
  interrupted: nothing,
};

/** Numbers events without gaps and hands them to one listener. */
export class EventReporter implements Reporter {
  readonly #plan: Plan;
  readonly #run: string;
  readonly #now: () => number;
  readonly #listener: (event: RunEvent) => void;
  #seq: number;
  #isMuted = false;

  constructor(plan: Plan, run: string, now: () => number, seq: number, listener: (event: RunEvent) => void) {
    this.#plan = plan;
    this.#run = run;
    this.#now = now;
    this.#seq = seq;
    this.#listener = listener;
  }

  /** Number of the last event. */
  get seq(): number {
    return this.#seq;
  }

  /** Nodes are not heard any more; whatever is still on the stack below may finish in silence. */
  mute(): void {
    this.#isMuted = true;
  }

  say(event: Unstamped<TerminalEvent> | Unstamped<Extract<RunEvent, { type: 'run-started' }>>): void {
    this.#listener({ run: this.#run, seq: ++this.#seq, at: this.#now(), ...event } as RunEvent);
  }

  started(token: Token, node: Node): void {
    if (this.#isMuted) return;
    const { frame, id, attempt, startedAt: at } = token;
    // A literal for the common case: this is the hot path, and most nodes are at the top level.
    if (frame.owner === undefined && token.frames === undefined) {
      this.#listener({ type: 'node-started', run: this.#run, seq: ++this.#seq, at, node: node.id, token: id, attempt });
      return;
    }
    const resumed = token.frames === undefined ? {} : ({ resumed: true } as const);
    this.#listener({ type: 'node-started', ...this.#header(token, node, at), attempt, ...resumed });
  }

  delta(token: Token, node: Node, event: Delta): void {
    if (this.#isMuted) return;
    const { frame, id } = token;
    const { port, text } = event;
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
    if (this.#isMuted) return;
    const at = this.#now();
    const { frame, id } = token;
    const { outputs, next } = outcome;
    const elapsedMs = at - token.startedAt;
    if (frame.owner === undefined && next === undefined && recovered === undefined) {
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
      ...(next === undefined ? {} : { next }),
      elapsedMs,
      ...(recovered === undefined ? {} : { recovered }),
    });
  }

  notice(token: Token, node: Node, { name, data }: Notice): void {
    if (this.#isMuted) return;
    this.#listener({ type: 'node-notice', ...this.#header(token, node, this.#now()), name, data });
  }

  usage(token: Token, node: Node, { promptTokens, completionTokens, totalTokens }: Usage): void {
    if (this.#isMuted) return;
    const header = this.#header(token, node, this.#now());
    this.#listener({ type: 'node-usage', ...header, promptTokens, completionTokens, totalTokens });
  }

  failed(token: Token, node: Node, error: ErrorInfo, outputs: Outputs, then: NodeFailed['then']): void {
    if (this.#isMuted) return;
    const at = this.#now();
    const elapsedMs = at - token.startedAt;
    this.#listener({ type: 'node-failed', ...this.#header(token, node, at), error, outputs, elapsedMs, then });
  }

  skipped(token: Token, node: Node, missing: readonly string[]): void {
    if (this.#isMuted) return;
    this.#listener({ type: 'node-skipped', ...this.#header(token, node, this.#now()), missing });
  }

  interrupted(token: Token, node: Node, payload: JsonObject, outputs: Outputs): void {
    if (this.#isMuted) return;
    this.#listener({ type: 'node-interrupted', ...this.#header(token, node, this.#now()), payload, outputs });
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
    return framePath(frame, (node) => (this.#plan.nodes[node] as Node).id);
  }
}

/** Everything that a waiting run asks for, outermost frames first, in the order in which the nodes were reached. */
export function pendingQuestions(plan: Plan, frame: Frame): PendingQuestion[] {
  const idOf = (node: number) => (plan.nodes[node] as Node).id;
  const within = framePath(frame, idOf);
  const questions: PendingQuestion[] = [];
  for (let token = frame.first; token !== undefined; token = token.next) {
    if (token.status === 'waiting' && token.payload !== undefined) {
      const question = { node: idOf(token.node), token: token.id, payload: token.payload };
      questions.push(within === '' ? question : { ...question, within });
    }
    if (token.frames === undefined) continue;
    for (const inner of token.frames.values()) questions.push(...pendingQuestions(plan, inner));
  }
  return questions;
}
