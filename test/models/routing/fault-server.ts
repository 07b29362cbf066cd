/** A server of models over real sockets that fails as it is told, and counts what is open. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** What becomes of a request. */
export type Fault =
  | { readonly kind: 'answer'; readonly words: readonly string[] }
  | { readonly kind: 'status'; readonly status: number; readonly headers?: Record<string, string> }
  /** Takes the request and says nothing. */
  | { readonly kind: 'silence' }
  /** Says nothing until the test calls `release`. */
  | { readonly kind: 'held'; readonly words: readonly string[] }
  /** Ends the connection behind so many words. */
  | { readonly kind: 'cut'; readonly words: readonly string[] }
  | { readonly kind: 'broken-json'; readonly words: readonly string[] }
  /** Ends the connection before any answer. */
  | { readonly kind: 'reset' };

export interface FaultServer {
  readonly url: string;
  /** Bodies of the requests so far. */
  readonly asked: {
    readonly model: string;
    readonly messages: readonly { readonly content: string }[];
    readonly max_tokens?: number;
  }[];
  /** Requests whose connection is open and whose answer has not ended. */
  readonly open: number;
  /** Resolves when no request is open. */
  idle(): Promise<void>;
  /** Resolves when so many requests came. */
  arrived(count: number): Promise<void>;
  /** Lets requests that are held go on. */
  release(): void;
}

/** Starts a server that treats its requests as `faultOf` says of each, by its number from 0. */
export async function startFaultServer(faultOf: (at: number) => Fault): Promise<FaultServer> {
  const asked: FaultServer['asked'] = [];
  const open = new Set<ServerResponse>();
  const sockets = new Set<Socket>();
  const held: (() => void)[] = [];
  const waiting = new Set<() => void>();
  const changed = (): void => {
    for (const check of waiting) check();
  };
  const until = (isTrue: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const check = (): void => {
        if (!isTrue()) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
    });
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const fault = faultOf(asked.length);
    open.add(response);
    response.on('close', () => {
      open.delete(response);
      changed();
    });
    asked.push(JSON.parse(Buffer.concat(parts).toString('utf8')));
    changed();
    act(fault, response, held);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    get open() {
      return open.size;
    },
    idle: () => until(() => open.size === 0),
    arrived: (count) => until(() => asked.length >= count),
    release: () => {
      for (const go of held.splice(0)) go();
    },
  };
}

function act(fault: Fault, response: ServerResponse, held: (() => void)[]): void {
  switch (fault.kind) {
    case 'answer':
      write(response, fault.words);
      response.end('data: [DONE]\n\n');
      return;
    case 'status':
      response.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers });
      response.end(JSON.stringify({ error: { message: `told to answer ${fault.status}` } }));
      return;
    case 'silence':
      return;
    case 'held':
      held.push(() => act({ ...fault, kind: 'answer' }, response, held));
      return;
    case 'cut':
      write(response, fault.words);
      // Once the words are on their way.
      response.write(':\n\n', () => setImmediate(() => response.socket?.destroy()));
      return;
    case 'broken-json':
      write(response, fault.words);
      response.end('data: {"choices": [\n\n');
      return;
    case 'reset':
      response.socket?.destroy();
  }
}

function write(response: ServerResponse, words: readonly string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [at, content] of words.entries()) {
    const finish = at === words.length - 1 && content === '.' ? 'stop' : null;
    response.write(
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`,
    );
  }
}
