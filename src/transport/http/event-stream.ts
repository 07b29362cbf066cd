import { BehaviorSubject, type Observable } from 'rxjs';
import type { EventFrame } from '../../hosting/event-frame.js';
import type { HttpExchange } from './route.js';

/** The last frame of every stream of a run. RAGFlow writes one `data:` line without a space; the `id:` lines are ours, for resuming. */
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
export function engineFrames({ seq, engine }: EventFrame): readonly string[] {
  return [sseFrame(seq, engine)];
}

/** Bytes that wait in the process before a client counts as not ready; the socket has its own buffer beside. */
const BUFFER_BYTES = 64 * 1024;

export interface EventStreamOptions {
  /** Pause between comments that keep the stream alive, in milliseconds. */
  readonly pingMs: number;
  /** A client that takes nothing for so many milliseconds is cut off. */
  readonly slowMs: number;
  /** Receives the reason when a client is cut off. */
  readonly whenCut: (reason: unknown) => void;
}

/**
 * Answers with a stream of events; returns at once.
 *
 * `open` is given whether the client takes more, and gives the frames as text. Its subscription ends with the client. Its
 * completion ends the stream, its error cuts the client off.
 */
export function sendEventStream(
  exchange: HttpExchange,
  open: (ready$: Observable<boolean>) => Observable<string>,
  options: EventStreamOptions,
): void {
  const { res } = exchange;
  // A client that left while its request was handled: 'close' does not come again, so no subscription would end.
  if (res.destroyed) {
    exchange.respond = false;
    return;
  }
  const ready$ = new BehaviorSubject(true);
  let unwritten = '';
  let slow: NodeJS.Timeout | undefined;
  const flush = (): void => {
    if (res.destroyed || res.writableEnded) return;
    const text = unwritten;
    unwritten = '';
    // The first write takes the headers with it.
    if (text === '') res.flushHeaders();
    else if (!res.write(text) && res.writableLength >= BUFFER_BYTES) {
      clearTimeout(slow);
      slow = setTimeout(cut, options.slowMs, 'slow');
      ready$.next(false);
    }
  };
  /** What comes in one go is written in one go: a write to a socket costs as much as many frames. */
  const write = (text: string): void => {
    if (unwritten === '') process.nextTick(flush);
    unwritten += text;
    if (unwritten.length >= BUFFER_BYTES) flush();
  };
  const end = (): void => {
    const text = unwritten;
    unwritten = '';
    res.end(text);
  };
  const cut = (reason: unknown): void => {
    options.whenCut(reason);
    res.destroy();
  };
  res.on('drain', () => {
    clearTimeout(slow);
    ready$.next(true);
  });
  // The socket breaks when the client goes away; that is no error of ours.
  res.on('error', () => {});

  // Written here: a stream between the frames and the socket would cost as much as both.
  exchange.respond = false;
  exchange.status = 200;
  res.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
  res.setHeader('Cache-Control', 'no-cache');
  res.setHeader('Connection', 'keep-alive');
  res.setHeader('X-Accel-Buffering', 'no');
  process.nextTick(flush);

  const ping = setInterval(() => {
    if (ready$.value && !res.writableEnded) write(PING);
  }, options.pingMs);
  const subscription = open(ready$).subscribe({ next: write, error: cut, complete: end });
  res.once('close', () => {
    clearInterval(ping);
    clearTimeout(slow);
    subscription.unsubscribe();
  });
}
