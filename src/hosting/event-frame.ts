import type { WireEvent } from '../canvas/ragflow-events.js';
import type { LoggedEvent } from '../records/stores.js';

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

/** The event in a frame; parses one that came from the log. */
export function wireOf(frame: EventFrame): WireEvent {
  // Written above; the failure frame is the one that looks different, and no caller asks for it.
  return frame.wire ?? (JSON.parse(frame.json) as WireEvent);
}
