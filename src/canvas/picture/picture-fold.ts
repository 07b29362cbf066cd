/** A run's picture, folded from its events. Pure and incremental: nothing but the events counts. */
import type { CallSummary } from '../../graph/calls.js';
import {
  type BodyOpened,
  type NodeDelta,
  type NodeFailed,
  type NodeHeader,
  type NodeInterrupted,
  type NodeNotice,
  type NodeSettled,
  type NodeStarted,
  type NodeUsage,
  pathOf,
  type RunEvent,
  type RunStarted,
  type TerminalEvent,
} from '../../graph/events.js';
import { groupBy } from '../../group-by.js';
import { isJsonObject, type Json } from '../../json.js';
import { AnswerFold } from './answer-fold.js';
import { isRetraction } from './chat-picture.js';
import { EdgeFold } from './edge-fold.js';
import { NodeFold } from './node-fold.js';
import { addUsed, type Ending, type Holding, type OpenActivation } from './open-activation.js';
import {
  type DescribedNode,
  type Emission,
  MAX_QUERY,
  NOTHING_USED,
  type NodePicture,
  type PictureStatus,
  type QuestionPicture,
  type RunPicture,
} from './picture.js';

/** What a picture is made with. All are optional. */
export interface PictureOptions {
  /** Nodes of the document, such as its components: they are shown before they run, and by them edges are known. @default none */
  readonly nodes?: Iterable<DescribedNode>;
  /** Several events may have one number, or a lower one than those before, as events that are read from RAGFlow's have. @default false */
  readonly repeatsNumbers?: boolean;
}

/** The picture of a run of which no event has come. */
export function emptyPicture(options: PictureOptions = {}): RunPicture {
  return new PictureFold(options).picture;
}

