/** A WebSocket of a session: frames of its client in their order, and the events of what is at work as fast as they are read. */
import { interval, type Subscription, timer } from 'rxjs';
import { shownMessage, toEngineError } from '../../errors.js';
import { isJsonObject, parseJson } from '../../json.js';
import type { Runner } from '../runner/runner.js';
import { readFrame, type SocketFrame } from './read-request.js';
import type { AskedSession, Talk, Talks } from './talks.js';

/** What is used of a WebSocket; those of the package `ws` are such. */
export interface AgentSocket {
  /** `sent` is called once the text has left the process. */
  send(text: string, sent: (error?: Error) => void): void;
  close(code: number, reason: string): void;
  terminate(): void;
  ping(): void;
  on(event: 'message', listener: (data: unknown, isBinary: boolean) => void): unknown;
  on(event: 'pong' | 'close' | 'error', listener: () => void): unknown;
}

interface AgentSocketOptions {
  readonly asked: AskedSession;
  readonly talks: Talks;
  readonly runner: Runner;
  /** Told when the socket is closed. */
  closed(talk: AgentSocketTalk): void;
}

/** Frames of the client that may wait to be handled; with more the socket is closed. */
const MAX_PENDING = 64;

/** A client that gave no sign of life between two of these is gone. */
const ALIVE_MS = 15_000;

/** Codes that a socket is closed with. */
const CLOSE = { goingAway: 1001, badFrame: 1003, tooMany: 1008 } as const;

/** How long a client has to answer a close. */
const CLOSE_TIMEOUT_MS = 2_000;

/**
 * Serves one socket. Frames of the client: `turn`, `resume`, `input`, `cancel`, `attach`, each with a `req` of its choice, which answers have; frames of
 * the server: `ok` and `error`, `event` with its number, `gap` for events that are gone, `end` behind the last one.
 *
 * At most 64 KiB of events and the one that exceeds them wait in the socket; more is read from the feed when they have left. A socket that closes
 * detaches.
 */
export class AgentSocketTalk {
  readonly #socket: AgentSocket;
  readonly #options: AgentSocketOptions;
  #last: Promise<void> = Promise.resolve();
  #pending = 0;
  /** Number of the newest reading, which ends those before. */
  #reading = 0;
  /** Number of the newest one that came to its end. */
  #read = 0;
  #isAlive = true;
  #heartbeat: Subscription | undefined;
  #expiry: Subscription | undefined;
  #isGoing = false;
  #isClosed = false;

  constructor(socket: AgentSocket, options: AgentSocketOptions) {
    this.#socket = socket;
    this.#options = options;
  }

  start(): void {
    const socket = this.#socket;
    socket.on('message', (data, isBinary) => this.#received(data, isBinary));
    socket.on('pong', () => {
      this.#isAlive = true;
    });
    // The socket closes by itself after an error, such as a frame that is too large.
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#ended();
      this.#expiry?.unsubscribe();
      this.#options.closed(this);
    });
    this.#heartbeat = interval(ALIVE_MS).subscribe(() => {
      if (!this.#isAlive) socket.terminate();
      this.#isAlive = false;
      socket.ping();
    });
  }

  /** The server goes, once what its conversations told has been sent. */
  goAway(): void {
    this.#isGoing = true;
    if (this.#pending === 0 && this.#reading === this.#read)
      this.#close(CLOSE.goingAway, 'the server is being closed; attach again');
    this.#expiry ??= timer(CLOSE_TIMEOUT_MS).subscribe(() => this.#socket.terminate());
  }

  #ended(): void {
    this.#isClosed = true;
    this.#reading += 1;
    this.#heartbeat?.unsubscribe();
  }

  #close(code: number, reason: string): void {
    this.#socket.close(code, reason);
    this.#ended();
  }

  #received(data: unknown, isBinary: boolean): void {
    if (this.#isClosed) return;
    this.#isAlive = true;
    const frame = isBinary ? undefined : parseJson(String(data));
    if (!isJsonObject(frame)) {
      this.#close(CLOSE.badFrame, 'frames must be JSON objects as text');
      return;
    }
    this.#pending += 1;
    if (this.#pending > MAX_PENDING) {
      this.#close(CLOSE.tooMany, 'too many frames at once');
      return;
    }
    const req = typeof frame.req === 'string' || typeof frame.req === 'number' ? { req: frame.req } : {};
    this.#last = this.#last.then(async () => {
      if (this.#isClosed) return;
      try {
        await this.#obey(readFrame(frame), req);
      } catch (thrown) {
        const error = toEngineError(thrown, 'INTERNAL');
        await this.#send({ type: 'error', ...req, error: { code: error.code, message: shownMessage(error) } });
      } finally {
        this.#pending -= 1;
        if (this.#isGoing) this.goAway();
      }
    });
  }

  async #obey(frame: SocketFrame, req: object): Promise<void> {
    const { asked, talks, runner } = this.#options;
    switch (frame.type) {
      case 'turn': {
        const input = frame.input as never;
        const talk = await talks.start(asked, (options) => runner.run(input, { session: asked.session, ...options }));
        await this.#send({ type: 'ok', ...req });
        return this.#follow(talk, 0);
      }
      case 'resume': {
        const talk = await talks.start(asked, (options) => runner.resume(asked.session, frame.answers, options));
        await this.#send({ type: 'ok', ...req });
        return this.#follow(talk, 0);
      }
      case 'input': {
        const { type: _, req: __, ...input } = frame;
        await this.#send({ type: 'ok', ...req, ...(await talks.say(asked, input)) });
        return;
      }
      case 'cancel': {
        const { type: _, req: __, ...wish } = frame;
        talks.atWork(asked).cancel$.next(wish);
        await this.#send({ type: 'ok', ...req });
        return;
      }
      case 'attach': {
        const talk = talks.get(asked);
        await this.#send({ type: 'ok', ...req });
        if (talk === undefined) await this.#send({ type: 'end' });
        else this.#follow(talk, frame.after);
        return;
      }
    }
  }

  /** Sends the events of a conversation from now on, and no longer those of another one. */
  #follow({ feed }: Talk, after: number): void {
    this.#reading += 1;
    const reading = this.#reading;
    const read = async (): Promise<void> => {
      for await (const { frames, gap } of feed.pieces(after)) {
        if (reading !== this.#reading) return;
        if (gap !== undefined) await this.#send({ type: 'gap', ...gap });
        let sent: Promise<void> | undefined;
        for (const { number, name, data } of frames) {
          const field = name === 'error' ? 'error' : 'event';
          sent = this.#sendText(`{"type":"${field}","id":${number},"${field}":${data}}`);
        }
        await sent;
      }
      if (reading !== this.#reading) return;
      await this.#send({ type: 'end' });
      this.#read = reading;
      if (this.#isGoing) this.goAway();
    };
    read().catch(() => this.#socket.terminate());
  }

  #send(frame: object): Promise<void> {
    return this.#sendText(JSON.stringify(frame));
  }

  /** Resolves once the text has left the process, or the socket is closed. */
  #sendText(text: string): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => this.#socket.send(text, () => resolve()));
  }
}
