import type { Speaker, WireEvent, WireHeader } from '../canvas/ragflow-events.js';
import { ERROR_CODES, type ErrorCode } from '../errors.js';
import type { JsonObject } from '../json.js';
import type { FreshFrame } from './event-frame.js';
import { PieceFrame, PieceShape } from './piece-frame.js';

/**
 * Serialises the events of one run, each once for all its readers.
 *
 * All of them share most of their text, which is written once: that halves the time and the memory of a piece of a message.
 */
export class EventFramer {
  /** The event whose shared text was written last. */
  #model: WireEvent | undefined = undefined;
  #shared = '';
  #sharedBytes = 0;
  /** Of speakers outside of bodies, which are few, and that of the last piece. */
  readonly #shapes = new Map<string, PieceShape>();
  #shape: PieceShape | undefined = undefined;

  /** A piece of text. */
  piece(seq: number, header: WireHeader, speaker: Speaker, text: string): PieceFrame {
    const shape = this.#shape?.isOf(header, speaker) === true ? this.#shape : this.#turnTo(header, speaker);
    return new PieceFrame(seq, shape, text);
  }

  /** A failure becomes RAGFlow's code-500 frame. */
  frame(seq: number, wire: WireEvent): FreshFrame {
    const { event } = wire;
    if (event === 'error') {
      const json = JSON.stringify(failureFrame(wire));
      return { seq, event, json, wire, bytes: Buffer.byteLength(json) };
    }
    if (!this.#isLikeModel(wire)) this.#remember(wire);
    const data = JSON.stringify(wire.data);
    return {
      seq,
      event,
      json: `{"event":"${event}",${this.#shared},"data":${data}}`,
      wire,
      bytes: AROUND_BYTES + event.length + this.#sharedBytes + Buffer.byteLength(data),
    };
  }

  #turnTo(header: WireHeader, speaker: Speaker): PieceShape {
    let shape = this.#shapes.get(speaker.node);
    if (shape?.isOf(header, speaker) !== true) {
      shape = new PieceShape(header, speaker);
      if (speaker.within === undefined) this.#shapes.set(speaker.node, shape);
    }
    this.#shape = shape;
    return shape;
  }

  #isLikeModel(wire: WireEvent): boolean {
    const model = this.#model;
    return (
      model !== undefined &&
      model.message_id === wire.message_id &&
      model.created_at === wire.created_at &&
      model.task_id === wire.task_id &&
      model.session_id === wire.session_id
    );
  }

  #remember(wire: WireEvent): void {
    const { event: _, data: __, ...shared } = wire;
    this.#model = wire;
    this.#shared = JSON.stringify(shared).slice(1, -1);
    this.#sharedBytes = Buffer.byteLength(this.#shared);
  }
}

const AROUND_BYTES = '{"event":"",,"data":}'.length;

/** RAGFlow's frame for a run that failed; `error` names the code, `calls` what nodes were calling then. */
function failureFrame({ data, task_id, session_id }: WireEvent): JsonObject {
  const code = data.code as ErrorCode;
  const { expose, summary } = ERROR_CODES[code];
  const message = expose ? (data.message ?? '') : summary;
  const { calls } = data;
  return { code: 500, message, data: false, task_id, session_id, error: code, ...(calls !== undefined && { calls }) };
}
