/** An event of a run on its way into the log and to clients. */
import type { RagflowProjection, WireEvent } from '../canvas/ragflow-events.js';
import { errorCodeInfo } from '../errors.js';
import { EventWriter } from '../graph/event-json.js';
import { isTerminal, type NodeDelta, type RunEvent, type RunFailed } from '../graph/events.js';
import { escapeJson, isJsonObject, parseOwnJson, utf8Length } from '../json.js';
import type { LoggedEvent } from '../records/run-log.js';
import { isShortened, RepeatedTexts } from './repeated-texts.js';

/** Whether an event of that type is the last of its run. */
export function isLastEvent(type: string): boolean {
  return isTerminal({ type } as RunEvent);
}

/** An event of the engine with its JSON, and its JSON in RAGFlow's format: each is written once for all clients, when it is needed. */
export interface EventFrame extends LoggedEvent {
  /** Of the whole event in UTF-8; of a merged frame an upper bound, since texts that are written together may need fewer escapes. */
  readonly bytes: number;
  /** Number of the first event in it, when several were merged; `seq` is that of the last. */
  readonly fromSeq: number | undefined;
  /** That of its run. */
  readonly projection: RagflowProjection;
  /** The event; parsed at the first use when it was read from a log. */
  readonly source: RunEvent;
  /** The JSON of the event for clients: as it is stored, but for the message of an error that is not for them. */
  readonly engine: string;
  /** The same for clients that have all earlier events: without the texts that stand there, as it is stored. */
  readonly lean: string;
  /** The JSON of the event in RAGFlow's format, without line ends; undefined when it has no counterpart there. */
  readonly ragflow: string | undefined;
  /** The event in RAGFlow's format. */
  readonly wire: WireEvent | undefined;
}

/** Any event but a piece of text that was just made. */
class WholeFrame implements EventFrame {
  readonly seq: number;
  readonly event: string;
  readonly json: string;
  readonly bytes: number;
  readonly projection: RagflowProjection;
  /** Whether it was read from a store, which may hold what no run of ours wrote. */
  readonly isStored: boolean;
  #source: RunEvent | undefined;
  /** All of the event, where `json` is not. */
  #json: string | undefined;
  /** Null before it was projected. */
  #ragflow: string | undefined | null = null;

  /** @param source the event, unless it was read from a log, where `json` is all of it */
  constructor({ seq, event, json, bytes }: Required<LoggedEvent>, projection: RagflowProjection, source?: RunEvent) {
    this.seq = seq;
    this.event = event;
    this.json = json;
    this.bytes = bytes;
    this.projection = projection;
    this.isStored = source === undefined;
    this.#source = source;
  }

  get fromSeq(): undefined {
    return undefined;
  }

  get source(): RunEvent {
    this.#source ??= readSource(this.json, this.seq);
    return this.#source;
  }

  get lean(): string {
    return this.event === 'run-failed' ? this.engine : this.json;
  }

  get engine(): string {
    if (this.event !== 'run-failed') return this.#whole();
    const source = this.source as RunFailed;
    const { expose, summary } = errorCodeInfo(source.error?.code);
    return expose ? this.json : JSON.stringify({ ...source, error: { ...source.error, message: summary } });
  }

  /** All of the event: what was just made may be stored without what earlier ones have. */
  #whole(): string {
    if (this.isStored || !isShortened(this)) return this.json;
    this.#json ??= JSON.stringify(this.source);
    return this.#json;
  }

  get ragflow(): string | undefined {
    if (this.#ragflow === null) {
      try {
        this.#ragflow = this.projection.write(this.source);
      } catch (error) {
        this.#ragflow = this.#leaveOut(error);
      }
    }
    return this.#ragflow;
  }

  get wire(): WireEvent | undefined {
    try {
      return this.projection.project(this.source);
    } catch (error) {
      return this.#leaveOut(error);
    }
  }

  /** An event of a store that has not what its type has was written by no run: it is on no wire. In a live one that is a mistake of ours. */
  #leaveOut(error: unknown): undefined {
    if (!(this.isStored && error instanceof TypeError)) throw error;
  }
}

/** The event that a log holds. */
export function eventOf(stored: LoggedEvent): RunEvent {
  return stored instanceof WholeFrame || stored instanceof PieceFrame
    ? stored.source
    : readSource(stored.json, stored.seq);
}

/** The event of a row; one that is no JSON is of a type that no reader knows. */
function readSource(json: string, seq: number): RunEvent {
  const event = parseOwnJson(json);
  return (isJsonObject(event) ? event : { type: 'unreadable', seq }) as unknown as RunEvent;
}

/** A piece of text. Most frames are, and a log in memory holds them all: what pieces share is in their shape. */
class PieceFrame implements EventFrame {
  readonly seq: number;
  /** Milliseconds after the time of its shape: a small number takes no memory of its own, a time in milliseconds does. */
  readonly late: number;
  readonly text: string;
  readonly bytes: number;
  readonly shape: PieceShape;

  constructor(shape: PieceShape, seq: number, late: number, text: string, bytes: number) {
    this.seq = seq;
    this.late = late;
    this.text = text;
    this.bytes = bytes;
    this.shape = shape;
  }

