import type { MonoTypeOperatorFunction, Observable } from 'rxjs';
import type { WireEvent } from '../../canvas/wire-events.js';
import { EngineError } from '../../errors.js';
import { coalesce } from '../../operators/coalesce.js';
import type { EventFrame } from './event-frame.js';

/** How {@link coalesceFrames} waits for one client. */
export interface CoalesceFramesOptions {
  /** Whether the client takes frames. */
  readonly ready$: Observable<boolean>;
  /** The most that may wait for it. */
  readonly maxBytes: number;
}

/**
 * Holds frames back while a client does not take them; neighbouring pieces of one message become one frame.
 *
 * ```text
 * source    --a--b--c--X-----|      (a, b, c: pieces of text; X: anything else)
 * ready$    t---f--------t----
 * result    --a----------(BX)-|     (B: b and c in one frame, numbered as c)
 * ```
 *
 * Errors: LIMIT_REACHED when more than `maxBytes` would wait.
 */
export function coalesceFrames({ ready$, maxBytes }: CoalesceFramesOptions): MonoTypeOperatorFunction<EventFrame> {
  return coalesce<EventFrame>({ ready$, maxSize: maxBytes, merge: mergePieces, size: sizeOf, overflow: tooSlow });
}

/** Two pieces of text of one message as one frame; undefined when they are not that. */
export function mergePieces(older: EventFrame, newer: EventFrame): EventFrame | undefined {
  const { wire: first } = older;
  const { wire: second } = newer;
  if (first === undefined || second === undefined || !isPiece(first) || !isPiece(second)) return undefined;
  if (first.data.component_id !== second.data.component_id || first.message_id !== second.message_id) return undefined;
  return new MergedFrame(older, newer, `${first.data.content}${second.data.content}`);
}

/** Serialised when it is sent: while a client waits, every piece would otherwise serialise all that came before it. */
class MergedFrame implements EventFrame {
  readonly seq: number;
  readonly fromSeq: number;
  readonly event: string;
  readonly wire: WireEvent;
  readonly size: number;

  constructor(older: EventFrame, newer: EventFrame, content: string) {
    const wire = older.wire as WireEvent;
    this.seq = newer.seq;
    this.fromSeq = older.fromSeq ?? older.seq;
    this.event = older.event;
    this.wire = { ...wire, data: { ...wire.data, content } };
    // At least what it adds; the rest of the newer frame is in the older one already.
    this.size = sizeOf(older) + Buffer.byteLength((newer.wire as WireEvent).data.content as string);
  }

  get json(): string {
    return JSON.stringify(this.wire);
  }
}

/** Plain text; what marks reasoning or carries sound stands alone. */
function isPiece({ event, data }: WireEvent): boolean {
  return event === 'message' && typeof data.content === 'string' && !('audio_binary' in data) && !isMarker(data);
}

function isMarker(data: WireEvent['data']): boolean {
  return data.start_to_think === true || data.end_to_think === true;
}

function sizeOf(frame: EventFrame): number {
  return frame instanceof MergedFrame ? frame.size : (frame.bytes ?? Buffer.byteLength(frame.json));
}

function tooSlow(waitingBytes: number, maxBytes: number): EngineError {
  return new EngineError(
    'LIMIT_REACHED',
    `The client reads too slowly: ${waitingBytes} bytes would wait for it, at most ${maxBytes} may.`,
  );
}