/** The picture of a run that was asked to stop: it is `stopping` until its last event comes, which no event before says. */
export function stoppingPicture(picture: RunPicture): RunPicture {
  return picture.status === 'running' ? { ...picture, status: 'stopping' } : picture;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** What of a picture is about the run itself, and set by single events. */
type RunFields = Mutable<
  Pick<
    RunPicture,
    'run' | 'status' | 'error' | 'input' | 'query' | 'startedAtMs' | 'endedAtMs' | 'elapsedMs' | 'lastAtMs' | 'outputs'
  >
>;

/**
 * Folds the events of a run into what a screen shows of it.
 *
 * Events must come in order; one that came before is passed over, so that a client may be sent events twice. `picture` is immutable, and
 * what has not changed since it was read last is the same object. Reading it costs about as much as there are nodes, adding an event does not.
 */
export class PictureFold {
  readonly #nodes = new Map<string, NodeFold>();
  readonly #repeatsNumbers: boolean;
  /** Activations that have not ended, by token. */
  readonly #open = new Map<number, OpenActivation>();
  readonly #edges: EdgeFold;
  readonly #answer: AnswerFold;
  readonly #held: Holding = { emissions: 0, notices: 0, calls: 0, characters: 0 };
  #questions: readonly QuestionPicture[] = [];
  #run: RunFields = { status: 'running' };
  #usage = NOTHING_USED;
  #seq = 0;
  #activations = 0;
  #recoveries = 0;
  #nodeViews: ReadonlyMap<string, NodePicture> | undefined = undefined;
  #view: RunPicture | undefined = undefined;

  /** @param from a picture to go on from, which was made with the same nodes */
  constructor({ nodes = [], repeatsNumbers = false }: PictureOptions = {}, from?: RunPicture) {
    this.#repeatsNumbers = repeatsNumbers;
    this.#answer = new AnswerFold(from?.answer);
    for (const node of nodes) this.#nodes.set(node.id, new NodeFold(node, from?.nodes.get(node.id)));
    this.#edges = new EdgeFold(this.#nodes.keys(), from?.edges);
    if (from !== undefined) this.#goOnFrom(from);
  }

  #goOnFrom(from: RunPicture): void {
    for (const [id, view] of from.nodes) {
      if (!this.#nodes.has(id)) this.#nodes.set(id, new NodeFold({ id }, view));
    }
    for (const node of this.#nodes.values()) for (const one of node.open) this.#open.set(one.token, one);
    const { nodes, edges: _, answer: __, questions, usage, held, lastSeq, activations, recoveries, ...run } = from;
    this.#nodeViews = nodes;
    this.#questions = questions;
    this.#usage = usage;
    Object.assign(this.#held, held);
    this.#seq = lastSeq;
    this.#activations = activations;
    this.#recoveries = recoveries;
    this.#run = { ...run };
    this.#view = from;
  }

  /** What is known so far; the same object until an event changes it. */
  get picture(): RunPicture {
    this.#view ??= this.#show();
    return this.#view;
  }

  /** Number of the last event; 0 before the first. */
  get lastSeq(): number {
    return this.#seq;
  }

  /** Gives whether the event counts: one that came before does not. */
  add(event: RunEvent): boolean {
    if (event.seq <= this.#seq && !this.#repeatsNumbers) return false;
    this.#view = undefined;
    this.#seq = Math.max(this.#seq, event.seq);
    const run = this.#run;
    run.startedAtMs ??= event.at;
    run.lastAtMs = event.at;
    run.run ??= event.run;
    this.#fold(event);
    return true;
  }

  #fold(event: RunEvent): void {
    switch (event.type) {
      case 'node-delta':
        this.#wrote(event);
        return;
      case 'node-started':
        this.#started(event);
        return;
      case 'node-settled':
        this.#settled(event);
        return;
      case 'node-notice':
        this.#noticed(event);
        return;
      case 'node-call': {
        const one = this.#touched(event);
        one?.calls.add(event.call, event.at);
        return;
      }
      case 'node-usage':
        this.#used(event);
        return;
      case 'node-failed':
        this.#failed(event);
        return;
      case 'node-skipped':
        this.#ended(event, { status: 'skipped', elapsedMs: 0, missing: event.missing });
        return;
      case 'node-interrupted':
        this.#interrupted(event);
        return;
      case 'node-thinking':
        if (event.phase === 'ended') this.#answer.close(event.token);
        return;
      case 'node-progress': {
        const one = this.#touched(event);
        if (one !== undefined && event.outputs !== undefined) one.outputs = event.outputs;
        return;
      }
      case 'body-opened':
        this.#opened(event);
        return;
      case 'body-resumed': {
        const one = this.#touched(event);
        if (one !== undefined) one.status = 'open';
        return;
      }
      case 'body-closed':
        this.#closed(event, event.key);
        return;
      case 'run-started':
        this.#runStarted(event);
        return;
      case 'run-interrupted':
      case 'run-settled':
      case 'run-failed':
      case 'run-cancelled':
        this.#runEnded(event);
        return;
      case 'node-streaming':
      case 'node-chunk':
      case 'node-patched':
        return;
      default:
        // Of a later version.
        event satisfies never;
    }
  }

  // ── the run ───────────────────────────────────────────────────────────────────────────────────────────────────────────────

  #runStarted({ input, recovered }: RunStarted): void {
    const { run, startedAtMs, lastAtMs, query = queryOf(input) } = this.#run;
    this.#run = {
      run: run as string,
      status: 'running',
      input,
      startedAtMs: startedAtMs as number,
      lastAtMs: lastAtMs as number,
    };
    if (query !== undefined) this.#run.query = query;
    if (recovered === true) this.#recoveries += 1;
  }

  #runEnded(event: TerminalEvent): void {
    const { elapsedMs, usage, openCalls = [] } = event;
    const calls = groupBy(openCalls, ({ token }) => token);
    for (const [token, one] of [...this.#open]) {
      if (event.type === 'run-interrupted') this.#pause(one);
      else this.#end(one, { status: 'stopped', ...withCalls(calls.get(token)) }, event);
    }
    // The sum also knows what was used before a prefix of the log was lost.
    if (usage.calls > 0) this.#usage = { ...usage };
    const { startedAtMs = event.at } = this.#run;
    this.#run = { ...this.#run, status: ENDED[event.type], endedAtMs: startedAtMs + elapsedMs, elapsedMs };
    if (event.type === 'run-interrupted') {
      this.#ask(event);
      return;
    }
    this.#answer.closeAll();
    this.#questions = [];
    for (const node of this.#nodes.values()) if (node.rest()) this.#nodeViews = undefined;
    if (event.type === 'run-failed') this.#run.error = event.error;
    if (event.type === 'run-settled' && event.outputs !== null) this.#run.outputs = event.outputs;
  }

  /** A container whose body waits for an answer. */
  #pause(one: OpenActivation): void {
    one.status = 'waiting';
    this.#nodeOf(one.node).touch(this.#seq);
  }

  #ask({ pending, questions = [], seq }: Extract<TerminalEvent, { type: 'run-interrupted' }>): void {
    const known = new Map(this.#questions.map((one) => [one.token, one]));
    this.#questions = pending.map(({ node, within, token, payload }, at) => {
      const address = questions[at]?.address ?? `${node}#${token}`;
      const before = known.get(token);
      if (before?.address === address) return before;
      return { address, node, ...(within !== undefined && { within }), token, payload, seq: before?.seq ?? seq };
    });
  }

  // ── activations ───────────────────────────────────────────────────────────────────────────────────────────────────────────

  #started(event: NodeStarted): void {
    const { token, retractFrom, attempt, at } = event;
    const before = this.#open.get(token);
    if (before !== undefined && event.resumed === true) {
      // A container that continues in another process has begun before.
      before.status = 'open';
      this.#nodeOf(event.node).touch(event.seq);
      return;
    }
    if (retractFrom !== undefined) this.#retract(event, retractFrom);
    const left = this.#open.get(token);
    if (left !== undefined) this.#end(left, { status: 'stopped' }, event);
    this.#begin(event, at, attempt);
  }

  #begin(header: NodeHeader, startedAtMs: number, attempt: number): OpenActivation {
    this.#activations += 1;
    const one = this.#nodeOf(header.node).begin(header, { ordinal: this.#activations, attempt, startedAtMs });
    this.#open.set(header.token, one);
    if (this.#questions.some(({ token }) => token === header.token)) {
      this.#questions = this.#questions.filter(({ token }) => token !== header.token);
    }
    return one;
  }

  /** The process that the node was at work in was lost: what the node said from there on is said again. */
  #retract(event: NodeStarted, from: number): void {
    for (const one of [...this.#open.values()]) {
      if (one.node !== event.node || one.startSeq !== from) continue;
      this.#end(one, { status: 'retried', isRetracted: true }, event);
    }
    this.#nodeOf(event.node).retract(event.within, from);
    this.#answer.retract(pathOf(event), from);
  }

  #settled(event: NodeSettled): void {
    const { outputs, next, elapsedMs, recovered, calls, exit } = event;
    const begun = this.#open.get(event.token)?.startSeq ?? event.seq;
    this.#ended(event, {
      status: 'settled',
      elapsedMs,
      outputs,
      ...(next !== undefined && { next }),
      ...(recovered !== undefined && { recovered }),
      ...withCalls(calls),
    });
    if (exit !== true) this.#take(event, next, begun);
  }

  #failed(event: NodeFailed): void {
    const { then, error, outputs, elapsedMs, next, calls, attempts } = event;
    const status = then === 'retry' ? 'retried' : 'failed';
    // RAGFlow's events do not say why a node was tried again.
    const why = error.message === '' ? {} : { error };
    const chosen = next === undefined ? {} : { next };
    if (attempts !== undefined) this.#nodeOf(event.node).attempts = attempts;
    this.#ended(event, { status, elapsedMs, outputs, ...why, ...chosen, ...withCalls(calls) });
    if (next !== undefined) this.#take(event, next, event.seq);
  }

  #interrupted(event: NodeInterrupted): void {
    const { payload, outputs, node, within, token, seq } = event;
    if (payload === undefined) {
      const container = this.#open.get(token);
      if (container !== undefined) this.#pause(container);
      return;
    }
    this.#ended(event, { status: 'waiting', question: payload, ...(outputs !== undefined && { outputs }) });
    const address = `${node}#${token}`;
    const asked = { address, node, ...(within !== undefined && { within }), token, payload, seq };
    this.#questions = [...this.#questions.filter((one) => one.token !== token), asked];
  }

  /** Ends the activation of an event; one that was passed over, or that began before the log did, begins here. */
  #ended(event: NodeHeader, ending: Ending): void {
    const one = this.#open.get(event.token) ?? this.#begin(event, event.at - (ending.elapsedMs ?? 0), 1);
    this.#end(one, ending, event);
  }

  #end(one: OpenActivation, ending: Ending, at: { readonly seq: number; readonly at: number }): void {
    this.#open.delete(one.token);
    this.#answer.close(one.token);
    const node = this.#nodeOf(one.node);
    node.touch(at.seq);
    node.end(one, one.close(ending, at, this.#held));
  }

  // ── what they say ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  #wrote(event: NodeDelta): void {
    const { port, text, token } = event;
    const kind = port === 'thinking' ? 'thinking' : 'text';
    const node = this.#emit(event, kind, text.length);
    this.#open.get(token)?.write(kind, text, this.#held);
    if (node.about.speaks !== false) this.#answer.write(kind, event, text);
  }

  #noticed(event: NodeNotice): void {
    const { name, data, token } = event;
    const node = this.#emit(event, kindOfNotice(name), 0);
    const one = this.#open.get(token);
    if (isRetraction(event)) {
      one?.retract();
      node.retract(event.within, 0);
      this.#answer.retract(pathOf(event), 0);
    } else if (name === MESSAGE_ENDED) {
      if (node.about.speaks !== false) this.#answer.endMessage(event, data);
      return;
    }
    one?.notice(event, this.#held);
  }

  #used(event: NodeUsage): void {
    const { promptTokens, completionTokens, totalTokens, token } = event;
    const used = { promptTokens, completionTokens, totalTokens, calls: 1 };
    this.#emit(event, 'usage', 0).use(used);
    this.#open.get(token)?.use(used);
    this.#usage = addUsed(this.#usage, used);
  }

  #emit(event: NodeHeader, kind: Emission['kind'], characters: number): NodeFold {
    const node = this.#nodeOf(event.node);
    node.touch(event.seq);
    node.emitted(event.at, kind === 'text' || kind === 'thinking' ? 1 : 0, characters);
    this.#open.get(event.token)?.emit(kind, event, characters, this.#held);
    return node;
  }

  // ── bodies and edges ──────────────────────────────────────────────────────────────────────────────────────────────────────

  #opened(event: BodyOpened): void {
    const one = this.#touched(event);
    if (one !== undefined) one.status = 'open';
    const { key, closing, of } = event.round;
    if (closing === true) return;
    const node = this.#nodeOf(event.node);
    const { begun, ended, open } = node.rounds ?? NO_ROUNDS;
    const most = of ?? node.rounds?.of;
    const path = `${pathOf(event)}/${key}`;
    node.rounds = { begun: begun + 1, ended, ...(most !== undefined && { of: most }), open: [...open, path] };
  }

  #closed(event: NodeHeader, key: string): void {
    const node = this.#nodeOf(event.node);
    const path = `${pathOf(event)}/${key}`;
    for (const one of [...this.#open.values()]) {
      if (isInside(one.within, path)) this.#end(one, { status: 'stopped' }, event);
    }
    if (this.#questions.some(({ within }) => isInside(within, path))) {
      this.#questions = this.#questions.filter(({ within }) => !isInside(within, path));
    }
    const { rounds } = node;
    if (rounds?.open.includes(path) !== true) return;
    const open = rounds.open.filter((other) => other !== path);
    node.rounds = { ...rounds, ended: rounds.ended + 1, open };
    if (open.length > 0) return;
    for (const inner of this.#nodes.values()) if (inner.about.parent === event.node) inner.rest();
  }

  /** The edges behind a node are taken: to those that it chose, else to all. */
  #take(event: NodeHeader, chosen: readonly string[] | undefined, begun: number): void {
    for (const to of this.#edges.take(event, chosen ?? this.#nodeOf(event.node).about.downstream ?? [])) {
      const node = this.#nodeOf(to);
      // A node that reads the text of this one while it comes has begun before.
      if (!node.open.some((one) => one.within === event.within && one.startSeq > begun)) node.isQueued = true;
    }
  }

  /** The open activation of an event, whose node will be shown anew. */
  #touched({ node, token, seq }: NodeHeader): OpenActivation | undefined {
    this.#nodeOf(node).touch(seq);
    return this.#open.get(token);
  }

  /** A node that will be shown anew. */
  #nodeOf(id: string): NodeFold {
    this.#nodeViews = undefined;
    let node = this.#nodes.get(id);
    if (node === undefined) {
      node = new NodeFold({ id });
      this.#nodes.set(id, node);
    }
    return node;
  }

  #show(): RunPicture {
    this.#nodeViews ??= new Map([...this.#nodes].map(([id, node]) => [id, node.view]));
    return {
      ...this.#run,
      recoveries: this.#recoveries,
      lastSeq: this.#seq,
      usage: this.#usage,
      nodes: this.#nodeViews,
      edges: this.#edges.view,
      answer: this.#answer.view,
      questions: this.#questions,
      activations: this.#activations,
      held: { ...this.#held },
    };
  }
}

/** The notice at the end of a message. */
const MESSAGE_ENDED = 'message-ended';

const NO_ROUNDS = { begun: 0, ended: 0, open: [] } as const;

const ENDED: Readonly<Record<TerminalEvent['type'], PictureStatus>> = {
  'run-interrupted': 'waiting',
  'run-settled': 'succeeded',
  'run-failed': 'failed',
  'run-cancelled': 'cancelled',
};

function queryOf(input: Json): string | undefined {
  const query = isJsonObject(input) ? input.query : undefined;
  if (typeof query !== 'string' || query.trim() === '') return undefined;
  return query.trim().slice(0, MAX_QUERY);
}

function kindOfNotice(name: string): Emission['kind'] {
  if (name === MESSAGE_ENDED) return 'message-ended';
  return name === 'audio' ? 'audio' : 'notice';
}

/** Whether a place lies in a round, or deeper. */
function isInside(within: string | undefined, round: string): boolean {
  return within !== undefined && (within === round || within.startsWith(`${round}/`));
}

function withCalls(calls: readonly CallSummary[] | undefined): { readonly calls?: readonly CallSummary[] } {
  return calls === undefined ? {} : { calls };
}
