import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A way to Redis on which requests and answers can be held back or cut off, as on a bad network. */
export interface SlowLink {
  readonly url: string;
  /** Lets requests through and keeps answers; resolves with the first answer that is kept. */
  holdAnswers(): Promise<void>;
  /** Keeps requests until `deliver`, even beyond a `cut`; resolves with the first request that is kept. */
  holdRequests(): Promise<void>;
  /** Lets the server have the requests that were kept; resolves when it has answered, to nobody. */
  deliver(): Promise<void>;
  /** Ends all connections to the client, with the answers that are kept; new ones work. */
  cut(): void;
  close(): Promise<void>;
}

interface Late {
  readonly upstream: Socket;
  readonly request: Buffer;
}

export async function startSlowLink(target: string): Promise<SlowLink> {
  const { hostname, port } = new URL(target);
  const clients = new Set<Socket>();
  const upstreams = new Set<Socket>();
  const late: Late[] = [];
  let onAnswer: (() => void) | undefined;
  let onRequest: (() => void) | undefined;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    clients.add(client);
    upstreams.add(upstream);
    client.on('data', (request: Buffer) => {
      if (onRequest === undefined) upstream.write(request);
      else {
        late.push({ upstream, request });
        onRequest();
      }
    });
    upstream.on('data', (answer) => {
      if (onAnswer === undefined) client.write(answer);
      else onAnswer();
    });
    for (const socket of [client, upstream]) socket.on('error', () => {});
    client.on('close', () => clients.delete(client));
    upstream.on('close', () => upstreams.delete(upstream));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  const cut = (): void => {
    onAnswer = undefined;
    onRequest = undefined;
    for (const client of clients) client.destroy();
  };
  return {
    url: `redis://127.0.0.1:${address.port}`,
    holdAnswers: () => new Promise((resolve) => (onAnswer = resolve)),
    holdRequests: () => new Promise((resolve) => (onRequest = resolve)),
    async deliver() {
      for (const { upstream, request } of late.splice(0)) {
        upstream.write(request);
        await once(upstream, 'data');
      }
    },
    cut,
    async close() {
      cut();
      for (const upstream of upstreams) upstream.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
