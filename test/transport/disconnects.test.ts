/** Clients that go away at random: `RUNNEL_TEST_DISCONNECTS` sets how often, 1,000 is the full number. */
import { describe, expect, it } from 'vitest';
import { createRandom, type Random } from '../support/random.js';
import { PROBE } from './support/documents.js';
import { startServer, type TestServer } from './support/server.js';

const DISCONNECTS = Number(process.env.RUNNEL_TEST_DISCONNECTS ?? 100);
const CLIENTS = 5;

describe('a client that is disconnected again and again', () => {
  it(`has the log of the server byte for byte in the end (${DISCONNECTS} times)`, { timeout: 300_000 }, async () => {
    const seed = Number(process.env.RUNNEL_TEST_SEED ?? Date.now() % 1_000_000);
    const random = createRandom(seed);
    const server = await startServer();
    const agent = await server.agent(PROBE);
    const started = await fetch(`${server.url}/api/v1/agents/${agent}/stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'x', detach: true }),
    });
    const run = started.headers.get('x-run-id') as string;
    await started.body?.cancel();
    const probe = await server.probes.next();
    const clients = Array.from(
      { length: CLIENTS },
      () => new Client(server, `/api/v1/agents/${agent}/runs/${run}/events`),
    );
    let piece = 0;
    for (let round = 0; round < DISCONNECTS / CLIENTS; round += 1) {
      const leaving = new AbortController();
      const reading = clients.map((client) => client.readSome(random, leaving));
      // While they read, and while they are away.
      for (let count = random.int(30); count >= 0; count -= 1) {
        piece += 1;
        probe.say(`${piece} – "${'ä'.repeat(random.int(200))}"\n`);
        if (random.chance(0.3)) await new Promise(setImmediate);
      }
      leaving.abort();
      await Promise.all(reading);
    }
    probe.settle();
    const log = new Client(server, clients[0]?.path as string);
    await log.readAll();
    for (const client of clients) {
      await client.readAll();
      expect({ seed, text: client.text }).toEqual({ seed, text: log.text });
    }
    const ids = [...log.text.matchAll(/^id: ?(\d+)$/gm)].map(([, id]) => Number(id));
    expect(ids).toEqual(ids.map((_, index) => index + 1));
    expect(ids.length).toBeGreaterThan(piece);
  });
});

/** Keeps whole frames; what was cut off is asked for again. */
class Client {
  text = '';
  readonly path: string;
  readonly #server: TestServer;

  constructor(server: TestServer, path: string) {
    this.#server = server;
    this.path = path;
  }

  /** Reads a random number of bytes or until it has to go, then goes away in the middle of whatever comes. */
  async readSome(random: Random, round: AbortController): Promise<void> {
    let left = random.int(8_000);
    const leaving = new AbortController();
    round.signal.addEventListener('abort', () => leaving.abort(), { once: true });
    await this.#read(leaving, (bytes) => {
      left -= bytes;
      if (left <= 0) leaving.abort();
    });
  }

  async readAll(): Promise<void> {
    await this.#read(new AbortController(), () => {});
  }

  async #read(leaving: AbortController, whenRead: (bytes: number) => void): Promise<void> {
    const after = [...this.text.matchAll(/^id: ?(\d+)$/gm)].at(-1)?.[1] ?? '0';
    const decoder = new TextDecoder();
    let unread = '';
    try {
      const response = await fetch(`${this.#server.url}${this.path}`, {
        headers: { 'last-event-id': after },
        signal: leaving.signal,
      });
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        unread += decoder.decode(chunk, { stream: true });
        whenRead(chunk.byteLength);
      }
    } catch (error) {
      // Gone, as it wanted to be.
      if (!leaving.signal.aborted) throw error;
    }
    const end = unread.lastIndexOf('\n\n') + 2;
    this.text += unread
      .slice(0, end)
      .replace(/^:.*\n\n/gm, '')
      .replace(/^data:\[DONE\]\n\n/m, '');
  }
}
