/** A server that does not know that another one has its run: it was stopped for longer than its leases hold. */
import { expect, it } from 'vitest';
import type { RunLog } from '../../src/records/run-log.js';
import type { SessionStore } from '../../src/records/sessions.js';
import { PROBE } from '../transport/support/documents.js';
import { durableStores } from '../transport/support/durable-stores.js';
import { openStream } from '../transport/support/event-stream.js';
import { lostLeases } from '../transport/support/lost-leases.js';
import { startServer, type TestServer } from '../transport/support/server.js';

const ENV = { RUNNEL_LEASE_MS: '400' };

function gate() {
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

async function start(server: TestServer, agent: string, body: object) {
  const stream = await openStream(`${server.url}/api/v1/agents/${agent}/stream`, { body });
  return { stream, run: String(stream.headers.get('x-run-id')) };
}

const follow = (server: TestServer, agent: string, run: string) =>
  openStream(`${server.url}/api/v1/agents/${agent}/runs/${run}/events`);

it('stores nothing in a session that has gone on without it', async () => {
  const stores = durableStores();
  const [arrived, proceed] = [gate(), gate()];
  const sessions: SessionStore = {
    ...stores.sessions,
    async replace(tenant, before, after) {
      if (after.keptRun === undefined) return stores.sessions.replace(tenant, before, after);
      arrived.open();
      await proceed.opened;
      return stores.sessions.replace(tenant, before, after);
    },
  };
  const first = await startServer({ stores: { ...stores, sessions, leases: lostLeases(stores.leases) }, env: ENV });
  const agent = await first.agent(PROBE);
  const { stream, run } = await start(first, agent, { query: 'one' });
  const said = await first.probes.next();
  said.say('first');
  said.settle();
  await arrived.opened;

  // The last node and the end of the run are stored in one step, so the node runs again.
  const second = await startServer({ stores, env: ENV });
  const following = await follow(second, agent, run);
  const again = await second.probes.next();
  again.say('first');
  again.settle();
  const recovered = await following.rest();
  expect(recovered.at(-2)?.json).toMatchObject({ event: 'workflow_finished' });
  const { session_id } = recovered[0]?.json ?? {};
  const next = await start(second, agent, { query: 'two', session_id });
  const probe = await second.probes.next();
  proceed.open();
  expect(await stream.rest()).toEqual(recovered);
  probe.say('second');
  probe.settle();
  await next.stream.rest();
  const session = await stores.sessions.find('local', session_id);
  expect(session?.messages.map(({ role, content }) => [role, content])).toEqual([
    ['user', 'one'],
    ['assistant', 'first'],
    ['user', 'two'],
    ['assistant', 'second'],
  ]);
  expect(session).toMatchObject({ lastRun: next.run, keptRun: next.run, round: 2 });
  expect((await stores.runs.find('local', run))?.epoch).toBe(2);
});

it('finishes no node whose run another server is reading', async () => {
  const stores = durableStores();
  const first = await startServer({ stores: { ...stores, leases: lostLeases(stores.leases) }, env: ENV });
  const agent = await first.agent(PROBE);
  const { stream, run } = await start(first, agent, { query: 'x' });
  const lost = await first.probes.next();
  let isRead = false;
  const log: RunLog = {
    ...stores.log,
    async read(...args) {
      const page = await stores.log.read(...args);
      if (page?.length === 0 && !isRead) {
        isRead = true;
        lost.settle();
        // The server before has noticed: it has released the run.
        await lost.stopped;
      }
      return page;
    },
  };
  const second = await startServer({ stores: { ...stores, log }, env: ENV });
  (await second.probes.next()).settle();
  const frames = await (await follow(second, agent, run)).rest();
  const finished = frames
    .filter(({ json }) => json?.event === 'node_finished')
    .map(({ json }) => json.data.component_id);
  expect(finished).toEqual(['begin', 'Probe:P']);
  expect(await stream.rest()).toEqual(frames);
  expect(second.errors).toEqual([]);
  expect((await stores.runs.find('local', run))?.epoch).toBe(2);
});
