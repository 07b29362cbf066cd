/** The part of a timeline that is about nodes: activations with their sums. */

import { CallLog, type CallSummary } from '../graph/calls.js';
import type { CallReport } from '../graph/node-events.js';
import {
  type ActivationStatus,
  MAX_ACTIVATIONS,
  MAX_EMISSIONS,
  MAX_RUN_CALLS,
  MAX_RUN_EMISSIONS,
  type RunTimeline,
  type TimelineActivation,
  type TimelineEmission,
  type TimelineNode,
  type TimelineUsage,
} from './timeline.js';

/** Which node an event is about, as far as the event says. */
export interface NodeAt {
  readonly node: string;
  readonly type?: string;
  readonly name?: string;
  readonly within?: string;
  readonly token?: number;
}

/** Number and time of an event; time in milliseconds since 1970. */
interface Moment {
  readonly seq: number;
  readonly at: number;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Usage = Mutable<TimelineUsage>;
type Activation = Mutable<Omit<TimelineActivation, 'emissions' | 'usage' | 'calls'>> & {
  readonly emissions: Mutable<TimelineEmission>[];
  /** What it called: as its notices tell it one by one, or as its end does in one list. */
  log?: CallLog;
  calls?: readonly CallSummary[];
  readonly usage: Usage;
};
type Sums = Mutable<Omit<TimelineNode, 'usage'>> & { readonly usage: Usage };

/** Folds what happens to nodes. */
export class TimelineNodes {
  readonly #activations: Activation[] = [];
  readonly #sums = new Map<string, Sums>();
  /** Activations without an end, oldest first, by what events say of them. */
  readonly #open = new Map<string, Activation[]>();
  #usage = noUsage();
  #omitted = 0;
  #emissions = 0;
  #calls = 0;

  /** A copy of what was gathered. */
  get parts(): Pick<RunTimeline, 'usage' | 'activations' | 'omitted' | 'nodes'> {
    return {
      usage: { ...this.#usage },
      activations: this.#activations.map(({ log, calls = [], ...one }) => ({
        ...one,
        emissions: one.emissions.map((emission) => ({ ...emission })),
        calls: log === undefined ? calls : one.status === 'open' ? log.calls : log.told,
        usage: { ...one.usage },
      })),
      omitted: this.#omitted,
      nodes: [...this.#sums.values()].map((sums) => ({ ...sums, usage: { ...sums.usage } })),
    };
  }

  start(of: NodeAt, { seq, at, attempt }: Moment & { readonly attempt?: number }): void {
    // RAGFlow's words have none for a failure that is followed by another try: the same token begins once more.
    const before = of.token === undefined ? undefined : this.#open.get(keyOf(of))?.[0];
    if (before !== undefined) this.end(of, { seq, at, status: 'retried' });
    this.#begin(of, { seq, at }, attempt ?? (before === undefined ? 1 : before.attempt + 1));
  }

  /** The node starts anew, perhaps under another token, because the process that it was at work in was lost. */
  restart(of: NodeAt, startSeq: number, moment: Moment): void {
    for (const open of this.#open.values()) {
      const [before] = open;
      if (before?.node === of.node && before.startSeq === startSeq) {
        this.end({ ...before }, { ...moment, status: 'retried' });
        break;
      }
    }
    this.start(of, moment);
  }

