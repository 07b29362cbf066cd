import type { WireEvent } from '../canvas/ragflow-events.js';
import type { WirePast } from '../canvas/wire-past.js';
import { EngineError } from '../errors.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { LoggedEvent, RunLog, RunRecord, RunUsage } from '../records/stores.js';
import { isLastEvent } from './last-event.js';
import { Transcript, textOf } from './transcript.js';

const PAGE = { maxEvents: 2_000, maxBytes: 4 * 1024 * 1024 };

/** What a run said before its process was lost, folded from its log. */
export interface RunPast extends WirePast {
  /** Number of its last event. */
  readonly lastSeq: number;
  /** Of all events together. */
  readonly bytes: number;
  /** What it said, without the text of nodes that start anew. */
  readonly transcript: Transcript;
  /** How often nodes finished. */
  readonly finished: number;
  /** The event that ended it, if it had ended. */
  readonly last: LoggedEvent | undefined;
  /** Which event does not say what the run did. */
  readonly problem: EngineError | undefined;
}

/** How a log is read. */
export interface PastOptions {
  /** What the journal says of it. @default what the record says */
  readonly usage?: RunUsage | undefined;
  /** Leaves alone what the events say. */
  readonly onlyNumbers: boolean;
}

/** Reads what is in the log of a run. An event that says nonsense is told with the past. @throws what the log throws. */
export async function readPast(
  log: RunLog,
  tenant: string,
  record: RunRecord,
  { usage, onlyNumbers }: PastOptions,
): Promise<RunPast> {
  const fold = new Fold();
  let lastSeq = 0;
  let bytes = 0;
  let finished = 0;
  let last: LoggedEvent | undefined;
  let problem: EngineError | undefined;
  const take = (event: LoggedEvent): void => {
    lastSeq = event.seq;
    bytes += Buffer.byteLength(event.json);
    if (event.event === 'node_finished') finished += 1;
    if (isLastEvent(event.event)) last = event;
    else if (!onlyNumbers) problem ??= tryToAdd(fold, event);
  };
  await readAll(log, tenant, record.id, take);
  return {
    startedAt: record.startedAt,
    createdAt: fold.createdAt ?? Math.floor(record.startedAt / 1000),
    // A run that answers a form says nothing before its first node does.
    hasBegun: lastSeq > 0 || record.parentRun !== undefined,
    usage: usage ?? record.usage,
    takeStart: (node, within) => fold.starts.get(placeOf(node, within))?.pop(),
    lastSeq,
    bytes,
    finished,
    transcript: fold.transcript(),
    last,
    problem,
  };
}

async function readAll(log: RunLog, tenant: string, run: string, take: (event: LoggedEvent) => void): Promise<void> {
  for (let after = 0; ; ) {
    const page = (await log.read(tenant, run, after, PAGE)) ?? [];
    if (page.length === 0) return;
    for (const event of page) {
      take(event);
      after = event.seq;
    }
  }
}

function tryToAdd(fold: Fold, event: LoggedEvent): EngineError | undefined {
  try {
    fold.add(event);
    return undefined;
  } catch (cause) {
    const message = `The process that the run was in was lost, and it cannot go on: its event ${event.seq} cannot be read.`;
    return new EngineError('RUN_LOST', message, { cause });
  }
}

/** A fold over the events of a run. */
class Fold {
  createdAt: number | undefined = undefined;
  /**
   * Numbers of the events with which nodes started that have not finished, by place: there a node runs once at a time, and whatever it
   * began before was taken back.
   */
  readonly starts = new Map<string, number[]>();
  readonly #transcript = new Transcript({ keepsTrace: false });
  #pieces: { readonly place: string; readonly seq: number; readonly text: string }[] = [];

  add({ seq, json }: LoggedEvent): void {
    const event = JSON.parse(json) as WireEvent;
    const data: JsonObject = isJsonObject(event.data) ? event.data : {};
    const place = placeOf(String(data.component_id ?? ''), data.within);
    this.createdAt ??= event.created_at;
    switch (event.event) {
      case 'message':
        this.#pieces.push({ place, seq, text: textOf(data) });
        return;
      case 'node_started':
        this.#start(place, seq);
        break;
      case 'node_restarted':
        this.#retract(place, Number(data.retract_from));
        this.#start(place, seq);
        break;
      case 'node_finished':
        this.starts.delete(place);
        break;
    }
    this.#transcript.add(event);
  }

  transcript(): Transcript {
    for (const [place, starts] of this.starts) {
      if (starts.length > 0) this.#retract(place, Math.min(...starts));
    }
    for (const { text } of this.#pieces) this.#transcript.addText(text);
    return this.#transcript;
  }

  #start(place: string, seq: number): void {
    const starts = this.starts.get(place) ?? [];
    starts.push(seq);
    this.starts.set(place, starts);
  }

  #retract(place: string, from: number): void {
    this.#pieces = this.#pieces.filter((piece) => piece.place !== place || piece.seq < from);
  }
}

/** A node, and the round of a body that it is in. */
function placeOf(node: string, within: Json | undefined): string {
  return typeof within === 'string' ? `${within}/${node}` : node;
}