  get event(): string {
    return 'node-delta';
  }

  get fromSeq(): number | undefined {
    return undefined;
  }

  get projection(): RagflowProjection {
    return this.shape.projection;
  }

  get at(): number {
    return this.shape.at + this.late;
  }

  /** Made for each reader: a log in memory would hold it for long. */
  get json(): string {
    return `${this.shape.before}${this.seq},"at":${this.at},"text":"${escapeJson(this.text)}"}`;
  }

  get engine(): string {
    return this.json;
  }

  get lean(): string {
    return this.json;
  }

  get source(): NodeDelta {
    return { ...this.shape.constants, seq: this.seq, at: this.at, text: this.text };
  }

  get ragflow(): string | undefined {
    const { shape } = this;
    // A piece is published to all clients before the next one is.
    if (shape.written !== this) {
      shape.written = this;
      shape.ragflow = shape.projection.writeText(shape.constants, this.text);
    }
    return shape.ragflow;
  }

  get wire(): WireEvent | undefined {
    return this.projection.project(this.source);
  }
}

/** Neighbouring pieces of one text as one. */
class MergedFrame extends PieceFrame {
  readonly #fromSeq: number;

  constructor(older: PieceFrame, newer: PieceFrame) {
    const bytes = older.bytes + utf8Length(escapeJson(newer.text));
    super(newer.shape, newer.seq, newer.late, older.text + newer.text, bytes);
    this.#fromSeq = older.fromSeq ?? older.seq;
  }

  override get fromSeq(): number {
    return this.#fromSeq;
  }
}

/** What the pieces of one text share. */
interface PieceShape {
  readonly constants: Omit<NodeDelta, 'seq' | 'at' | 'text'>;
  /** Milliseconds since 1970, of the first piece. */
  readonly at: number;
  /** The JSON of a piece up to its number. */
  readonly before: string;
  /** Of everything but the number, the time and the text, in UTF-8. */
  readonly bytes: number;
  readonly projection: RagflowProjection;
  /** The piece that was written in RAGFlow's format last, and how. */
  written: PieceFrame | undefined;
  ragflow: string | undefined;
}

/** What stands between the number and the text, and behind it. */
const AROUND_BYTES = ',"at":,"text":""}'.length;

/** Digits of a whole number; writing it down would take several times as long. */
function digitsOf(value: number): number {
  // A time in milliseconds, from 2001 to 2286.
  if (value >= 1e12 && value < 1e13) return 13;
  let digits = 1;
  for (let rest = value; rest >= 10; rest /= 10) digits += 1;
  return digits;
}

/** Makes the frames of one run. */
export class EventFramer {
  readonly #projection: RagflowProjection;
  readonly #writer = new EventWriter();
  readonly #texts = new RepeatedTexts();
  /** Of the last piece: most follow one of the same node. */
  #shape: PieceShape | undefined = undefined;

  constructor(projection: RagflowProjection) {
    this.#projection = projection;
  }

  /** @throws RangeError when the event is nested too deep to be written as JSON. */
  frame(source: RunEvent): EventFrame {
    const { type: event, seq } = source;
    if (event === 'node-delta') return this.#piece(source);
    const whole = this.#writer.json(source);
    const json = this.#texts.stored(source, whole);
    return new WholeFrame({ seq, event, json, bytes: Buffer.byteLength(whole) }, this.#projection, source);
  }

  #piece(source: NodeDelta): PieceFrame {
    const { seq, at, text } = source;
    let shape = this.#shape;
    if (shape?.constants.token !== source.token || shape.constants.port !== source.port) {
      shape = this.#shapeOf(source);
      this.#shape = shape;
    }
    const bytes = shape.bytes + digitsOf(seq) + digitsOf(at) + utf8Length(escapeJson(text));
    return new PieceFrame(shape, seq, at - shape.at, text, bytes);
  }

  #shapeOf({ type, run, node, within, token, port, at }: NodeDelta): PieceShape {
    const constants = { type, run, node, ...(within !== undefined && { within }), token, port };
    const before = `${JSON.stringify(constants).slice(0, -1)},"seq":`;
    const bytes = Buffer.byteLength(before) + AROUND_BYTES;
    return { constants, at, before, bytes, projection: this.#projection, written: undefined, ragflow: undefined };
  }
}

/** The frame of an event of a log. */
export function storedFrame(stored: LoggedEvent, projection: RagflowProjection): EventFrame {
  if (stored instanceof WholeFrame || stored instanceof PieceFrame) return stored;
  const { seq, event, json, bytes = Buffer.byteLength(json) } = stored;
  return new WholeFrame({ seq, event, json, bytes }, projection);
}

/** Two neighbouring pieces of one text as one frame, numbered as the last; undefined when they are something else. */
export function mergeFrames(older: EventFrame, newer: EventFrame): EventFrame | undefined {
  if (!(older instanceof PieceFrame && newer instanceof PieceFrame) || older.shape !== newer.shape) return undefined;
  return new MergedFrame(older, newer);
}
