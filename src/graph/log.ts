/**
 * The log of a run: its events in order, with a snapshot of the state now and then.
 *
 * `state = foldState(plan, snapshot, the events behind it)`. Numbers of tokens come from a counter and the rules of the graph are
 * deterministic, so the same events give the same tokens again.
 */

import { z } from 'zod';
import { jsonObject } from '../dsl/json-object.js';
import { EngineError } from '../errors.js';
import { isJsonObject, type Json } from '../json.js';
import { EventWriter, isPlainSettlement } from './event-json.js';
import type { NodeSettled, RunEvent } from './events.js';
import type { Checkpoint } from './state.js';
import { storeValue, type ValueCodec } from './typed.js';

/**
 * Where a run writes its log; bound to that run.
 *
 * Events and snapshots are taken at once and stored when `flush` asks for it, which is once for all that the run does in one go.
 */
export interface EventLog {
  /** Whether the last event is stored together with everything before it, so that nothing needs to be stored first. @default false */
  readonly storesEndAtOnce?: boolean;
  /** Takes the next event. May return the bytes that it takes in the store, which decide when a snapshot is due. */
  append(event: RunEvent): unknown;
  /**
   * Takes a snapshot: the state after the event with the number `checkpoint.seq`. May return the bytes that it takes in the store, which
   * decide when the next one is due; otherwise they are counted by writing it as JSON once more.
   */
  snapshot(checkpoint: Checkpoint): unknown;
  /**
   * Resolves when everything taken so far is stored; may be called again before that. What is stored is always a prefix of what was
   * taken. After a failure nothing is stored any more, and every further call fails.
   */
  flush(): Promise<void>;
  /**
   * A promise while more is taken than may wait to be stored; it settles when there is room again. The run begins no node until then,
   * and its models are not read on. Undefined while there is room, always so for a log without a bound.
   */
  ready?(): Promise<void> | undefined;
}

/**
 * When a settlement is durable. `sync`: before its successors start. `async`: soon after. `exit`: at the end and when the
 * run waits.
 */
export type Durability = 'exit' | 'async' | 'sync';

/** Bytes of events that are appended before a snapshot is taken, however small the state is. */
const MIN_BYTES = 96 * 1024;

/** What an event for observers counts for when the log does not tell. */
const BYTES_OF_OBSERVATION = 256;

/** What is done when a run has done all it can in one go; `queueMicrotask` costs several times as much. */
const NOW = Promise.resolve();

export interface LogWriterOptions {
  readonly log: EventLog;
  readonly durability: Durability;
  /** Takes a snapshot of the run as it is now. */
  readonly checkpoint: () => Checkpoint;
  /** Bytes of events that are appended before a snapshot is taken. @default 96 KiB */
  readonly minBytes?: number | undefined;
  /** Called when the log refuses; callbacks that wait are not called afterwards. */
  readonly whenBroken: (error: unknown) => void;
}

/** Appends the events of a run in order, and sees that they are stored: once for all that the run does in one go. */
export class LogWriter {
  /** Whether successors wait until a settlement is stored. */
  readonly isAwaited: boolean;
  readonly #options: LogWriterOptions;
  /** Made for the first event whose bytes the log does not tell. */
  #writer: EventWriter | undefined = undefined;
  /** Of events since the last snapshot. */
  #bytes = 0;
  /** Of the last snapshot; undefined while the first has not been measured, which takes as long as writing it. */
  #snapshotBytes: number | undefined = undefined;
  #waiting: (() => void)[] = [];
  #isScheduled = false;

  constructor(options: LogWriterOptions) {
    this.#options = options;
    this.isAwaited = options.durability === 'sync';
  }

  /** Takes the state in which the run starts; events follow it. */
  begin(): void {
    const bytes = this.#options.log.snapshot(this.#options.checkpoint());
    if (typeof bytes === 'number') this.#snapshotBytes = bytes;
    this.#schedule();
  }

  append(event: RunEvent): void {
    const bytes = this.#options.log.append(event);
    const isState = changesState(event);
    if (typeof bytes === 'number') this.#bytes += bytes;
    else this.#bytes += isState ? this.#lengthOf(event) : BYTES_OF_OBSERVATION;
    if (isState) this.#schedule();
  }

