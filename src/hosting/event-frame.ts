/** An event of a run on its way into the log and to clients. */
import type { RagflowProjection, WireEvent } from '../canvas/ragflow-events.js';
import { ERROR_CODES } from '../errors.js';
import { isTerminal, type NodeDelta, type RunEvent, type RunFailed } from '../graph/events.js';
import { eventJson } from '../graph/log.js';
import { escapeJson, utf8Length } from '../json.js';
import type { LoggedEvent } from '../records/run-log.js';

/** Whether an event of that type is the last of its run. */
export function isLastEvent(type: string): boolean {
  return isTerminal({ type } as RunEvent);
}

/** An event of the engine with its JSON, and its JSON in RAGFlow's format: each is written once for all clients, when it is needed. */
export class EventFrame implements LoggedEvent {
  readonly seq: number;
  /** Type of the event. */
  readonly event: string;
  /** Of `json` in UTF-8; of a merged frame an upper bound, since texts that are written together may need fewer escapes. */
  readonly bytes: number;
  /** Number of the first event in it, when several were merged; `seq` is that of the last. */
  readonly fromSeq: number | undefined;
  /** What it shares with the other pieces of its text; undefined for all other events, and for those of a log. */
  readonly shape: DeltaShape | undefined;
  /** That of its run. */
  readonly projection: RagflowProjection;
  #json: string | undefined;
  #source: RunEvent | undefined;
  #isProjected = false;
  #ragflow: string | undefined = undefined;

  constructor({ seq, event, json, source, bytes, fromSeq, shape, projection }: FrameParts) {
    this.seq = seq;
    this.event = event;
    this.bytes = bytes;
    this.fromSeq = fromSeq;
    this.shape = shape;
    this.projection = projection;
    this.#json = json;
    this.#source = source;
  }

  /** The event as JSON, without line ends. */
  get json(): string {
    this.#json ??=
      this.shape === undefined ? JSON.stringify(this.#source) : deltaJson(this.shape, this.#source as NodeDelta);
    return this.#json;
  }

  /** The event; parsed at the first use when it was read from a log. */
  get source(): RunEvent {
    this.#source ??= JSON.parse(this.json) as RunEvent;
    return this.#source;
  }

  /** The JSON of the event for clients: as it is stored, but for the message of an error that is not for them. */
  get engine(): string {
    if (this.event !== 'run-failed') return this.json;
    const source = this.source as RunFailed;
    const { expose, summary } = ERROR_CODES[source.error.code];
    return expose ? this.json : JSON.stringify({ ...source, error: { ...source.error, message: summary } });
  }

  /** The JSON of the event in RAGFlow's format, without line ends; undefined when it has no counterpart there. */
  get ragflow(): string | undefined {
    if (!this.#isProjected) {
      this.#isProjected = true;
      this.#ragflow = this.projection.write(this.source);
    }
    return this.#ragflow;
  }

  /** The event in RAGFlow's format. */
  get wire(): WireEvent | undefined {
    return this.projection.project(this.source);
  }
}

/** What a frame is made of. */
export interface FrameParts {
  readonly seq: number;
  readonly event: string;
  readonly bytes: number;
  /** At least one of the two. */
  readonly json: string | undefined;
  readonly source: RunEvent | undefined;
  readonly fromSeq: number | undefined;
  readonly shape: DeltaShape | undefined;
  readonly projection: RagflowProjection;
}

/** Makes the frames of one run. Pieces of text share most of their JSON, which is written once. */
export class EventFramer {
  readonly #projection: RagflowProjection;
  /** Of the last piece: most follow one of the same node. */
  #shape: DeltaShape | undefined = undefined;

  constructor(projection: RagflowProjection) {
    this.#projection = projection;
  }

  /** @throws RangeError when the event is nested too deep to be written as JSON. */
  frame(source: RunEvent): EventFrame {
    const { type: event, seq } = source;
    if (event === 'node-delta') return this.#delta(source);
    const json = eventJson(source);
    return new EventFrame({
      seq,
      event,
      bytes: Buffer.byteLength(json),
      json,
      source,
      fromSeq: undefined,
      shape: undefined,
      projection: this.#projection,
    });
  }

  #delta(source: NodeDelta): EventFrame {
    let shape = this.#shape;
    if (shape?.token !== source.token || shape.port !== source.port) {
      shape = shapeOf(source);
      this.#shape = shape;
    }
    const { seq, at, text } = source;
    return new EventFrame({
      seq,
      event: 'node-delta',
      bytes: shape.bytes + headOf(seq, at).length + utf8Length(escapeJson(text)),
      // Written when it is stored or sent; text for a log in this process may never be.
      json: undefined,
      source,
      fromSeq: undefined,
      shape,
      projection: this.#projection,
    });
  }
}

/** What the pieces of one text share. */
export interface DeltaShape {
  readonly token: number;
  readonly port: string;
  /** The JSON of a piece up to its number. */
  readonly before: string;
  /** Of that and of what ends a piece, in UTF-8. */
  readonly bytes: number;
}

function shapeOf({ type, run, node, within, token, port }: NodeDelta): DeltaShape {
  const before = `${JSON.stringify({ type, run, node, ...(within !== undefined && { within }), token, port }).slice(0, -1)},"seq":`;
  return { token, port, before, bytes: Buffer.byteLength(before) + 2 };
}

function deltaJson({ before }: DeltaShape, { seq, at, text }: NodeDelta): string {
  return `${before}${headOf(seq, at)}${escapeJson(text)}"}`;
}

function headOf(seq: number, at: number): string {
  return `${seq},"at":${at},"text":"`;
}

/** The frame of an event of a log. */
export function storedFrame(stored: LoggedEvent, projection: RagflowProjection): EventFrame {
  const { seq, event, json, bytes = Buffer.byteLength(json) } = stored;
  return new EventFrame({
    seq,
    event,
    bytes,
    json,
    source: undefined,
    fromSeq: undefined,
    shape: undefined,
    projection,
  });
}

/** Two neighbouring pieces of one text as one frame, numbered as the last; undefined when they are something else. */
export function mergeFrames(older: EventFrame, newer: EventFrame): EventFrame | undefined {
  const { shape, seq, event, projection } = newer;
  if (shape === undefined || older.shape !== shape) return undefined;
  const { type, run, at, node, within, token, port, text: added } = newer.source as NodeDelta;
  const text = (older.source as NodeDelta).text + added;
  return new EventFrame({
    seq,
    event,
    bytes: older.bytes + utf8Length(escapeJson(added)),
    // Written when it is sent: it may still grow until then.
    json: undefined,
    // Field by field: a spread costs several times as much, for every piece that waits.
    source:
      within === undefined
        ? { type, run, seq, at, node, token, port, text }
        : { type, run, seq, at, node, within, token, port, text },
    fromSeq: older.fromSeq ?? older.seq,
    shape,
    projection,
  });
}
