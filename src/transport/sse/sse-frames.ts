/** RAGFlow's frames of an event stream: one `data:` line without a space; the `id:` line is ours, for reconnecting. */
import type { LoggedEvent } from '../../records/stores.js';

/** The last frame of every stream of a run. */
export const DONE = 'data:[DONE]\n\n';

/** A comment that keeps proxies from closing a quiet stream. */
export const PING = ': ping\n\n';

/** The JSON holds no line end, and the number none either, so neither can start a line of its own. */
export function sseFrame({ seq, json }: Pick<LoggedEvent, 'seq' | 'json'>): string {
  return `id: ${seq}\ndata:${json}\n\n`;
}