  #lengthOf(event: RunEvent): number {
    this.#writer ??= new EventWriter();
    return this.#writer.json(event).length;
  }

  /** Calls `next` when everything appended so far is stored, in the order of the calls. */
  afterCommit(next: () => void): void {
    this.#waiting.push(next);
    this.#schedule();
  }

  /** Resolves when everything appended so far is stored; undefined where that is at the end alone. */
  stored(): Promise<void> | undefined {
    if (this.#options.durability === 'exit') return undefined;
    return new Promise((resolve) => this.afterCommit(resolve));
  }

  /** Resolves when everything before the last event is stored, or will be in one step with that. */
  async beforeEnd(): Promise<void> {
    if (this.#options.log.storesEndAtOnce !== true) await this.#options.log.flush();
  }

  /** See {@link EventLog.ready}. */
  ready(): Promise<void> | undefined {
    return this.#options.log.ready?.();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#options.durability === 'exit') return;
    this.#isScheduled = true;
    void NOW.then(this.#commit);
  }

  readonly #commit = (): void => {
    this.#isScheduled = false;
    if (this.#bytes > Math.max(this.#options.minBytes ?? MIN_BYTES, this.#snapshotBytes ?? 0)) this.#takeSnapshot();
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#options.log.flush().then(() => {
      for (let at = 0; at < waiting.length; at += 1) (waiting[at] as () => void)();
    }, this.#options.whenBroken);
  };

  /** Between two goes of the run, when the state holds every event so far and nothing else. */
  #takeSnapshot(): void {
    const checkpoint = this.#options.checkpoint();
    const isFirst = this.#snapshotBytes === undefined;
    if (isFirst) {
      this.#snapshotBytes = bytesOf(checkpoint);
      if (this.#options.minBytes === undefined && this.#bytes <= this.#snapshotBytes) return;
    }
    this.#bytes = 0;
    const bytes = this.#options.log.snapshot(checkpoint);
    if (typeof bytes === 'number') this.#snapshotBytes = bytes;
    else if (!isFirst) this.#snapshotBytes = bytesOf(checkpoint);
  }
}

/** What a snapshot takes as JSON, for a log that does not count it. */
function bytesOf({ state }: Checkpoint): number {
  return JSON.stringify(state).length;
}

/** Whether an event changes the state; see the events marked *state*. */
export function changesState({ type }: RunEvent): boolean {
  switch (type) {
    case 'node-settled':
    case 'node-failed':
    case 'node-interrupted':
    case 'node-progress':
    case 'node-usage':
    case 'node-streaming':
    case 'node-patched':
    case 'node-skipped':
    case 'body-opened':
    case 'body-resumed':
    case 'body-closed':
      return true;
    default:
      return false;
  }
}

const path = z.array(z.string());
const ids = z.array(z.string());
const reference = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('output'), component: z.string(), name: z.string(), path }),
  z.strictObject({ kind: z.literal('variable'), key: z.string() }),
]);
const storedValue = z.union([z.strictObject({ v: z.json() }), z.strictObject({ c: z.array(z.json()) })]);
const header = { seq: z.number().int().nonnegative(), token: z.number().int().positive() };

