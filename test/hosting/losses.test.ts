/** Runs whose processes are lost: what begins anew, what counts as a loss, how many a process takes. */
import { describe, expect, it } from 'vitest';
import type { LeaseStore } from '../../src/records/coordination.js';
import type { RunLog } from '../../src/records/run-log.js';
import type { RunStore } from '../../src/records/runs.js';
import { documentOf, PROBE } from '../transport/support/documents.js';
import { durableStores } from '../transport/support/durable-stores.js';
import { openStream } from '../transport/support/event-stream.js';
import { lostLeases } from '../transport/support/lost-leases.js';
import { startServer, type TestServer } from '../transport/support/server.js';

const ENV = { RUNNEL_LEASE_MS: '400' };

const SPEAKING = documentOf({
  begin: ['Begin', ['Probe:P'], { inputs: { city: { name: 'City', type: 'line', optional: true } } }],
  'Probe:P': ['Probe', ['Message:A']],
  'Message:A': ['Message', [], { content: ['{sys.query} in {begin@city}, {sys.user_id}, {env.extra}'] }],
});

async function start(server: TestServer, agent: string, body: object) {
  const stream = await openStream(`${server.url}/api/v1/agents/${agent}/stream`, { body });
  return { stream, run: String(stream.headers.get('x-run-id')) };
}

const follow = (server: TestServer, agent: string, run: string) =>
  openStream(`${server.url}/api/v1/agents/${agent}/runs/${run}/events`);

/** Requests a run of a server that is stopped at its first write to a log, for longer than its leases hold; gives the run. */
async function startStopped(stores: ReturnType<typeof durableStores>, path: string, body: object) {
  let proceed: () => void = () => {};
  const stopped = new Promise<void>((resolve) => {
    proceed = resolve;
  });
  let ask: (run: string) => void = () => {};
  const asked = new Promise<string>((resolve) => {
    ask = resolve;
  });
  const log: RunLog = {
    ...stores.log,
    async append(tenant, run, batch) {
      ask(run);
      await stopped;
      await stores.log.append(tenant, run, batch);
    },
  };
  const leases = lostLeases(stores.leases);
  const server = await startServer({ stores: { ...stores, log, leases }, env: ENV });
  // Its client gets an error: what is not stored has not begun.
  openStream(`${server.url}/api/v1/agents/${path}`, { body }).catch(() => {});
  return { run: await asked, proceed };
}

