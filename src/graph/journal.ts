/**
 * The journal of a run: what changed its state, in order, so that the state can be rebuilt from a snapshot and what came since.
 *
 * A record names tokens by number. Numbers come from a counter and the rules of the graph are deterministic, so the same
 * records give the same tokens again (see `replay.ts`); a property test compares the two after every settlement.
 */
import { z } from 'zod';
import { EngineError } from '../errors.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { BodyRound } from './component.js';
import type { Interrupt, Outputs, Progress, Settled } from './node-events.js';
import type { Checkpoint } from './state.js';
import type { Token } from './token.js';

/** One change of a run's state. */
export type JournalRecord =
  | ({ readonly type: 'settled'; readonly token: number } & Omit<Settled, 'type'>)
  /** The node failed and other nodes take over. */
  | {
      readonly type: 'rerouted';
      readonly token: number;
      readonly outputs: Outputs;
      readonly targets: readonly number[];
    }
  /** The node failed and nobody in its scope takes over. */
  | { readonly type: 'failed'; readonly token: number; readonly outputs: Outputs }
  | ({ readonly type: 'waiting'; readonly token: number } & Omit<Interrupt, 'type'>)
  | ({ readonly type: 'progress'; readonly token: number } & Omit<Progress, 'type'>)
  /** The node began to stream: its consumers may have been started. */
  | { readonly type: 'streaming'; readonly token: number }
  /** The node starts anew: its consumers were taken back. */
  | { readonly type: 'restarted'; readonly token: number }
  | { readonly type: 'skipped'; readonly token: number }
  /** A pass through the body of the token's node began. */
  | { readonly type: 'opened'; readonly token: number; readonly round: BodyRound }
  /** A pass that waited goes on with answers. */
  | { readonly type: 'woken'; readonly token: number; readonly key: string; readonly answers?: Json | undefined }
  /** It ended, or was cut short. */
  | { readonly type: 'closed'; readonly token: number; readonly key: string };

/** A record with its mark: where the log of the run stood when it was made. */
export interface MarkedRecord {
  readonly record: JournalRecord;
  /** Number of the last event before it; absent when nobody counted. */
  readonly mark: number | undefined;
}

/**
 * Where a run writes its journal; bound to that run.
 *
 * Records and snapshots are taken at once, each right behind what it is about, so that whoever keeps events too can keep both
 * together. They are to be kept when `flush` asks for it, which is once for all that the run does in one go.
 */
export interface Journal {
  /** Takes records, each one JSON text, behind those that are there; they are kept together or not at all. */
  append(records: readonly string[]): void;
  /** Takes a snapshot in the place of everything before. */
  snapshot(checkpoint: Checkpoint): void;
  /**
   * Resolves when everything taken so far is kept; may be called again before that. What is kept is always a beginning of what
   * was taken. After a failure nothing is kept any more, and every further call fails.
   */
  flush(): Promise<void>;
}

/**
 * When a settlement is durable. `sync`: before its successors start. `async`: soon after. `exit`: at the end and when the
 * run waits.
 */
export type Durability = 'exit' | 'async' | 'sync';

/** Bytes of records that a run gathers before it takes a snapshot, unless it is told otherwise. */
const HISTORY_BYTES = 96 * 1024;

/** Records may grow to this part of the last snapshot: what is kept stays below 1.25 times the state. */
const PART_OF_SNAPSHOT = 0.25;

/** What is done when a run has done all it can in one go; `queueMicrotask` costs several times as much. */
const NOW = Promise.resolve();

export interface RecorderOptions {
  readonly journal: Journal;
  readonly durability: Exclude<Durability, 'exit'>;
  /** Takes a snapshot of the run as it is now. */
  readonly checkpoint: () => Checkpoint;
  /** Number of the last event in the run's log, which records are marked with. */
  readonly position: () => number;
  /** Bytes of records that are kept before a snapshot takes their place. @default 96 KiB */
  readonly historyBytes?: number | undefined;
  /** Called when the journal refuses; nobody who waits is called afterwards. */
  readonly whenBroken: (error: unknown) => void;
}

