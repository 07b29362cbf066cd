import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { firstValueFrom, lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createEgressClient } from '../../../src/adapters/egress/egress-client.js';
import { failureOf, serveRaw } from './support/servers.js';

const client = () => createEgressClient({ allowPrivateNetwork: true });

describe('connect', () => {
  it('gives a connection that stays until it is unsubscribed', async () => {
    const { port } = await serveRaw((socket) => socket.pipe(socket));
    const said = await new Promise<string>((resolve, reject) => {
      const subscription = client()
        .connect({ host: '127.0.0.1', port })
        .subscribe({
          next: ({ socket }) => {
            socket.once('data', (data) => {
              subscription.unsubscribe();
              socket.once('close', () => resolve(String(data)));
            });
            socket.write('hello');
          },
          error: reject,
        });
    });
    expect(said).toBe('hello');
  });

  it('completes when the server closes', async () => {
    const { port } = await serveRaw((socket) => socket.destroy());
    const given = client().connect({ host: '127.0.0.1', port }).pipe(toArray());
    expect(await lastValueFrom(given)).toMatchObject([{ host: '127.0.0.1', tls: { minVersion: 'TLSv1.2' } }]);
  });

  it('says that nobody listens, and that trying again may help', async () => {
    const port = await heldPort();
    const error = await failureOf(firstValueFrom(client().connect({ host: '127.0.0.1', port })));
    expect(error).toMatchObject({
      code: 'EGRESS_FAILED',
      retryable: true,
      message: expect.stringContaining(`Connection to "127.0.0.1:${port}": the connection was refused`),
    });
  });

  it.each([0, 65_536, 1.5, Number.NaN])('refuses the port %s', async (port) => {
    const error = await failureOf(firstValueFrom(client().connect({ host: '127.0.0.1', port })));
    expect(error).toMatchObject({ code: 'URL_INVALID' });
  });

  it('fails once the client is closed', async () => {
    const closed = client();
    closed.close();
    const error = await failureOf(firstValueFrom(closed.connect({ host: '127.0.0.1', port: 1 })));
    expect(error).toMatchObject({ code: 'EGRESS_FAILED', message: expect.stringContaining('was closed') });
  });
});

/** A port that this process holds for an outgoing connection, so that nobody can listen there. */
async function heldPort(): Promise<number> {
  const { port } = await serveRaw(() => {});
  const held = connectTcp({ port, host: '127.0.0.1' });
  await once(held, 'connect');
  onTestFinished(() => void held.destroy());
  return held.localPort as number;
}
