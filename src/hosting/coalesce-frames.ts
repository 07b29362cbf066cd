import type { MonoTypeOperatorFunction, Observable } from 'rxjs';
import { EngineError } from '../errors.js';
import { coalesce } from '../operators/coalesce.js';
import { type EventFrame, mergeFrames } from './event-frame.js';

/** How {@link coalesceFrames} waits for one client. */
export interface CoalesceFramesOptions {
  /** Whether the client takes frames. */
  readonly ready$: Observable<boolean>;
  /** The most that may wait for it. */
  readonly maxBytes: number;
  /** Whether the client gets every event by itself. @default false */
  readonly isExact?: boolean | undefined;
}

/**
 * Holds frames back while a client does not take them; neighbouring pieces of one text become one frame.
 *
 * ```text
 * source    --a--b--c--X-----|      (a, b, c: pieces of text; X: anything else)
 * ready$    t---f--------t----
 * result    --a----------(BX)-|     (B: b and c in one frame, numbered as c)
 * ```
 *
 * Errors: LIMIT_REACHED when more than `maxBytes` would wait.
 */
export function coalesceFrames({
  ready$,
  maxBytes,
  isExact = false,
}: CoalesceFramesOptions): MonoTypeOperatorFunction<EventFrame> {
  const merge = isExact ? () => undefined : mergeFrames;
  return coalesce<EventFrame>({ ready$, maxSize: maxBytes, merge, size: sizeOf, overflow: tooSlow });
}

function sizeOf(frame: EventFrame): number {
  return frame.bytes;
}

function tooSlow(waitingBytes: number, maxBytes: number): EngineError {
  return new EngineError(
    'LIMIT_REACHED',
    `The client reads too slowly: ${waitingBytes} bytes would wait for it, at most ${maxBytes} may.`,
  );
}
