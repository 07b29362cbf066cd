import { Observable } from 'rxjs';
import type { EventFrame } from '../../hosting/event-frame.js';
import type { HttpExchange } from '../http/types.js';
import type { ServerParts } from '../server-parts.js';
import { sendEventStream } from '../sse/send-event-stream.js';
import { DONE, sseFrame } from '../sse/sse-frames.js';

/** How one client sees a run. */
export interface RunView {
  /** Number of the last event that the client has. @default 0 */
  readonly after?: number;
  /** The frames of an event as text; several, or none when the client does not see it. @default all events, RAGFlow's framing */
  readonly frames?: (frame: EventFrame) => readonly string[];
  /** The frames after the last event. @default `[DONE]` */
  readonly closing?: () => readonly string[];
}

const EVERYTHING = (frame: EventFrame): readonly string[] => [sseFrame(frame)];
const DONE_ONLY = (): readonly string[] => [DONE];

/** Answers with the events of a run: what was, then what comes, then the end mark. */
export function streamRun(exchange: HttpExchange, parts: ServerParts, run: string, view: RunView = {}): void {
  const { after = 0, frames = EVERYTHING, closing = DONE_ONLY } = view;
  const { host, config, logger } = parts;
  const { tenant } = exchange.state;
  let seq = after;
  const open = (ready$: Observable<boolean>): Observable<string> =>
    new Observable((subscriber) => {
      const show = (texts: readonly string[]): void => {
        for (let at = 0; at < texts.length; at += 1) subscriber.next(texts[at] as string);
      };
      parts.streams.count += 1;
      subscriber.add(() => {
        parts.streams.count -= 1;
      });
      return host.follow(tenant, run, { after, ready$ }).subscribe({
        next: (frame) => {
          seq = frame.seq;
          show(frames(frame));
        },
        error: (error: unknown) => subscriber.error(error),
        complete: () => {
          show(closing());
          subscriber.complete();
        },
      });
    });
  exchange.set('X-Run-Id', run);
  sendEventStream(exchange, open, {
    pingMs: config.ssePingMs,
    slowMs: config.slowClientMs,
    whenCut: (reason) => logger.warn({ run, err: reason, resumeAfter: seq }, 'a client was cut off; it can resume'),
  });
}
