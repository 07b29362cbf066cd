/** Sums up what a node reported of its calls, for the event that ends the activation. No rule of the engine reads it. */
import type { JsonObject } from '../json.js';
import type { CallKind, CallReport, Usage } from './node-events.js';

/** One call of an activation, folded from its reports. */
export interface CallSummary {
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
  /** When the first piece of an answer came, where that is reported. */
  readonly firstPieceAtMs?: number;
  readonly endedAtMs?: number;
  readonly usage?: Omit<Usage, 'type'>;
}

/** A call with the id that its node gave it, by which its reports name it. */
export interface KeyedCall extends CallSummary {
  readonly key: string;
  /** What was asked, where a report tells it; no summary has it. */
  readonly asked?: JsonObject;
}

/** Calls of one activation that are summed up; later ones are counted. */
const MAX_CALLS = 200;

/** Longest name and longest error, in characters. */
const MAX_NAME = 200;
const MAX_ERROR = 1_000;

type MutableCall = { -readonly [K in keyof KeyedCall]: KeyedCall[K] };

/** The calls of one activation, folded from its reports; in the order in which they began. */
export class CallLog {
  readonly #calls: MutableCall[] = [];
  /** Those without an end, by the id that their node gave them. */
  readonly #open = new Map<string, MutableCall>();
  #omitted = 0;

  /** @param calls what another log knew, to go on with */
  constructor(calls: readonly KeyedCall[] = []) {
    for (const call of calls) {
      const own = { ...call };
      this.#calls.push(own);
      if (own.status === 'open') this.#open.set(own.key, own);
    }
  }

  /** A copy of what is known so far. */
  get calls(): readonly CallSummary[] {
    return this.#calls.map(({ key: _, asked: __, ...call }) => call);
  }

  /** The same with the ids that the node gave. */
  get keyed(): readonly KeyedCall[] {
    return this.#calls.map((call) => ({ ...call }));
  }

  /** What an event carries: nothing when there was no call, or only that of the node's one model, which is the node itself. */
  get told(): readonly CallSummary[] {
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

  /** Ends the open calls, which have no end of their own; their ids may be given again. */
  stop(atMs: number): void {
    for (const call of this.#open.values()) {
      call.status = 'stopped';
      call.endedAtMs = atMs;
    }
    this.#open.clear();
  }

  #start({ id, kind, name, parent, asked }: Extract<CallReport, { type: 'started' }>, atMs: number): void {
    if (this.#open.has(id)) return;
    if (this.#calls.length >= MAX_CALLS) {
      this.#omitted += 1;
      return;
    }
    const around = parent === undefined ? undefined : this.#open.get(parent);
    const call: MutableCall = {
      key: id,
      id: this.#calls.length + 1,
      kind,
      name: name.slice(0, MAX_NAME),
      ...(around !== undefined && { parent: around.id }),
      status: 'open',
      startedAtMs: atMs,
      ...(asked !== undefined && { asked }),
    };
    this.#calls.push(call);
    this.#open.set(id, call);
  }
}
