/** Clients that are gone before their answer begins, and clients that want its head only. */
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { BehaviorSubject, defer, Observable, of, Subscription } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { forClient, whenLeft } from '../../../src/transport/http/client-left.js';
import { sendEventStream } from '../../../src/transport/http/event-stream.js';
import type { HttpExchange } from '../../../src/transport/http/route.js';
import { awaitRun } from '../../../src/transport/runs/answer-run.js';
import { ECHO } from '../support/documents.js';
import { startServer } from '../support/server.js';

/** Runs `handle` on a request whose client has closed its connection before. */
async function afterItsClient(handle: (exchange: HttpExchange) => Promise<void>): Promise<void> {
  const app = new Koa();
  const handled = new Promise<void>((resolve, reject) => {
    app.use(async (exchange) => {
      call.destroy();
      await once(exchange.res, 'close');
      exchange.respond = false;
      await handle(exchange as unknown as HttpExchange).then(resolve, reject);
    });
  });
  const http = createServer(app.callback()).listen(0, '127.0.0.1');
  onTestFinished(() => void http.close());
  await once(http, 'listening');
  const call = request({ port: (http.address() as AddressInfo).port, host: '127.0.0.1' });
  call.on('error', () => {});
  call.end();
  await handled;
}

describe('a client that is gone before its answer begins', () => {
  it('is sent no event stream: what would feed it ends at once', async () => {
    let isFed = false;
    const open = () =>
      new Observable<string>(() => {
        isFed = true;
        return () => {
          isFed = false;
        };
      });
    await afterItsClient(async (exchange) => {
      sendEventStream(exchange, open, { pingMs: 60_000, slowMs: 60_000, whenCut: () => {} });
      expect(isFed).toBe(false);
    });
  });

  it('has no work done for it, and gets nothing', async () => {
    let isDone = false;
    const work$ = defer(() => {
      isDone = true;
      return of(1);
    });
    await afterItsClient(async (exchange) => {
      expect([await forClient(exchange, work$), isDone]).toEqual([undefined, false]);
    });
  });

  it('is told of as gone at once', async () => {
    await afterItsClient(async (exchange) => {
      let count = 0;
      const forget = whenLeft(exchange, () => {
        count += 1;
      });
      forget();
      expect(count).toBe(1);
    });
  });

  it('is no client of the run that it would have waited for', async () => {
    const clients = new BehaviorSubject(0);
    const attach = (): Subscription => {
      clients.next(clients.value + 1);
      return new Subscription(() => clients.next(clients.value - 1));
    };
    const live = { clients: { attach }, ended: new Promise(() => {}) };
    await afterItsClient(async (exchange) => {
      void awaitRun(exchange, live as unknown as Parameters<typeof awaitRun>[1]);
      expect(clients.value).toBe(0);
    });
  });
});

describe('a HEAD request for an event stream', () => {
  it('is answered at once, and leaves its connection to the next request', async () => {
    const server = await startServer();
    const agent = await server.agent(ECHO);
    const { headers } = await server.call('POST', `/api/v1/agents/${agent}/completions`, { query: 'x' });
    const events = `${server.url}/api/v1/agents/${agent}/runs/${headers.get('x-run-id')}/events`;
    const connection = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => connection.destroy());
    const ask = async (method: string): Promise<IncomingMessage> => {
      const [answer] = await once(request(events, { method, agent: connection }).end(), 'response');
      return answer.resume();
    };
    expect(await ask('HEAD')).toMatchObject({ statusCode: 200 });
    expect(await ask('GET')).toMatchObject({ statusCode: 200 });
  });
});
