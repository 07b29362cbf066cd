/** A server that the nodes of runs call, and that keeps account of who called. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import type { Random } from '../../support/random.js';

export interface Ledger {
  readonly url: string;
  /** How often a node of a run has called. */
  calls(run: string, node: string): number;
  /** Keys under which a node of a run has called. */
  keys(run: string, node: string): ReadonlySet<string>;
  /** All calls. */
  readonly total: () => number;
  /** Resolves when there have been so many. */
  reached(total: number): Promise<void>;
}

/** Answers each call after a random time; a key is `<run>/<token>`, and the body says which node it is. */
export async function startLedger(random: Random, mostMs: number): Promise<Ledger> {
  const entries = new Map<string, { calls: number; readonly keys: Set<string> }>();
  let total = 0;
  const server = createServer(async (request, response) => {
    const key = String(request.headers['idempotency-key']);
    const { node } = JSON.parse(await text(request)) as { node: string };
    const place = `${key.split('/')[0]} ${node}`;
    const entry = entries.get(place) ?? { calls: 0, keys: new Set() };
    entries.set(place, entry);
    entry.calls += 1;
    entry.keys.add(key);
    total += 1;
    server.emit('call');
    setTimeout(() => response.end(node), random.int(mostMs));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    calls: (run, node) => entries.get(`${run} ${node}`)?.calls ?? 0,
    keys: (run, node) => entries.get(`${run} ${node}`)?.keys ?? new Set(),
    total: () => total,
    async reached(least) {
      while (total < least) await once(server, 'call');
    },
  };
}
