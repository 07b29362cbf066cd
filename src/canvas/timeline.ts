/**
 * What a run did, over time: when each node began and ended, what it emitted in between, and what that cost.
 *
 * Folded from the engine's events alone, so that there is a timeline of any run whose log is stored.
 */

import { CallLog, type CallSummary } from '../graph/calls.js';
import type { NodeFailed, NodeHeader, NodeStarted, RunEndFields, RunEvent } from '../graph/events.js';
import type { CallReport } from '../graph/node-events.js';
import { addTo } from '../group-by.js';
import { isJsonObject, type Json } from '../json.js';
import { invalidOption } from '../operators/invalid-option.js';
import { MESSAGE_END } from './ragflow-events.js';

/** What came of an activation. `open`: nothing yet. `retried`: it failed and was tried again. */
export type ActivationStatus = 'open' | 'settled' | 'failed' | 'retried' | 'skipped' | 'waiting';

/** Something that a node emitted while it was at work; neighbouring pieces of one kind are one emission. */
export interface TimelineEmission {
  /** `text` and `thinking` are pieces of text; the others are named by the event. */
  readonly kind: 'text' | 'thinking' | 'usage' | typeof MESSAGE_END | 'audio' | 'notice';
  /** Numbers of its first and its last event. */
  readonly fromSeq: number;
  readonly toSeq: number;
  /** Milliseconds since 1970. */
  readonly atMs: number;
  readonly pieces: number;
  /** UTF-16 units of all pieces. */
  readonly characters: number;
}

/** One activation of a node, from its start to its end. */
export interface TimelineActivation {
  /** Id of the node. */
  readonly node: string;
  /** Its type and its name, where they are known. */
  readonly type?: string;
  readonly name?: string;
  /** Where it ran when it was in a body: `container/round`, outermost first. */
  readonly within?: string;
  readonly token?: number;
  /** 1 for the first try. */
  readonly attempt: number;
  readonly status: ActivationStatus;
  /** Why it failed. */
  readonly error?: string;
  /** Numbers of the events that began and ended it. */
  readonly startSeq: number;
  readonly endSeq?: number;
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
  readonly endedAtMs?: number;
  readonly elapsedMs?: number;
  /** At most {@link MAX_EMISSIONS}, of all activations {@link MAX_RUN_EMISSIONS}; what comes later is counted in the last one, if any. */
  readonly emissions: readonly TimelineEmission[];
  /** What it called: at most 200, of all activations {@link MAX_RUN_CALLS}. */
  readonly calls: readonly CallSummary[];
  readonly usage: TimelineUsage;
}

/** Tokens and calls of models. */
export interface TimelineUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
  readonly calls: number;
}

/** All activations of one node together. */
export interface TimelineNode {
  readonly node: string;
  readonly type?: string;
  readonly name?: string;
  /** How often it began, without retries and skips. */
  readonly activations: number;
  readonly failures: number;
  readonly retries: number;
  readonly skips: number;
  readonly firstStartedAtMs: number;
  readonly lastEndedAtMs?: number;
  /** Time at work, side by side or not; also the longest of them. */
  readonly busyMs: number;
  readonly longestMs: number;
  readonly pieces: number;
  readonly characters: number;
  readonly usage: TimelineUsage;
}

/** A run over time. */
export interface RunTimeline {
  readonly status: 'running' | 'waiting' | 'succeeded' | 'failed' | 'cancelled';
  readonly error?: { readonly code: string; readonly message: string };
  /** What the user asked, cut to {@link MAX_QUERY} characters; absent where the events do not say. */
  readonly query?: string;
  /** Milliseconds since 1970; absent before the first event. */
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
  readonly elapsedMs?: number;
  /** Number of the last event. */
  readonly lastSeq: number;
  readonly usage: TimelineUsage;
  /** In the order in which they began; at most {@link MAX_ACTIVATIONS}, the oldest ones. */
  readonly activations: readonly TimelineActivation[];
  /** Activations that are only in the sums of `nodes`, because there were too many. */
  readonly omitted: number;
  /** In the order in which they began first. */
  readonly nodes: readonly TimelineNode[];
}