/** Hands the records of a run over in order, and sees that they are kept: once for all that the run does in one go. */
export class Recorder {
  /** Whether successors wait until a settlement is kept. */
  readonly isWaitedFor: boolean;
  readonly #options: RecorderOptions;
  readonly #historyBytes: number;
  /** What was added since the last commit. */
  #records: string[] = [];
  /** Of records since the last snapshot. */
  #bytes = 0;
  /** Of the last snapshot; as many or fewer when it was too small to be measured. */
  #snapshotBytes = Number.POSITIVE_INFINITY;
  #waiting: (() => void)[] = [];
  #isScheduled = false;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#historyBytes = options.historyBytes ?? HISTORY_BYTES;
    this.isWaitedFor = options.durability === 'sync';
  }

  /** Takes where the run starts; records follow it. */
  begin(): void {
    this.#takeSnapshot();
    this.#schedule();
  }

  add(record: JournalRecord): void {
    const text = textOf(record, this.#options.position());
    this.#bytes += text.length;
    this.#records.push(text);
  }

  /** Hands over what was added: it belongs together, and the state holds it. */
  commit(): void {
    if (this.#records.length === 0) return;
    this.#options.journal.append(this.#records);
    this.#records = [];
    this.#schedule();
  }

  /** Calls `next` when everything committed so far is kept, in the order in which it was asked to. */
  whenKept(next: () => void): void {
    this.#waiting.push(next);
    this.#schedule();
  }

  /** Commits; resolves when everything is kept. */
  flush(): Promise<void> {
    this.commit();
    return this.#options.journal.flush();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    void NOW.then(this.#keep);
  }

  readonly #keep = (): void => {
    this.#isScheduled = false;
    if (this.#bytes > Math.max(this.#historyBytes, this.#snapshotBytes * PART_OF_SNAPSHOT)) this.#takeSnapshot();
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#options.journal.flush().then(() => {
      for (let at = 0; at < waiting.length; at += 1) (waiting[at] as () => void)();
    }, this.#options.whenBroken);
  };

  /** Between two things that a run does, when the state holds every record so far and nothing else. */
  #takeSnapshot(): void {
    this.commit();
    const checkpoint = this.#options.checkpoint();
    // What a state holds more than before has been in records. Measuring it takes as long as writing it, so a small one is not.
    this.#snapshotBytes += this.#bytes;
    this.#bytes = 0;
    if (this.#snapshotBytes * PART_OF_SNAPSHOT > this.#historyBytes) {
      this.#snapshotBytes = JSON.stringify(checkpoint.state).length;
    }
    this.#options.journal.snapshot(checkpoint);
  }
}

/** A record as it is kept. By hand for what most nodes leave, else cut and pasted: a copy of the record costs more than its text. */
function textOf(record: JournalRecord, mark: number): string {
  if (record.type === 'settled' && record.next === undefined && record.writes === undefined && record.exit !== true) {
    return `{"type":"settled","token":${record.token},"outputs":${JSON.stringify(record.outputs)},"mark":${mark}}`;
  }
  return `${JSON.stringify(record).slice(0, -1)},"mark":${mark}}`;
}

const outputs = z.custom<JsonObject>(isJsonObject, 'expected an object');
const path = z.array(z.string());
const reference = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('output'), component: z.string(), name: z.string(), path }),
  z.strictObject({ kind: z.literal('variable'), key: z.string() }),
]);
const token = z.number().int().positive();

const recordSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('settled'),
    token,
    outputs,
    next: z.array(z.string()).optional(),
    writes: z.array(z.strictObject({ to: reference, value: z.json() })).optional(),
    exit: z.boolean().optional(),
  }),
  z.strictObject({ type: z.literal('rerouted'), token, outputs, targets: z.array(z.number().int()) }),
  z.strictObject({ type: z.literal('failed'), token, outputs }),
  z.strictObject({ type: z.literal('waiting'), token, payload: outputs.optional(), outputs: outputs.optional() }),
  z.strictObject({
    type: z.literal('progress'),
    token,
    outputs: outputs.optional(),
    append: outputs.optional(),
    nodeState: z.json().optional(),
  }),
  z.strictObject({ type: z.literal('streaming'), token }),
  z.strictObject({ type: z.literal('restarted'), token }),
  z.strictObject({ type: z.literal('skipped'), token }),
  z.strictObject({
    type: z.literal('opened'),
    token,
    round: z.strictObject({
      key: z.string(),
      aliases: outputs.optional(),
      isolated: z.boolean().optional(),
      fresh: z.boolean().optional(),
      closing: z.boolean().optional(),
    }),
  }),
  z.strictObject({ type: z.literal('closed'), token, key: z.string() }),
  z.strictObject({ type: z.literal('woken'), token, key: z.string(), answers: z.json().optional() }),
]);

/**
 * Reads a record as it was written.
 *
 * @throws EngineError CHECKPOINT_INVALID saying what is wrong with it.
 */
export function readRecord(text: string): JournalRecord {
  return readMarkedRecord(text).record;
}

/** As {@link readRecord}, with the mark. */
export function readMarkedRecord(text: string): MarkedRecord {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new EngineError('CHECKPOINT_INVALID', 'A record of the journal is not JSON.', { cause });
  }
  const { mark, ...record } = isJsonObject(value) ? value : {};
  const parsed = recordSchema.safeParse(record);
  if (parsed.success) {
    return { record: parsed.data as JournalRecord, mark: typeof mark === 'number' ? mark : undefined };
  }
  const why = parsed.error.issues.map((issue) => `$.${issue.path.join('.')}: ${issue.message}`).join('; ');
  throw new EngineError('CHECKPOINT_INVALID', `A record of the journal cannot be read: ${why}.`);
}

/** What a settled node leaves in the journal. */
export function settledRecord({ id }: Token, { outputs: values, next, writes, exit }: Settled): JournalRecord {
  // A literal for the common case: spreads cost as much as writing the record.
  if (next === undefined && writes === undefined && exit === undefined) {
    return { type: 'settled', token: id, outputs: values };
  }
  return {
    type: 'settled',
    token: id,
    outputs: values,
    ...(next === undefined ? {} : { next }),
    ...(writes === undefined ? {} : { writes }),
    ...(exit === undefined ? {} : { exit }),
  };
}
