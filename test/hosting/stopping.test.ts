/** A server that stops while its stores do not answer. */
import { expect, it } from 'vitest';
import type { LeaseStore } from '../../src/records/coordination.js';
import type { RunLog } from '../../src/records/run-log.js';
import { PROBE } from '../transport/support/documents.js';
import { durableStores } from '../transport/support/durable-stores.js';
import { openStream } from '../transport/support/event-stream.js';
import { lostLeases } from '../transport/support/lost-leases.js';
import { startServer } from '../transport/support/server.js';

it('ends, and another one resumes its runs when their leases expire', async () => {
  const stores = durableStores();
  let isAway = false;
  const answer = <T>(work: () => Promise<T>): Promise<T> => (isAway ? new Promise(() => {}) : work());
  const log: RunLog = {
    ...stores.log,
    append: (...args) => answer(async () => stores.log.append(...args)),
  };
  const short = lostLeases(stores.leases);
  const leases: LeaseStore = {
    ...short,
    acquire: (...args) => answer(() => short.acquire(...args)),
    renew: (...args) => answer(() => short.renew(...args)),
    release: (...args) => answer(() => short.release(...args)),
  };
  const first = await startServer({ stores: { ...stores, log, leases }, env: { RUNNEL_LEASE_MS: '400' } });
  const agent = await first.agent(PROBE);
  const stream = await openStream(`${first.url}/api/v1/agents/${agent}/stream`, { body: { query: 'x' } });
  const run = String(stream.headers.get('x-run-id'));
  const probe = await first.probes.next();
  isAway = true;
  probe.settle();
  await first.stop();

  const second = await startServer({ stores, env: { RUNNEL_LEASE_MS: '400' } });
  (await second.probes.next()).settle();
  const resumed = await openStream(`${second.url}/api/v1/agents/${agent}/runs/${run}/events`);
  expect((await resumed.rest()).at(-2)?.json).toMatchObject({ event: 'workflow_finished' });
});