  /** Something that the node says while it is at work. */
  say(of: NodeAt, { seq, at, kind }: Moment & { readonly kind: TimelineEmission['kind'] }, characters = 0): void {
    const sums = this.#sumsOf(of, at);
    if (kind === 'text' || kind === 'thinking') {
      sums.pieces += 1;
      sums.characters += characters;
    }
    const one = this.#findOpen(of);
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

  /** What a node says of a call while it is at work. */
  call(of: NodeAt, report: CallReport, at: number): void {
    const one = this.#findOpen(of);
    if (one === undefined || (report.type === 'started' && this.#calls >= MAX_RUN_CALLS)) return;
    if (report.type === 'started') this.#calls += 1;
    one.log ??= new CallLog();
    one.log.add(report, at);
  }

  /** What a node is said to have called when it is done; each call goes to the try in which it began. */
  setCalls(of: NodeAt, calls: readonly CallSummary[]): void {
    const one = this.#findOpen(of);
    if (one === undefined) return;
    for (const call of calls.slice(0, MAX_RUN_CALLS - this.#calls)) {
      const owner = call.startedAtMs >= one.startedAtMs ? one : (this.#tryAt(of, call.startedAtMs) ?? one);
      owner.calls = [...(owner.calls ?? []), call];
      this.#calls += 1;
    }
  }

  /** What one model call consumed. */
  count(of: NodeAt, usage: Omit<TimelineUsage, 'calls'>): void {
    for (const sum of [this.#usage, this.#findOpen(of)?.usage, this.#sums.get(of.node)?.usage]) {
      if (sum === undefined) continue;
      sum.promptTokens += usage.promptTokens;
      sum.completionTokens += usage.completionTokens;
      sum.totalTokens += usage.totalTokens;
      sum.calls += 1;
    }
  }

  /** What all calls consumed, where events say only that. */
  setUsage(usage: TimelineUsage): void {
    this.#usage = { ...usage };
  }

  end(
    of: NodeAt,
    moment: Moment & {
      readonly status: ActivationStatus;
      readonly elapsedMs?: number;
      readonly error?: string;
      /** When its message ended, where that event told no time. */
      readonly messageEndedAt?: number;
    },
  ): void {
    const { seq, at, status, error, messageEndedAt } = moment;
    // What began before the log did, or is not said to begin at all, begins here.
    const one = this.#close(of) ?? this.#begin(of, { seq, at: at - (moment.elapsedMs ?? 0) }, 1, false);
    const elapsedMs = moment.elapsedMs ?? at - one.startedAtMs;
    one.log?.stop(at);
    const said = one.emissions.at(-1);
    if (messageEndedAt !== undefined && said?.kind === 'message_end') said.atMs = messageEndedAt;
    one.status = status;
    one.endSeq = seq;
    one.endedAtMs = at;
    one.elapsedMs = elapsedMs;
    if (error !== undefined) one.error = error;
    const sums = this.#sumsOf(of, one.startedAtMs);
    sums.lastEndedAtMs = at;
    sums.busyMs += elapsedMs;
    sums.longestMs = Math.max(sums.longestMs, elapsedMs);
    if (status === 'failed') sums.failures += 1;
    if (status === 'retried') sums.retries += 1;
    if (status === 'skipped') {
      sums.skips += 1;
      sums.activations -= 1;
    }
  }

  #begin(of: NodeAt, { seq, at }: Moment, attempt: number, isOpen = true): Activation {
    const one: Activation = {
      ...of,
      attempt,
      status: 'open',
      startSeq: seq,
      startedAtMs: at,
      emissions: [],
      usage: noUsage(),
    };
    if (this.#activations.length < MAX_ACTIVATIONS) this.#activations.push(one);
    else this.#omitted += 1;
    if (attempt === 1) this.#sumsOf(of, at).activations += 1;
    if (isOpen) this.#open.set(keyOf(of), [...(this.#open.get(keyOf(of)) ?? []), one]);
    return one;
  }

  /** The activation that ends: by its token, or the oldest one of the node. */
  #close(of: NodeAt): Activation | undefined {
    const key = keyOf(of);
    const open = this.#open.get(key);
    const one = open?.shift();
    if (open?.length === 0) this.#open.delete(key);
    return one;
  }

  /** Pieces of text do not always say whose token they belong to. */
  #findOpen(of: NodeAt): Activation | undefined {
    const known = this.#open.get(keyOf(of))?.[0];
    if (known !== undefined || of.token !== undefined) return known;
    for (const [one] of this.#open.values()) if (one?.node === of.node) return one;
    return undefined;
  }

  #tryAt({ token }: NodeAt, at: number): Activation | undefined {
    return this.#activations.findLast((one) => one.token === token && one.startedAtMs <= at);
  }

  #sumsOf({ node, type, name }: NodeAt, at: number): Sums {
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
    if (type !== undefined) sums.type = type;
    if (name !== undefined) sums.name = name;
    return sums;
  }
}

function keyOf({ node, within, token }: NodeAt): string {
  return token === undefined ? `${node} ${within ?? ''}` : `#${token}`;
}

function noUsage(): Usage {
  return { promptTokens: 0, completionTokens: 0, totalTokens: 0, calls: 0 };
}
