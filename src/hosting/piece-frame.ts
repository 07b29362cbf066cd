/** The frame of a piece of text: nearly every frame is one, so it costs two concatenations, a count and no object beside it. */
import { pieceEvent, type Speaker, type WireEvent, type WireHeader } from '../canvas/ragflow-events.js';
import type { FreshFrame } from './event-frame.js';

/** What all pieces of one speaker in one run share. */
export class PieceShape {
  readonly header: WireHeader;
  readonly speaker: Speaker;
  /** The JSON of every piece up to the escapes of its text, and what follows them. */
  readonly before: string;
  readonly after: string;
  readonly bytes: number;

  constructor(header: WireHeader, { node, within }: Speaker) {
    this.header = header;
    this.speaker = within === undefined ? { node } : { node, within };
    // An empty text is found by what must follow it: the header may hold any text, the end of the event may not.
    const empty = JSON.stringify(pieceEvent(header, this.speaker, ''));
    const place = within === undefined ? '' : `,"within":${JSON.stringify(within)}`;
    const tail = `","component_id":${JSON.stringify(node)}${place}}}`;
    this.before = empty.slice(0, empty.length - tail.length);
    this.after = tail;
    this.bytes = Buffer.byteLength(empty);
  }

  isOf(header: WireHeader, { node, within }: Speaker): boolean {
    return this.header === header && this.speaker.node === node && this.speaker.within === within;
  }
}

/** A piece of text on its way to clients. */
export class PieceFrame implements FreshFrame {
  readonly seq: number;
  readonly json: string;
  readonly bytes: number;
  readonly shape: PieceShape;
  readonly text: string;

  constructor(seq: number, shape: PieceShape, text: string) {
    this.seq = seq;
    this.shape = shape;
    this.text = text;
    const plainBytes = bytesOfPlain(text);
    if (plainBytes >= 0) {
      this.json = shape.before + text + shape.after;
      this.bytes = shape.bytes + plainBytes;
    } else {
      const escaped = escapesOf(text);
      this.json = shape.before + escaped + shape.after;
      this.bytes = shape.bytes + Buffer.byteLength(escaped);
    }
  }

  get event(): string {
    return 'message';
  }

  get wire(): WireEvent {
    const { header, speaker } = this.shape;
    return pieceEvent(header, speaker, this.text);
  }
}

/** Neighbouring pieces as one frame, numbered as the last. Serialised when it is sent: it may still grow until then. */
export class MergedFrame implements FreshFrame {
  readonly seq: number;
  readonly fromSeq: number;
  /** At least what it takes: a later piece adds its text alone. */
  readonly bytes: number;
  readonly shape: PieceShape;
  readonly text: string;

  constructor(older: PieceFrame | MergedFrame, newer: PieceFrame) {
    this.seq = newer.seq;
    this.fromSeq = older instanceof MergedFrame ? older.fromSeq : older.seq;
    this.bytes = older.bytes + newer.bytes - newer.shape.bytes;
    this.shape = older.shape;
    this.text = older.text + newer.text;
  }

  get json(): string {
    const { before, after } = this.shape;
    return before + escapesOf(this.text) + after;
  }

  get event(): string {
    return 'message';
  }

  get wire(): WireEvent {
    const { header, speaker } = this.shape;
    return pieceEvent(header, speaker, this.text);
  }
}

/** Above it, JSON's own loop is faster than ours. */
const LONG_TEXT = 128;

/** Bytes of a text in UTF-8 when JSON writes it as it is; -1 when it needs escapes, or is too long to be looked at here. */
function bytesOfPlain(text: string): number {
  const { length } = text;
  if (length > LONG_TEXT) return -1;
  let bytes = length;
  for (let at = 0; at < length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x80) {
      if (code < 0x20 || code === 0x22 || code === 0x5c) return -1;
    } else if (code < 0x800) {
      bytes += 1;
    } else if (code < 0xd800 || code > 0xdfff) {
      bytes += 2;
    } else {
      // Half of a pair may stand alone, and is escaped then.
      return -1;
    }
  }
  return bytes;
}

/** A text as JSON writes it, without the quotes around. */
function escapesOf(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