/** Characters of the question, at most. */
export const MAX_QUERY = 500;

/** Emissions of one activation, at most. */
export const MAX_EMISSIONS = 256;

/** Emissions of one run, at most. */
export const MAX_RUN_EMISSIONS = 50_000;

/** Calls of one run, at most. */
export const MAX_RUN_CALLS = 20_000;

/** Activations of one run, at most. */
export const MAX_ACTIVATIONS = 20_000;

/** Type and name of a node; undefined when they are not known. */
export type DescribeNode = (node: string) => { readonly type?: string; readonly name?: string } | undefined;

/**
 * The timeline of a run, from its events in order; those of a run that has not ended give what is known so far.
 *
 * Pure.
 */
export function timelineOf(events: Iterable<RunEvent>, describe?: DescribeNode): RunTimeline {
  if (typeof events?.[Symbol.iterator] !== 'function')
    throw invalidOption('timelineOf', 'events', 'events of a run, such as a list', events);
  const fold = new TimelineFold(describe);
  for (const event of events) fold.add(event);
  return fold.timeline;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Usage = Mutable<TimelineUsage>;
type Sums = Mutable<Omit<TimelineNode, 'usage' | 'type' | 'name'>> & { readonly usage: Usage };
type Activation = Mutable<Omit<TimelineActivation, 'emissions' | 'usage' | 'calls' | 'type' | 'name'>> & {
  readonly emissions: Mutable<TimelineEmission>[];
  /** Its calls so far; the end of the activation sums them up. */
  log?: CallLog;
  calls: readonly CallSummary[];
  readonly usage: Usage;
};

/** How an activation ended. */
interface End {
  readonly status: ActivationStatus;
  readonly elapsedMs?: number;
  readonly error?: string;
}

/** {@link timelineOf} for events that come one by one. */
export class TimelineFold {
  readonly #describe: DescribeNode;
  readonly #activations: Activation[] = [];
  readonly #sums = new Map<string, Sums>();
  /** Activations without an end, by token. */
  readonly #open = new Map<number, Activation>();
  #usage = noUsage();
  #omitted = 0;
  #emissions = 0;
  #calls = 0;
  #seq = 0;
  #startedAtMs: number | undefined = undefined;
  #query: string | undefined = undefined;
  #end: Pick<RunTimeline, 'status' | 'error' | 'elapsedMs'> = { status: 'running' };

  constructor(describe: DescribeNode = () => undefined) {
    this.#describe = describe;
  }

  /** What is known so far, as a copy. */
  get timeline(): RunTimeline {
    const { elapsedMs = 0, ...end } = this.#end;
    const startedAtMs = this.#startedAtMs;
    const isOver = end.status !== 'running';
    return {
      ...end,
      ...(this.#query !== undefined && { query: this.#query }),
      ...(startedAtMs !== undefined && { startedAtMs }),
      ...(startedAtMs !== undefined && isOver && { endedAtMs: startedAtMs + elapsedMs, elapsedMs }),
      lastSeq: this.#seq,
      usage: { ...this.#usage },
      activations: this.#activations.map(({ log, calls, ...one }) => ({
        ...one,
        ...this.#describe(one.node),
        emissions: one.emissions.map((emission) => ({ ...emission })),
        calls: calls.length === 0 && one.status === 'open' ? (log?.calls ?? []) : calls,
        usage: { ...one.usage },
      })),
      omitted: this.#omitted,
      nodes: [...this.#sums.values()].map((sums) => ({
        ...sums,
        ...this.#describe(sums.node),
        usage: { ...sums.usage },
      })),
    };
  }

  add(event: RunEvent): void {
    this.#seq = Math.max(this.#seq, event.seq);
    this.#startedAtMs ??= event.at;
    switch (event.type) {
      case 'node-started':
        this.#started(event);
        return;
      case 'node-delta':
        this.#emit(event, event.port === 'thinking' ? 'thinking' : 'text', event.text.length);
        return;
      case 'node-notice':
        this.#emit(event, kindOfNotice(event.name));
        return;
      case 'node-call':
        this.#called(event, event.call);
        return;
      case 'node-usage':
        this.#emit(event, 'usage');
        this.#count(event, event);
        return;
      case 'node-settled':
        this.#setCalls(event.token, event.calls);
        this.#ended(event, { status: 'settled', elapsedMs: event.elapsedMs });
        return;
      case 'node-failed':
        this.#failed(event);
        return;
      case 'node-skipped':
        this.#ended(event, { status: 'skipped', elapsedMs: 0 });
        return;
      case 'node-interrupted':
        // A container whose body waits is still open.
        if (event.payload !== undefined) this.#ended(event, { status: 'waiting' });
        return;
      case 'run-interrupted':
        this.#runEnded(event, { status: 'waiting' });
        return;
      case 'run-settled':
        this.#runEnded(event, { status: 'succeeded' });
        return;
      case 'run-cancelled':
        this.#runEnded(event, { status: 'cancelled' });
        return;
      case 'run-failed': {
        const { code, message } = event.error;
        this.#runEnded(event, { status: 'failed', error: { code, message } });
        return;
      }
      case 'run-started':
        this.#asked(event.input);
        return;
      case 'node-thinking':
      case 'node-progress':
      case 'node-streaming':
      case 'node-chunk':
      case 'node-patched':
      case 'body-opened':
      case 'body-resumed':
      case 'body-closed':
        return;
      default:
        event satisfies never;
    }
  }

  #asked(input: Json): void {
    const query = isJsonObject(input) ? input.query : undefined;
    if (typeof query === 'string' && query.trim() !== '') this.#query ??= query.trim().slice(0, MAX_QUERY);
  }

  #started(event: NodeStarted): void {
    const { token, retractFrom } = event;
    // A container that continues in another process has begun before.
    if (event.resumed === true && this.#open.has(token)) return;
    for (const [open, { node, startSeq }] of retractFrom === undefined ? [] : this.#open) {
      if (node === event.node && startSeq === retractFrom)
        this.#ended({ ...event, token: open }, { status: 'retried' });
    }
    this.#open.set(token, this.#begin(event, event.at, event.attempt));
  }

  #begin({ node, within, token, seq }: NodeHeader, startedAtMs: number, attempt: number): Activation {
    const one: Activation = {
      node,
      ...(within !== undefined && { within }),
      token,
      attempt,
      status: 'open',
      startSeq: seq,
      startedAtMs,
      emissions: [],
      calls: [],
      usage: noUsage(),
    };
    if (this.#activations.length < MAX_ACTIVATIONS) this.#activations.push(one);
    else this.#omitted += 1;
    if (attempt === 1) this.#sumsOf(node, startedAtMs).activations += 1;
    return one;
  }

  #emit({ node, token, seq, at }: NodeHeader, kind: TimelineEmission['kind'], characters = 0): void {
    const sums = this.#sumsOf(node, at);
    if (kind === 'text' || kind === 'thinking') {
      sums.pieces += 1;
      sums.characters += characters;
    }
    const one = this.#open.get(token);
    if (one === undefined) return;
    const last = one.emissions.at(-1);
    const isFull = one.emissions.length >= MAX_EMISSIONS || this.#emissions >= MAX_RUN_EMISSIONS;
    if (last !== undefined && (last.kind === kind || isFull)) {
      last.toSeq = seq;
      last.pieces += 1;
      last.characters += characters;
    } else if (!isFull) {
      this.#emissions += 1;
      one.emissions.push({ kind, fromSeq: seq, toSeq: seq, atMs: at, pieces: 1, characters });
    }
  }

  #called({ token, at }: NodeHeader, report: CallReport): void {
    const one = this.#open.get(token);
    if (one === undefined) return;
    one.log ??= new CallLog();
    one.log.add(report, at);
  }

  /** The calls that the end of a node or a run sums up, of all tries; each belongs to the try in which it began. */
  #setCalls(token: number, calls: readonly CallSummary[] = []): void {
    const one = this.#open.get(token);
    if (one === undefined) return;
    const byTry = new Map<Activation, CallSummary[]>();
    for (const call of calls) {
      const { startedAtMs } = call;
      const owner = startedAtMs >= one.startedAtMs ? one : (this.#tryAt(token, startedAtMs) ?? one);
      addTo(byTry, owner, call);
    }
    for (const [owner, own] of byTry) {
      this.#calls -= owner.calls.length;
      owner.calls = own.slice(0, MAX_RUN_CALLS - this.#calls);
      this.#calls += owner.calls.length;
    }
  }

  #tryAt(token: number, at: number): Activation | undefined {
    return this.#activations.findLast((one) => one.token === token && one.startedAtMs <= at);
  }

  #count({ node, token }: NodeHeader, usage: Omit<TimelineUsage, 'calls'>): void {
    for (const sum of [this.#usage, this.#open.get(token)?.usage, this.#sums.get(node)?.usage]) {
      if (sum === undefined) continue;
      sum.promptTokens += usage.promptTokens;
      sum.completionTokens += usage.completionTokens;
      sum.totalTokens += usage.totalTokens;
      sum.calls += 1;
    }
  }

  #failed(event: NodeFailed): void {
    const { elapsedMs, error, then } = event;
    this.#setCalls(event.token, event.calls);
    // RAGFlow's events do not say why a node was tried again.
    const reason = error.message === '' ? {} : { error: error.message };
    this.#ended(event, { status: then === 'retry' ? 'retried' : 'failed', elapsedMs, ...reason });
  }

  #ended(event: NodeHeader, { status, elapsedMs, error }: End): void {
    const { token, seq, at } = event;
    // A node that was skipped, or that began before the log did, begins here.
    const one = this.#open.get(token) ?? this.#begin(event, at - (elapsedMs ?? 0), 1);
    this.#open.delete(token);
    if (one.calls.length === 0 && one.log !== undefined) {
      one.log.stop(at);
      one.calls = one.log.calls.slice(0, MAX_RUN_CALLS - this.#calls);
      this.#calls += one.calls.length;
    }
    one.status = status;
    one.endSeq = seq;
    one.endedAtMs = at;
    one.elapsedMs = elapsedMs ?? at - one.startedAtMs;
    if (error !== undefined) one.error = error;
    const sums = this.#sumsOf(one.node, one.startedAtMs);
    sums.lastEndedAtMs = at;
    sums.busyMs += one.elapsedMs;
    sums.longestMs = Math.max(sums.longestMs, one.elapsedMs);
    if (status === 'failed') sums.failures += 1;
    if (status === 'retried') sums.retries += 1;
    if (status === 'skipped') {
      sums.skips += 1;
      sums.activations -= 1;
    }
  }

  #runEnded({ elapsedMs, usage, openCalls = [] }: RunEndFields, end: Pick<RunTimeline, 'status' | 'error'>): void {
    for (const token of new Set(openCalls.map((call) => call.token))) {
      this.#setCalls(
        token,
        openCalls.filter((call) => call.token === token).map(({ node: _, token: __, ...call }) => call),
      );
    }
    // The sum also knows what was used before a prefix of the log was lost.
    if (usage.calls > 0) this.#usage = { ...usage };
    this.#end = { ...end, elapsedMs };
  }

  #sumsOf(node: string, at: number): Sums {
    let sums = this.#sums.get(node);
    if (sums === undefined) {
      sums = {
        node,
        activations: 0,
        failures: 0,
        retries: 0,
        skips: 0,
        firstStartedAtMs: at,
        busyMs: 0,
        longestMs: 0,
        pieces: 0,
        characters: 0,
        usage: noUsage(),
      };
      this.#sums.set(node, sums);
    }
    return sums;
  }
}

function kindOfNotice(name: string): TimelineEmission['kind'] {
  if (name === 'message-ended') return MESSAGE_END;
  return name === 'audio' ? 'audio' : 'notice';
}

function noUsage(): Usage {
  return { promptTokens: 0, completionTokens: 0, totalTokens: 0, calls: 0 };
}
