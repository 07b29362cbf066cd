import type { RagflowProjection } from '../canvas/ragflow-events.js';
import { EngineError } from '../errors.js';
import { type NodeHeader, pathOf, type RunEvent, type RunUsage, type TerminalEvent } from '../graph/events.js';
import { changesState } from '../graph/log.js';
import { addUsage, NO_USAGE } from '../graph/state.js';
import { type LoggedEvent, pagesAfter, type RunLog } from '../records/run-log.js';
import { isLastEvent } from './event-frame.js';
import { isRetraction, Transcript, textOf } from './transcript.js';

/** What a run did before its process was lost, folded from its log. */
export interface RunPast {
  /** Number of its last event. */
  readonly lastSeq: number;
  /** Of all events together. */
  readonly bytes: number;
  /** What it answered, without the text of nodes that start anew. */
  readonly transcript: Transcript;
  readonly usage: RunUsage;
  /** Numbers of the events with which tokens started that had not ended. */
  readonly starts: ReadonlyMap<number, number>;
  /** How often nodes finished, or stored a step of their work that is not done again. */
  readonly finished: number;
  /** Whether it had ended. */
  readonly isOver: boolean;
  /** The event that ended it, if it can be read. */
  readonly last: TerminalEvent | undefined;
  /** The events after {@link PastOptions.after} that change the state, as JSON texts. */
  readonly changes: readonly string[];
  /** Which event cannot be read. */
  readonly problem: EngineError | undefined;
}

/** How a log is read. */
export interface PastOptions {
  readonly projection: RagflowProjection;
  /** Number of the event after which events are collected. */
  readonly after: number;
  /** Events but the last are counted, not read. */
  readonly onlyNumbers: boolean;
}

/** Folds the log of a run. An event that cannot be read is reported with the result. @throws what the log throws. */
export async function readPast(
  log: RunLog,
  tenant: string,
  run: string,
  { projection, after, onlyNumbers }: PastOptions,
): Promise<RunPast> {
  const fold = new Fold(projection, after);
  let lastSeq = 0;
  let bytes = 0;
  let isOver = false;
  for await (const page of pagesAfter(log, tenant, run, 0)) {
    for (const event of page) {
      lastSeq = event.seq;
      bytes += Buffer.byteLength(event.json);
      isOver ||= isLastEvent(event.event);
      if (!onlyNumbers || isOver) fold.read(event);
    }
  }
  const { usage, finished, last, changes, problem, starts } = fold;
  const transcript = fold.transcript();
  return { lastSeq, bytes, isOver, usage, finished, last, changes, problem, starts, transcript };
}

/** A fold over the events of a run. */
class Fold {
  usage = NO_USAGE;
  finished = 0;
  last: TerminalEvent | undefined = undefined;
  problem: EngineError | undefined = undefined;
  /** Starts of nodes that have not ended, by place: there a node runs once at a time, and earlier starts were cancelled. */
  readonly #open = new Map<string, Map<number, number>>();
  readonly changes: string[] = [];
  readonly #after: number;
  readonly #projection: RagflowProjection;
  readonly #transcript: Transcript;
  #pieces: { readonly place: string; readonly node: string; readonly seq: number; readonly text: string }[] = [];

  constructor(projection: RagflowProjection, after: number) {
    this.#after = after;
    this.#projection = projection;
    this.#transcript = new Transcript({ projection, storesTrace: false });
  }

  get starts(): ReadonlyMap<number, number> {
    return new Map([...this.#open.values()].flatMap((starts) => [...starts]));
  }

  read({ seq, json }: LoggedEvent): void {
    try {
      const event = JSON.parse(json) as RunEvent;
      this.#add(event);
      if (seq > this.#after && changesState(event)) this.changes.push(json);
    } catch (cause) {
      const message = `The process of the run was lost, and the run cannot be recovered: its event ${seq} cannot be read.`;
      this.problem ??= new EngineError('RUN_LOST', message, { cause });
    }
  }

  /** What was answered, without the text that nodes report again. */
  transcript(): Transcript {
    for (const [place, starts] of this.#open) this.#retract(place, Math.min(...starts.values()));
    for (const { text, node } of this.#pieces) this.#transcript.addText(text, node);
    return this.#transcript;
  }

  #add(event: RunEvent): void {
    switch (event.type) {
      case 'node-delta':
      case 'node-thinking':
        this.#pieces.push({
          place: pathOf(event),
          node: event.node,
          seq: event.seq,
          text: textOf(event, this.#projection),
        });
        return;
      case 'node-started': {
        const place = pathOf(event);
        if (event.retractFrom !== undefined) this.#retract(place, event.retractFrom);
        this.#open.set(place, (this.#open.get(place) ?? new Map()).set(event.token, event.seq));
        break;
      }
      case 'node-notice':
        if (isRetraction(event)) this.#retract(pathOf(event), 0);
        break;
      case 'node-progress':
        this.finished += 1;
        break;
      case 'node-settled':
        this.#ended(event);
        break;
      case 'node-failed':
        // A node that is tried again starts anew as well, but its text stays.
        if (event.then === 'retry') this.#open.delete(pathOf(event));
        else this.#ended(event);
        break;
      case 'node-usage':
        this.usage = addUsage(this.usage, event);
        break;
      case 'run-interrupted':
      case 'run-settled':
      case 'run-failed':
      case 'run-cancelled':
        this.last = event;
        return;
      default:
        break;
    }
    this.#transcript.add(event);
  }

  #ended(event: NodeHeader): void {
    this.finished += 1;
    this.#open.delete(pathOf(event));
  }

  #retract(place: string, from: number): void {
    this.#pieces = this.#pieces.filter((piece) => piece.place !== place || piece.seq < from);
  }
}
