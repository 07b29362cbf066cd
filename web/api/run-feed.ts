/** The events of a run by the ways that there are to its server. */
import { fromEvent, merge, type Observable } from 'rxjs';
import type { Client } from './client.js';
import { type FeedNews, feed } from './feed.js';
import { returning } from './return-link.js';
import { type RunPlace, socketLink } from './socket-link.js';
import { streamLink } from './stream-link.js';

/** See {@link feed}: over the WebSocket, else over the event stream. */
export function runFeed(client: Client, place: RunPlace): Observable<FeedNews> {
  // A device that comes back from sleep, or finds its network again, does not wait for the next try.
  const wake$ = merge(fromEvent(window, 'online'), fromEvent(document, 'visibilitychange'));
  const socket = socketLink(client, place);
  return feed([socket, returning(socket, streamLink(client, place))], { wake$ });
}
