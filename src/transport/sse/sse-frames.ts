/** Frames of an event stream in RAGFlow's framing: one `data:` line without a space; the `id:` line is ours, for reconnecting. */
import type { EventFrame } from '../../hosting/event-frame.js';

/** The last frame of every stream of a run. */
export const DONE = 'data:[DONE]\n\n';

/** A comment that keeps proxies from closing a quiet stream. */
export const PING = ': ping\n\n';

/** The JSON holds no line end, and the number none either, so neither can start a line of its own. */
export function sseFrame(seq: number, json: string): string {
  return `id: ${seq}\ndata:${json}\n\n`;
}

/** An event in RAGFlow's format; none when it has no counterpart there. */
export function ragflowFrames({ seq, ragflow }: EventFrame): readonly string[] {
  return ragflow === undefined ? [] : [sseFrame(seq, ragflow)];
}

/** An event of the engine as it is. */
export function engineFrames({ seq, json }: EventFrame): readonly string[] {
  return [sseFrame(seq, json)];
}
