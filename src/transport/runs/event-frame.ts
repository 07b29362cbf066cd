import type { WireEvent } from '../../canvas/wire-events.js';
import { ERROR_CODES, type ErrorCode } from '../../errors.js';
import type { LoggedEvent } from '../../graph/service-ports.js';
import type { JsonObject } from '../../json.js';

/** An event on its way to clients. */
export interface EventFrame extends LoggedEvent {
  /** Number of the first event in it, when several were merged; `seq` is that of the last. */
  readonly fromSeq?: number;
  /** The event itself; absent when it was read from the log. */
  readonly wire?: WireEvent;
}

/** An event that was just made. */
export interface FreshFrame extends EventFrame {
  readonly wire: WireEvent;
  readonly bytes: number;
}

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

/** The event in a frame; parses one that came from the log. */
export function wireOf(frame: EventFrame): WireEvent {
  // Written above; the failure frame is the one that looks different, and no caller asks for it.
  return frame.wire ?? (JSON.parse(frame.json) as WireEvent);
}

/** RAGFlow's frame for a run that failed; `error` names the code. */
function failureFrame({ data, task_id, session_id }: WireEvent): JsonObject {
  const code = data.code as ErrorCode;
  const { expose, summary } = ERROR_CODES[code];
  return { code: 500, message: expose ? (data.message ?? '') : summary, data: false, task_id, session_id, error: code };
}
