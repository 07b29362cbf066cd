import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import type { WebSocket } from 'ws';
import { readConfig } from '../../../src/settings/read-settings.js';
import { LiveConnection } from '../../../src/transport/live/live-connection.js';
import type { ServerParts } from '../../../src/transport/server-parts.js';

/** A socket whose client takes nothing until it is told to. */
class StuckSocket extends EventEmitter {
  readonly OPEN = 1;
  readonly readyState = 1;
  bufferedAmount = 0;
  isPaused = false;
  sent = 0;
  #waiting: (() => void)[] = [];

  send(text: string, done: () => void): void {
    this.sent += 1;
    this.bufferedAmount += text.length;
    this.#waiting.push(done);
  }

  drain(): void {
    this.bufferedAmount = 0;
    for (const done of this.#waiting.splice(0)) done();
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  close(): void {}
}

it('reads nothing more from a client that asks and does not read the answers', async () => {
  const socket = new StuckSocket();
  const parts = { callers: { hasKeys: false }, config: readConfig({}), now: () => 0 } as ServerParts;
  const request = { headers: {}, socket: { remoteAddress: undefined } };
  const options = { parts, request, socket: new PassThrough() as unknown as Socket, kind: 'agent' as const };
  const whose = { agentId: 'a', tenant: 't' };
  const connection = new LiveConnection(socket as unknown as WebSocket, { ...options, ...whose });
  onTestFinished(() => connection.close(1000, 'done'));
  connection.start();
  const ping = JSON.stringify({ type: 'ping', t: 'x'.repeat(500_000) });
  const ask = async (): Promise<void> => {
    while (!socket.isPaused) {
      socket.emit('message', ping, false);
      await new Promise(setImmediate);
    }
  };

  await ask();
  expect(socket.sent).toBe(4);
  expect(socket.bufferedAmount).toBeLessThan(2 * 1024 * 1024);

  socket.drain();
  expect(socket.isPaused).toBe(false);
  await ask();
  expect(socket.sent).toBe(7);
});
