import type { MonoTypeOperatorFunction, Observable } from 'rxjs';
import { EngineError } from '../errors.js';
import { coalesce } from '../operators/coalesce.js';
import type { EventFrame } from './event-frame.js';
import { MergedFrame, PieceFrame } from './piece-frame.js';

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
  // What marks reasoning or carries sound stands alone, and so does what was read from the log.
  if (!(newer instanceof PieceFrame && (older instanceof PieceFrame || older instanceof MergedFrame))) return undefined;
  const { header, speaker } = newer.shape;
  return older.shape.isOf(header, speaker) ? new MergedFrame(older, newer) : undefined;
}

function sizeOf(frame: EventFrame): number {
  return frame.bytes ?? Buffer.byteLength(frame.json);
}

function tooSlow(waitingBytes: number, maxBytes: number): EngineError {
  return new EngineError(
    'LIMIT_REACHED',
    `The client reads too slowly: ${waitingBytes} bytes would wait for it, at most ${maxBytes} may.`,
  );
}
