/** Events of a run over the WebSocket of its agent. */
import { Observable, type Subscriber } from 'rxjs';
import type { RunEvent } from '../../src/graph/events.js';
import { isJsonObject, type JsonObject, parseOwnJson } from '../../src/json.js';
import { acknowledgements } from './acknowledgements.js';
import type { Client } from './client.js';
import { EarlierTexts } from './earlier-texts.js';
import { type LinkNews, type OpenLink, Refusal } from './feed.js';
import { QUIET_MS, Signs } from './signs.js';

/** The subprotocol that the server speaks. */
export const SUBPROTOCOL = 'ragflow.agent.v1';

/** Codes with which the server closes connections whose key it does not take. */
export const KEY_REFUSED: readonly number[] = [4401, 4408];
const NO_AGENT = 4404;

/** After how many events they are acknowledged: a quarter of those that the server sends ahead. */
const ACK_EVERY = 2_048;

/** Codes of the server's envelopes that will not change by asking again: not found, not allowed. */
const FINAL: readonly unknown[] = [101, 102, 103, 109];

/** Where a run lies on the server, whether it is one of an agent or of a chat. */
export interface RunPlace {
  /** Id of its agent; empty for a run of a chat, which is reached without it. */
  readonly agent: string;
  readonly run: string;
  /** Path of the API where connections for such runs are opened. */
  readonly live: string;
  /** Path of the API below which the run lies. */
  readonly path: string;
}

/**
 * A link over the WebSocket. A key that the server does not take is asked for, and the link counts as lost.
 *
 * Long texts come once, with the first event that has them; when one is unknown, such as after events that came another way, the link counts as
 * lost, and the next one asks for whole events.
 */
export function socketLink(client: Client, { run, live }: RunPlace): OpenLink {
  const texts = new WireTexts();
  return (after, seen$) =>
    new Observable<LinkNews>((subscriber) => {
      const url = client.address(live);
      url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
      const key = client.keys.current;
      const socket = new WebSocket(url, SUBPROTOCOL);
      const send = (frame: object): void => {
        if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame));
      };
      const link = new SocketLink(subscriber, send, { run, after, texts });
      socket.onopen = () => {
        if (key !== undefined) send({ type: 'auth', token: key });
      };
      socket.onmessage = ({ data }) => link.received(String(data));
      socket.onclose = ({ code }) => {
        const lose = (): void => subscriber.error(new Error(`the connection was closed (${code})`));
        if (KEY_REFUSED.includes(code)) void client.keys.another(key).then(lose);
        else if (code === NO_AGENT) subscriber.error(new Refusal('The server has no such agent.'));
        else lose();
      };
      subscriber.add(acknowledgements(seen$, ACK_EVERY).subscribe((seq) => send({ type: 'ack', run_id: run, seq })));
      const timer = setInterval(() => link.checkSigns(), QUIET_MS);
      subscriber.add(() => {
        clearInterval(timer);
        socket.onclose = null;
        socket.onmessage = null;
        socket.close(1000);
      });
    });
}

/** What the connections of one link know together of the run's texts. */
class WireTexts {
  /** Undefined once the events must come whole. */
  #known: EarlierTexts | undefined = new EarlierTexts();
  /** Number of the last event that came over them. */
  #last = 0;

  /** Whether what comes behind an event may refer to what came before: not when that came another way. */
  isLean(after: number): boolean {
    return this.#known !== undefined && after <= this.#last;
  }

  /** @throws Error when a text is unknown. */
  whole(events: readonly RunEvent[]): readonly RunEvent[] {
    const known = this.#known;
    this.#last = events.at(-1)?.seq ?? this.#last;
    if (known === undefined) return events;
    try {
      return events.map((event) => known.whole(event));
    } catch (error) {
      this.#known = undefined;
      throw error;
    }
  }
}

interface SocketPlace {
  readonly run: string;
  readonly after: number;
  readonly texts: WireTexts;
}

/** Reads the frames of one connection. */
class SocketLink {
  readonly #subscriber: Subscriber<LinkNews>;
  readonly #send: (frame: object) => void;
  readonly #place: SocketPlace;
  readonly #signs = new Signs();

  constructor(subscriber: Subscriber<LinkNews>, send: (frame: object) => void, place: SocketPlace) {
    this.#subscriber = subscriber;
    this.#send = send;
    this.#place = place;
  }

  received(text: string): void {
    this.#signs.note();
    const frame = parseOwnJson(text);
    if (isJsonObject(frame)) this.#read(frame);
  }

  /** Called once in a while. */
  checkSigns(): void {
    const state = this.#signs.look();
    if (state === 'lost') this.#subscriber.error(new Error('the server gives no sign of life'));
    if (state === 'ask') this.#send({ type: 'ping' });
  }

  #read(frame: JsonObject): void {
    const { run, after, texts } = this.#place;
    switch (frame.type) {
      case 'ready': {
        const form = { view: 'engine', batch: true, lean: texts.isLean(after) };
        this.#send({ type: 'attach', run_id: run, last_event_id: after, ...form });
        return;
      }
      case 'attached':
        this.#subscriber.next({ type: 'open' });
        return;
      case 'events':
        this.#took(frame.events as unknown as readonly { readonly event: RunEvent }[]);
        return;
      case 'done':
        this.#subscriber.complete();
        return;
      case 'error':
        this.#fail(frame);
    }
  }

  #took(events: readonly { readonly event: RunEvent }[]): void {
    try {
      const whole = this.#place.texts.whole(events.map(({ event }) => event));
      this.#subscriber.next({ type: 'events', events: whole });
    } catch (error) {
      this.#subscriber.error(error);
    }
  }

  #fail({ code, message }: JsonObject): void {
    const text = typeof message === 'string' ? message : 'The server refused.';
    this.#subscriber.error(FINAL.includes(code) ? new Refusal(text) : new Error(text));
  }
}
