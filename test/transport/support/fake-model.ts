import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

/** One call of a fake OpenAI server, answered as the test says. */
export interface ModelCall {
  say(text: string): void;
  finish(): void;
  /** Closes the connection in the middle of the answer. */
  breakOff(): void;
  /** Resolves when the caller has closed the connection, or the answer is finished. */
  readonly closed: Promise<void>;
  /** Whether more could be written to the caller. */
  readonly isWritable: boolean;
}

export interface FakeModel {
  readonly url: string;
  /** The next call; resolves when it comes. */
  next(): Promise<ModelCall>;
}

/** A server of OpenAI's streaming chat completions, gone with the test. Calls that ask for JSON of a schema are answered with `{}` at once. */
export async function startFakeModel(): Promise<FakeModel> {
  const waiting: ((call: ModelCall) => void)[] = [];
  const calls: ModelCall[] = [];
  const server = createServer(async (request, response) => {
    const wantsJson = JSON.parse(await text(request)).response_format !== undefined;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const call = callOn(response);
    if (wantsJson) {
      call.say('{}');
      call.finish();
      return;
    }
    const taker = waiting.splice(0, 1)[0];
    if (taker === undefined) calls.push(call);
    else taker(call);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    next: () => {
      const call = calls.splice(0, 1)[0];
      return call === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(call);
    },
  };
}

function callOn(response: ServerResponse): ModelCall {
  const send = (delta: object, finish_reason: string | null = null): void => {
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
  };
  return {
    say: (content) => send({ content }),
    finish: () => {
      send({}, 'stop');
      response.end('data: [DONE]\n\n');
    },
    breakOff: () => void response.destroy(),
    closed: once(response, 'close').then(() => {}),
    get isWritable() {
      return !response.destroyed && response.socket?.writable === true;
    },
  };
}
