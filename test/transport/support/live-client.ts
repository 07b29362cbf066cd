import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';

// biome-ignore lint/suspicious/noExplicitAny: tests look into frames freely
type Json = any;

/** A WebSocket client that keeps what it gets until it is asked for. */
export interface LiveClient {
  readonly socket: WebSocket;
  send(frame: object | string): void;
  /** The next frame. */
  next(): Promise<Json>;
  /** Frames up to and with the first that fits. */
  until(fits: (frame: Json) => boolean): Promise<Json[]>;
  /** Frames up to and with the `done` of a run. */
  done(run?: string): Promise<Json[]>;
  /** Resolves when the connection is closed. */
  readonly closed: Promise<{ code: number; reason: string }>;
}

export interface ConnectOptions {
  readonly headers?: Record<string, string>;
  /** @default `ragflow.agent.v1` alone */
  readonly protocols?: string[];
}

/** Connects; resolves when the connection is open, whatever comes then. */
export async function connect(url: string, agent: string, options: ConnectOptions = {}): Promise<LiveClient> {
  return connectTo(url, `/api/v1/agents/${agent}/live`, options);
}

/** The same, by a path. */
export async function connectTo(url: string, path: string, options: ConnectOptions = {}): Promise<LiveClient> {
  const { headers = {}, protocols = ['ragflow.agent.v1'] } = options;
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, protocols, { headers });
  onTestFinished(() => socket.terminate());
  const frames: Json[] = [];
  let wake: () => void = () => {};
  socket.on('message', (data) => {
    frames.push(JSON.parse(String(data)));
    wake();
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => {
      resolve({ code, reason: String(reason) });
      wake();
    });
  });
  socket.on('error', () => {});
  await once(socket, 'open');
  const next = async (): Promise<Json> => {
    while (frames.length === 0) {
      if (socket.readyState === WebSocket.CLOSED) throw new Error('the connection is closed');
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    return frames.splice(0, 1)[0];
  };
  const until = async (fits: (frame: Json) => boolean): Promise<Json[]> => {
    const taken: Json[] = [];
    do taken.push(await next());
    while (!fits(taken.at(-1)));
    return taken;
  };
  return {
    socket,
    send: (frame) => socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame)),
    next,
    until,
    done: (run) => until(({ type, run_id }) => type === 'done' && (run === undefined || run_id === run)),
    closed,
  };
}

/** The HTTP answer to a connection that is refused. */
export async function refused(
  url: string,
  path: string,
  options: ConnectOptions = {},
): Promise<{ status: number; body: Json }> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, options.protocols ?? [], {
    headers: options.headers ?? {},
  });
  socket.on('error', () => {});
  const [, response] = await once(socket, 'unexpected-response');
  let text = '';
  for await (const part of response) text += part;
  return { status: response.statusCode, body: JSON.parse(text) };
}
