import type { CallKind, CallReport } from '../graph/call-notices.js';
import type { Usage } from '../graph/node-events.js';

/** A call that a node made while it was at work: of a model, a tool, or an agent below it. */
export interface TimelineCall {
  /** 1, 2, 3 … within the activation, in the order in which they began. */
  readonly id: number;
  readonly kind: CallKind;
  /** Name of the model, the tool or the agent. */
  readonly name: string;
  /** The call that it is part of. @default the node itself made it */
  readonly parent?: number;
  /** `open`: no end yet. `stopped`: it was ended with its node. */
  readonly status: 'open' | 'done' | 'failed' | 'stopped';
  /** Why it failed. */
  readonly error?: string;
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
  /** When the first piece of an answer came, where that is said. */
  readonly firstPieceAtMs?: number;
  readonly endedAtMs?: number;
  readonly usage?: Omit<Usage, 'type'>;
}

/** Calls of one activation that are kept; later ones are counted. */
const MAX_CALLS = 200;

/** Longest name and longest error, in characters. */
const MAX_NAME = 200;
const MAX_ERROR = 1_000;

type Call = { -readonly [K in keyof TimelineCall]: TimelineCall[K] };

/** The calls of one activation, folded from what its node says of them; in the order in which they began. */
export class CallLog {
  readonly #calls: Call[] = [];
  /** Those without an end, by the id that their node gave them. */
  readonly #open = new Map<string, Call>();
  #omitted = 0;

  /** A copy of what is known so far. */
  get calls(): readonly TimelineCall[] {
    return this.#calls.map((call) => ({ ...call }));
  }

  /** What is told of a node that is done: nothing, when it called nobody or only its one model, which is the node itself. */
  get told(): readonly TimelineCall[] {
    const [first] = this.#calls;
    return this.#calls.length > 1 || (first !== undefined && first.kind !== 'model') ? this.calls : [];
  }

  /** How many are only counted. */
  get omitted(): number {
    return this.#omitted;
  }

  /** @param atMs Milliseconds since 1970. */
  add(report: CallReport, atMs: number): void {
    if (report.type === 'started') this.#start(report, atMs);
    const call = this.#open.get(report.id);
    if (call === undefined) return;
    if (report.type === 'moment') call.firstPieceAtMs ??= atMs;
    if (report.type !== 'finished') return;
    const { error, usage } = report;
    this.#open.delete(report.id);
    call.endedAtMs = atMs;
    call.status = error === undefined ? 'done' : 'failed';
    if (error !== undefined) call.error = String(error.message).slice(0, MAX_ERROR);
    if (usage !== undefined) {
      const { promptTokens, completionTokens, totalTokens } = usage;
      call.usage = { promptTokens, completionTokens, totalTokens };
    }
  }

  /** What has no end ends now, without one of its own; ids may be given again. */
  stop(atMs: number): void {
    for (const call of this.#open.values()) {
      call.status = 'stopped';
      call.endedAtMs = atMs;
    }
    this.#open.clear();
  }

  #start({ id, kind, name, parent }: Extract<CallReport, { type: 'started' }>, atMs: number): void {
    if (this.#open.has(id)) return;
    if (this.#calls.length >= MAX_CALLS) {
      this.#omitted += 1;
      return;
    }
    const around = parent === undefined ? undefined : this.#open.get(parent);
    const call: Call = {
      id: this.#calls.length + 1,
      kind,
      name: name.slice(0, MAX_NAME),
      ...(around !== undefined && { parent: around.id }),
      status: 'open',
      startedAtMs: atMs,
    };
    this.#calls.push(call);
    this.#open.set(id, call);
  }
}
