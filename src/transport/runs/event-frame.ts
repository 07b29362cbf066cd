import type { WireEvent } from '../../canvas/wire-events.js';
import type { ErrorCode } from '../../errors.js';
import { ERROR_CODES } from '../../errors.js';
import type { LoggedEvent } from '../../graph/service-ports.js';
import type { JsonObject } from '../../json.js';

/** An event on its way to clients. */
export interface EventFrame extends LoggedEvent {
  /** Number of the first event in it, when several were merged; `seq` is that of the last. */
  readonly fromSeq?: number;
  /** The event itself; absent when it was read from the log. */
  readonly wire?: WireEvent;
}

/** Serialises an event, once for all its readers. A failure becomes RAGFlow's code-500 frame. */
export function frameOf(seq: number, wire: WireEvent): EventFrame {
  const { event } = wire;
  return { seq, event, json: JSON.stringify(event === 'error' ? failureFrame(wire) : wire), wire };
}

/** The event in a frame; parses one that came from the log. */
export function wireOf(frame: EventFrame): WireEvent {
  // Written by `frameOf`; the failure frame is the one that looks different, and no caller asks for it.
  return frame.wire ?? (JSON.parse(frame.json) as WireEvent);
}

/** RAGFlow's frame for a run that failed; `error` names the code. */
function failureFrame({ data, task_id, session_id }: WireEvent): JsonObject {
  const code = data.code as ErrorCode;
  const { expose, summary } = ERROR_CODES[code];
  return { code: 500, message: expose ? (data.message ?? '') : summary, data: false, task_id, session_id, error: code };
}
