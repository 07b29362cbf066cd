/** Events of a run as an event stream, for when WebSockets do not come through. */
import { Observable, type Subscriber } from 'rxjs';
import type { RunEvent } from '../../src/graph/events.js';
import { isJsonObject, parseOwnJson } from '../../src/json.js';
import type { Client } from './client.js';
import { type LinkNews, type OpenLink, Refusal } from './feed.js';
import type { RunPlace } from './socket-link.js';

/** The server sends a comment more often than this, in milliseconds; a connection without one is lost. */
const QUIET_MS = 45_000;

/** Statuses that say that the server will say the same again. */
const isFinal = (status: number): boolean => status >= 400 && status < 500 && status !== 408 && status !== 429;

/** A link over fetch, which carries the key in a header as `EventSource` cannot. */
export function streamLink(client: Client, { path }: RunPlace): OpenLink {
  return (after) =>
    new Observable<LinkNews>((subscriber) => {
      const abort = new AbortController();
      subscriber.add(() => abort.abort());
      const query = { view: 'engine', after };
      client
        .answer(`${path}/events`, { query, signal: abort.signal }, { accept: 'text/event-stream' })
        .then((response) => readAnswer(response, subscriber))
        .catch((error: unknown) => {
          if (!abort.signal.aborted) subscriber.error(error);
        });
    });
}

async function readAnswer(response: Response, subscriber: Subscriber<LinkNews>): Promise<void> {
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true || response.body === null) {
    throw await refusalOf(response);
  }
  subscriber.next({ type: 'open' });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const stopWatching = watch(() => void reader.cancel(), subscriber);
  const frames = new Frames();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Error('the event stream broke off');
    stopWatching.sign();
    const data = frames.add(value);
    const events = data.map(parseOwnJson).filter(isJsonObject);
    subscriber.next({ type: 'events', events: events as unknown as readonly RunEvent[] });
    if (data.includes('[DONE]')) {
      subscriber.complete();
      return;
    }
    if (subscriber.closed) return;
  }
}

/** Calls `lose` when no sign came for {@link QUIET_MS}. */
function watch(lose: () => void, subscriber: Subscriber<LinkNews>): { readonly sign: () => void } {
  let timer = setTimeout(lose, QUIET_MS);
  subscriber.add(() => clearTimeout(timer));
  return {
    sign: () => {
      clearTimeout(timer);
      timer = setTimeout(lose, QUIET_MS);
    },
  };
}

async function refusalOf(response: Response): Promise<Error> {
  const body = parseOwnJson(await response.text());
  const message = isJsonObject(body) && typeof body.message === 'string' ? body.message : `status ${response.status}`;
  // Refusals in RAGFlow's form come with status 200.
  return response.status === 200 || isFinal(response.status) ? new Refusal(message) : new Error(message);
}

/** Data of an event stream's frames, from text in any pieces. */
export class Frames {
  #unread = '';

  /** Data of the frames that are complete now. */
  add(text: string): readonly string[] {
    const blocks = (this.#unread + text).split('\n\n');
    this.#unread = blocks.pop() ?? '';
    return blocks.flatMap((block) => {
      const lines = block.split('\n').filter((line) => line.startsWith('data:'));
      return lines.length === 0 ? [] : [lines.map((line) => line.slice(5).replace(/^ /, '')).join('\n')];
    });
  }
}