const stateEventSchema = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('node-settled'),
    ...header,
    outputs: jsonObject,
    stored: storedValue.optional(),
    next: ids.optional(),
    writes: z.array(z.strictObject({ to: reference, value: z.json() })).optional(),
    exit: z.boolean().optional(),
  }),
  z.looseObject({
    type: z.literal('node-failed'),
    ...header,
    outputs: jsonObject,
    // biome-ignore lint/suspicious/noThenProperty: the name of the field in the contract
    then: z.enum(['goto', 'retry', 'body', 'run']),
    next: ids.optional(),
  }),
  z.looseObject({
    type: z.literal('node-interrupted'),
    ...header,
    payload: jsonObject.optional(),
    outputs: jsonObject.optional(),
  }),
  z.looseObject({
    type: z.literal('node-progress'),
    ...header,
    outputs: jsonObject.optional(),
    append: jsonObject.optional(),
    nodeState: z.json().optional(),
  }),
  z.looseObject({
    type: z.literal('node-usage'),
    ...header,
    promptTokens: z.number(),
    completionTokens: z.number(),
    totalTokens: z.number(),
  }),
  z.looseObject({ type: z.literal('node-streaming'), ...header, next: ids.optional() }),
  z.looseObject({ type: z.literal('node-patched'), ...header, state: z.string(), stored: storedValue }),
  z.looseObject({ type: z.literal('node-skipped'), ...header }),
  z.looseObject({
    type: z.literal('body-opened'),
    ...header,
    round: z.strictObject({
      key: z.string(),
      aliases: jsonObject.optional(),
      isolated: z.boolean().optional(),
      fresh: z.boolean().optional(),
      closing: z.boolean().optional(),
      stored: storedValue.optional(),
      isLive: z.boolean().optional(),
    }),
  }),
  z.looseObject({ type: z.literal('body-resumed'), ...header, key: z.string(), answers: z.json().optional() }),
  z.looseObject({ type: z.literal('body-closed'), ...header, key: z.string() }),
]);

/** An event of a typed plan as a log takes it: with its values as JSON alone. */
export function storedEvent(codec: ValueCodec, event: RunEvent): RunEvent {
  switch (event.type) {
    case 'run-started':
      return { ...event, input: storedInput(codec, event.input) };
    case 'node-settled':
      if (!('value' in event)) return event;
      return isPlainSettlement(event) && event.within === undefined
        ? settlementWithoutValue(event)
        : { ...event, value: undefined };
    case 'node-chunk':
      return { ...event, value: undefined };
    case 'node-patched': {
      const { patch, ...rest } = event;
      return rest;
    }
    case 'body-opened': {
      const { value, ...round } = event.round;
      return { ...event, round };
    }
    case 'run-settled': {
      const { value, ...rest } = event;
      return { ...rest, input: storedInput(codec, event.input), stored: storeValue(codec, value, '$.result') };
    }
    case 'run-interrupted':
    case 'run-failed':
    case 'run-cancelled':
      return { ...event, input: storedInput(codec, event.input) };
    default:
      return event;
  }
}

/** A literal: most events of a log are like this. */
function settlementWithoutValue({
  type,
  run,
  seq,
  at,
  node,
  token,
  outputs,
  stored,
  elapsedMs,
}: NodeSettled): NodeSettled {
  if (stored === undefined) return { type, run, seq, at, node, token, outputs, elapsedMs };
  return { type, run, seq, at, node, token, outputs, stored, elapsedMs };
}

/** The log tells the input of a run to people; what nodes got is stored with their tokens. */
export function storedInput(codec: ValueCodec, input: Json): Json {
  return codec.toJson(input, '$.input');
}

/** Types of events for observers, which a fold passes over. */
const OBSERVATIONS: readonly unknown[] = [
  'run-started',
  'node-started',
  'node-delta',
  'node-chunk',
  'node-thinking',
  'node-notice',
  'node-call',
  'run-interrupted',
  'run-settled',
  'run-failed',
  'run-cancelled',
] satisfies RunEvent['type'][];

/**
 * Reads an event of a log. What changes the state is checked; of the others only the type is.
 *
 * @throws EngineError CHECKPOINT_INVALID saying what is wrong with it.
 */
export function readEvent(text: string): RunEvent {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new EngineError('CHECKPOINT_INVALID', 'An event of the log is not JSON.', { cause });
  }
  if (isJsonObject(value) && OBSERVATIONS.includes(value.type)) return value as unknown as RunEvent;
  const parsed = stateEventSchema.safeParse(value);
  if (parsed.success) return parsed.data as unknown as RunEvent;
  const why = parsed.error.issues.map((issue) => `$.${issue.path.join('.')}: ${issue.message}`).join('; ');
  throw new EngineError('CHECKPOINT_INVALID', `An event of the log cannot be read: ${why}.`);
}
