/** What the server says of the list of runs, over a WebSocket. */
import { fromEvent, map, Observable, share, startWith } from 'rxjs';
import { isJsonObject, parseOwnJson } from '../../src/json.js';
import type { Client } from './client.js';
import { type ListNews, type RunNews, runNews } from './run-news.js';
import { QUIET_MS, Signs } from './signs.js';
import { KEY_REFUSED, SUBPROTOCOL } from './socket-link.js';

/** The news of the page's lists: one connection while any of them is shown, with what this browser says of the page and the network. */
export function openRunNews(client: Client): Observable<RunNews> {
  const visible$ = fromEvent(document, 'visibilitychange').pipe(startWith(undefined));
  const isVisible$ = visible$.pipe(map(() => document.visibilityState === 'visible'));
  return runNews(() => runListLink(client), { isVisible$, wake$: fromEvent(window, 'online') }).pipe(share());
}

/** Opens the connection; unsubscribing closes it, and a connection that is lost is an error. A key that the server does not take is asked for. */
function runListLink(client: Client): Observable<ListNews> {
  return new Observable((subscriber) => {
    const url = client.address('/runs/live');
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    const key = client.keys.current;
    const socket = new WebSocket(url, SUBPROTOCOL);
    const signs = new Signs();
    const lose = (why: string): void => subscriber.error(new Error(why));
    socket.onopen = () => {
      if (key !== undefined) socket.send(JSON.stringify({ type: 'auth', token: key }));
    };
    socket.onmessage = ({ data }) => {
      signs.note();
      const frame = parseOwnJson(String(data));
      if (!isJsonObject(frame)) return;
      if (frame.type === 'ready') subscriber.next('live');
      if (frame.type === 'runs') subscriber.next('changed');
    };
    socket.onclose = ({ code }) => {
      const why = `the connection was closed (${code})`;
      if (KEY_REFUSED.includes(code)) void client.keys.another(key).then(() => lose(why));
      else lose(why);
    };
    const timer = setInterval(() => {
      const state = signs.look();
      if (state === 'lost') lose('the server gives no sign of life');
      if (state === 'ask' && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: 'ping' }));
    }, QUIET_MS);
    subscriber.add(() => {
      clearInterval(timer);
      socket.onclose = null;
      socket.onmessage = null;
      socket.close(1000);
    });
  });
}