describe('a run whose process is lost before anything of it is in its log', () => {
  it('begins anew with its question, inputs and user, in its session', async () => {
    const stores = durableStores();
    const first = await startServer({ stores, env: ENV });
    const agent = await first.agent(SPEAKING);
    const body = { query: 'rain', inputs: { city: 'Oslo' }, user_id: 'ann' };
    const { run, proceed } = await startStopped(stores, `${agent}/stream`, body);
    const second = await startServer({ stores, env: ENV });
    (await second.probes.next()).settle();
    const frames = await (await follow(second, agent, run)).rest();
    expect(frames.at(-2)?.json).toMatchObject({
      event: 'workflow_finished',
      data: { outputs: { content: expect.stringContaining('rain in Oslo, ann') } },
    });
    const record = await stores.runs.find('local', run);
    expect(record).toMatchObject({ status: 'succeeded' });
    expect(record).not.toHaveProperty('launch');
    const session = await stores.sessions.find('local', String(record?.sessionId));
    expect(session?.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(session).toMatchObject({ round: 1, keptRun: run });
    proceed();
  });

  it('begins anew behind the event of the run that it forks', async () => {
    const stores = durableStores();
    const first = await startServer({ stores, env: ENV });
    const agent = await first.agent(
      documentOf({
        begin: ['Begin', ['Probe:P']],
        'Probe:P': ['Probe', ['Probe:Q']],
        'Probe:Q': ['Probe', ['Message:A']],
        'Message:A': ['Message', [], { content: ['{Probe:P@content} {Probe:Q@content}'] }],
      }),
    );
    const { stream, run } = await start(first, agent, { query: 'x' });
    (await first.probes.next()).settle('kept');
    (await first.probes.next()).settle('old');
    const frames = await stream.rest();
    const at = frames.find(({ json }) => json?.event === 'node_finished' && json.data.component_id === 'Probe:P')?.id;
    await first.stop();
    const { run: fork, proceed } = await startStopped(stores, `${agent}/runs/${run}/fork?at=${at}`, {});
    const second = await startServer({ stores, env: ENV });
    (await second.probes.next()).settle('new');
    const ended = await (await follow(second, agent, fork)).rest();
    expect(ended.at(-2)?.json.data.outputs).toMatchObject({ content: 'kept new' });
    proceed();
  });
});

describe('losses', () => {
  it('count for nothing when a server stops and releases its runs', async () => {
    const stores = durableStores();
    const first = await startServer({ stores, env: ENV });
    const agent = await first.agent(PROBE);
    const { run } = await start(first, agent, { query: 'x' });
    await first.probes.next();
    await first.stop();
    for (let at = 0; at < 8; at += 1) {
      const server = await startServer({ stores, env: ENV });
      await server.probes.next();
      expect((await stores.runs.find('local', run))?.launch).not.toHaveProperty('crashes');
      await server.stop();
    }
    const last = await startServer({ stores, env: ENV });
    (await last.probes.next()).settle();
    expect((await (await follow(last, agent, run)).rest()).at(-2)?.json).toMatchObject({ event: 'workflow_finished' });
  });

  it('give up the run that ends its processes, and no run beside it', async () => {
    const stores = durableStores({ areKilled: true });
    const first = await startServer({ stores, env: ENV });
    const agent = await first.agent(PROBE);
    const healthy = [await start(first, agent, { query: 'a' }), await start(first, agent, { query: 'b' })];
    const killer = await start(first, agent, { query: 'c' });
    // What has finished before counts: the first losses of each are those of the same node.
    for (const _ of [...healthy, killer]) await first.probes.next();
    await first.stop();
    const statusOf = async (run: string) => (await stores.runs.find('local', run))?.status;
    let kills = 1;
    for (; (await statusOf(killer.run)) === 'running'; kills += 1) {
      let isGone = false;
      const runs: RunStore = {
        ...stores.runs,
        // What is gone stores nothing, however long it takes to be noticed.
        replace: (...args) => (isGone ? new Promise(() => {}) : stores.runs.replace(...args)),
      };
      const server = await startServer({ stores: { ...stores, runs }, env: ENV });
      const ended = (await follow(server, agent, killer.run)).rest();
      // Whatever else it recovers meanwhile, it is gone as soon as it performs that run.
      while (!isGone) {
        const probe = await Promise.race([server.probes.next(), ended.then(() => undefined)]);
        isGone = probe === undefined || probe.token.startsWith(killer.run);
      }
      await server.stop();
    }
    // The last one gave it up.
    expect(kills - 1).toBe(6);
    expect(await stores.runs.find('local', killer.run)).toMatchObject({
      error: { code: 'RUN_LOST', message: expect.stringContaining('6 times') },
    });
    const last = await startServer({ stores, env: ENV });
    for (const _ of healthy) (await last.probes.next()).settle();
    for (const { run } of healthy) {
      expect((await (await follow(last, agent, run)).rest()).at(-2)?.json).toMatchObject({
        event: 'workflow_finished',
      });
    }
  });
});

it('a process recovers no more runs than it may have', async () => {
  const stores = durableStores();
  const first = await startServer({ stores, env: ENV });
  const agent = await first.agent(PROBE);
  const runs = [];
  for (let at = 0; at < 5; at += 1) runs.push(await start(first, agent, { query: String(at) }));
  await first.stop();
  const held = new Set<string>();
  let most = 0;
  const leases: LeaseStore = {
    ...stores.leases,
    async acquire(tenant, lease, ttlMs) {
      held.add(lease.name);
      most = Math.max(most, held.size);
      return stores.leases.acquire(tenant, lease, ttlMs);
    },
    async release(tenant, name, owner) {
      held.delete(name);
      await stores.leases.release(tenant, name, owner);
    },
  };
  const second = await startServer({ stores: { ...stores, leases }, env: { ...ENV, RUNNEL_MAX_RUNS: '2' } });
  for (const _ of runs) (await second.probes.next()).settle();
  for (const { run } of runs) {
    expect((await (await follow(second, agent, run)).rest()).at(-2)?.json).toMatchObject({
      event: 'workflow_finished',
    });
  }
  expect(most).toBe(2);
});
