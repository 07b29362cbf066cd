/** Runs whose server was lost, and what becomes of them where they cannot go on. */
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import type { LeaseStore } from '../../src/records/coordination.js';
import type { LoggedEvent, RunLog } from '../../src/records/run-log.js';
import type { SessionStore } from '../../src/records/sessions.js';
import { documentOf, PROBE } from '../transport/support/documents.js';
import { durableStores } from '../transport/support/durable-stores.js';
import { type Frame, openStream } from '../transport/support/event-stream.js';
import { startServer, type TestServer } from '../transport/support/server.js';

const ADMIN_KEY = 'a-key-for-the-administrator';
const ENV = { RUNNEL_LEASE_MS: '400', RUNNEL_ADMIN_KEY: ADMIN_KEY };

/** A run that has one Probe at work, left by its server. */
async function lostRun(dsl = PROBE) {
  const stores = durableStores({ areKilled: true });
  const server = await startServer({ stores, env: ENV });
  const agent = await server.agent(dsl);
  const stream = await openStream(`${server.url}/api/v1/agents/${agent}/stream`, { body: { query: 'x' } });
  await server.probes.next();
  await server.stop();
  return { stores, agent, run: String(stream.headers.get('x-run-id')) };
}

async function eventsOf(server: TestServer, agent: string, run: string): Promise<readonly Frame[]> {
  return (await openStream(`${server.url}/api/v1/agents/${agent}/runs/${run}/events`)).rest();
}

async function metricsOf(server: TestServer): Promise<readonly string[]> {
  const answer = await server.call('GET', '/api/v1/admin/metrics', undefined, { authorization: `Bearer ${ADMIN_KEY}` });
  return String(answer.body).split('\n');
}

it('a run that was taken over is counted where it ends, with its nodes', async () => {
  const { stores, agent, run } = await lostRun();
  const second = await startServer({ stores, env: ENV });
  (await second.probes.next()).settle();
  await eventsOf(second, agent, run);
  const lines = await metricsOf(second);
  expect(lines).toContain('ragflow_canvas_runs_total{runtime="runnel",outcome="success"} 1');
  expect(lines).toContain('ragflow_canvas_run_duration_seconds_count{runtime="runnel"} 1');
  expect(lines).toContain('runnel_node_duration_seconds_count{type="Probe",outcome="success"} 1');
});

it('a run whose end only its record lacks is counted by whoever completes that', async () => {
  const { stores, run } = await lostRun();
  const seq = (await lastSeqOf(stores.log, run)) + 1;
  await stores.log.append('local', run, { events: [settledAt(run, seq)] });
  const [leases, released] = watchReleases(stores.leases);
  const second = await startServer({ stores: { ...stores, leases }, env: ENV });
  await released;
  expect(await stores.runs.find('local', run)).toMatchObject({ status: 'succeeded', lastSeq: seq });
  expect(await metricsOf(second)).toContain('ragflow_canvas_runs_total{runtime="runnel",outcome="success"} 1');
});

it('a run is recovered without what its former process writes after all', async () => {
  const { stores, agent, run } = await lostRun();
  const late = { type: 'node-delta', run, at: 0, node: 'Probe:P', token: 2, port: 'content', text: 'late' };
  let isLate = true;
  let refusal: unknown;
  const log: RunLog = {
    ...stores.log,
    append: async (tenant, id, batch) => {
      const [first] = batch.events;
      if (isLate && first !== undefined && batch.events.some(({ event }) => event === 'node-started')) {
        isLate = false;
        const { seq } = first;
        const json = JSON.stringify({ ...late, seq });
        const lost = async (): Promise<void> =>
          stores.log.append(tenant, id, { events: [{ seq, event: late.type, json }] });
        refusal = await lost().catch((error: unknown) => error);
      }
      await stores.log.append(tenant, id, batch);
    },
  };
  const second = await startServer({ stores: { ...stores, log }, env: ENV });
  (await second.probes.next()).settle();
  const frames = await eventsOf(second, agent, run);
  expect(frames.at(-2)?.json).toMatchObject({ event: 'workflow_finished' });
  const ids = frames.slice(0, -1).map(({ id }) => id as number);
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  const { session_id } = frames[0]?.json ?? {};
  const session = (await second.call('GET', `/api/v1/agents/${agent}/sessions/${session_id}`)).body.data;
  expect(session.message.at(-1).content).not.toContain('late');
  expect(second.errors).toEqual([]);
  expect(refusal).toMatchObject({ code: 'CONFLICT' });
});

it('a run that its former process would end after all has one end', async () => {
  const { stores, agent, run } = await lostRun();
  let seq = 0;
  let refusal: unknown;
  const log: RunLog = {
    ...stores.log,
    append: (tenant, id, batch) => {
      const [first] = batch.events;
      if (seq === 0 && first?.event === 'run-settled') {
        seq = first.seq;
        try {
          void stores.log.append(tenant, id, { events: [settledAt(id, seq, 'by the former process')] });
        } catch (error) {
          refusal = error;
        }
      }
      return stores.log.append(tenant, id, batch);
    },
  };
  const [leases, released] = watchReleases(stores.leases);
  const second = await startServer({ stores: { ...stores, log, leases }, env: ENV });
  (await second.probes.next()).settle();
  await released;
  const frames = await eventsOf(second, agent, run);
  const ends = frames.filter(({ json }) => json?.event === 'workflow_finished').map(({ json }) => json?.data.outputs);
  expect(ends).toEqual([{ content: 'done' }]);
  expect(refusal).toMatchObject({ code: 'CONFLICT' });
  expect(await stores.runs.find('local', run)).toMatchObject({ status: 'succeeded', lastSeq: seq });
});

describe('a lost run that cannot be taken over', () => {
  it('ends as failed when an event of its log cannot be read', async () => {
    const { stores, agent, run } = await lostRun();
    const seq = (await lastSeqOf(stores.log, run)) + 1;
    await stores.log.append('local', run, { events: [{ seq, event: 'node-settled', json: '{"type":' }] });
    const second = await startServer({ stores, env: ENV });
    const stream = await openStream(`${second.url}/api/v1/agents/${agent}/runs/${run}/events?after=${seq}`);
    const [last] = await stream.rest();
    expect(last?.json).toMatchObject({
      code: 500,
      error: 'RUN_LOST',
      message: expect.stringContaining(`event ${seq}`),
    });
    expect(await stores.runs.find('local', run)).toMatchObject({ status: 'failed', error: { code: 'RUN_LOST' } });
  });

  it('ends as failed when the event that ended it cannot be read', async () => {
    const { stores, run } = await lostRun();
    const seq = (await lastSeqOf(stores.log, run)) + 1;
    await stores.log.append('local', run, { events: [{ seq, event: 'run-settled', json: '{"type":' }] });
    const [leases, released] = watchReleases(stores.leases);
    await startServer({ stores: { ...stores, leases }, env: ENV });
    await released;
    expect(await stores.runs.find('local', run)).toMatchObject({ status: 'failed', lastSeq: seq });
  });

  it.each(['log', 'journal', 'sessions'] as const)('ends as failed when its %s refuses for good', async (which) => {
    const { stores, run } = await lostRun();
    const refuse = async (): Promise<never> => {
      throw new Error('what is there is nonsense');
    };
    const broken = {
      log: { log: { ...stores.log, read: refuse } satisfies RunLog },
      journal: { log: { ...stores.log, snapshot: refuse } satisfies RunLog },
      sessions: { sessions: { ...stores.sessions, find: refuse } satisfies SessionStore },
    }[which];
    const [leases, released] = watchReleases(stores.leases);
    await startServer({ stores: { ...stores, ...broken, leases }, env: ENV });
    await released;
    const { status, error } = (await stores.runs.find('local', run)) ?? {};
    expect({ status, error }).toMatchObject({ status: 'failed', error: { message: expect.any(String) } });
  });

  it('is counted as lost before anything of it is looked at', async () => {
    const { stores, run } = await lostRun();
    let crashes: number | undefined;
    const log: RunLog = {
      ...stores.log,
      snapshot: async (...args) => {
        crashes = (await stores.runs.find('local', run))?.launch?.crashes;
        return stores.log.snapshot(...args);
      },
    };
    const second = await startServer({ stores: { ...stores, log }, env: ENV });
    await second.probes.next();
    expect(crashes).toBe(1);
  });

  it('is left alone after three losses of a process that tried it alone, and says so', async () => {
    const { stores, agent, run } = await lostRun();
    const record = await stores.runs.find('local', run);
    const launch = { isDetached: false, headers: {}, crashes: 5, isTried: true, trials: 2 };
    await stores.runs.save('local', { ...(record as NonNullable<typeof record>), launch });
    const kill = (): never => {
      throw new Error('this would end the process');
    };
    const log: RunLog = { ...stores.log, snapshot: kill };
    const second = await startServer({ stores: { ...stores, log }, env: ENV });
    const frames = await eventsOf(second, agent, run);
    expect(frames.at(-2)?.json).toMatchObject({ error: 'RUN_LOST', message: expect.stringContaining('6 times') });
    expect(await metricsOf(second)).toContain('ragflow_canvas_runs_total{runtime="runnel",outcome="error"} 1');
  });

  it('may be lost as often as it likes while its nodes finish in between', async () => {
    const { stores, agent, run } = await lostRun(
      documentOf({
        begin: ['Begin', ['Probe:0']],
        ...Object.fromEntries(
          Array.from({ length: 8 }, (_, at) => [`Probe:${at}`, ['Probe', at === 7 ? [] : [`Probe:${at + 1}`]]]),
        ),
      }),
    );
    for (let at = 0; at < 7; at += 1) {
      const server = await startServer({ stores, env: ENV });
      (await server.probes.next()).settle();
      await server.probes.next();
      await server.stop();
    }
    const last = await startServer({ stores, env: ENV });
    (await last.probes.next()).settle();
    expect((await eventsOf(last, agent, run)).at(-2)?.json).toMatchObject({ event: 'workflow_finished' });
  });

  it('may be lost as often as it likes while one node keeps steps of its work in between', async () => {
    const { stores, agent, run } = await lostRun();
    for (let at = 0; at < 8; at += 1) {
      const server = await startServer({ stores, env: ENV });
      (await server.probes.next()).keep(`step ${at}`);
      const kept = async (): Promise<number> => {
        const events = (await stores.log.read('local', run, 0, { maxEvents: 500, maxBytes: 1_000_000 })) ?? [];
        return events.filter(({ event }) => event === 'node-progress').length;
      };
      await expect.poll(kept, { timeout: 60_000 }).toBe(at + 1);
      await server.stop();
    }
    expect((await stores.runs.find('local', run))?.launch?.crashes).toBe(1);
    const last = await startServer({ stores, env: ENV });
    (await last.probes.next()).settle();
    expect((await eventsOf(last, agent, run)).at(-2)?.json).toMatchObject({ event: 'workflow_finished' });
  });

  it('does not count as lost while a store is away', async () => {
    const { stores, agent, run } = await lostRun();
    let looks = 0;
    const sessions: SessionStore = {
      ...stores.sessions,
      find: async (...args) => {
        looks += 1;
        if (looks <= 8) throw new EngineError('STORE_UNAVAILABLE', 'The store is away.', { retryable: true });
        return stores.sessions.find(...args);
      },
    };
    const second = await startServer({ stores: { ...stores, sessions }, env: ENV });
    (await second.probes.next()).settle();
    expect((await eventsOf(second, agent, run)).at(-2)?.json).toMatchObject({ event: 'workflow_finished' });
  });
});

/** The end of a run as its log has it. */
function settledAt(run: string, seq: number, content = 'done'): LoggedEvent {
  const usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0, calls: 0 };
  const event = { type: 'run-settled', run, seq, at: 1, outputs: { content }, elapsedMs: 1, input: {}, usage };
  return { seq, event: event.type, json: JSON.stringify(event) };
}

async function lastSeqOf(log: RunLog, run: string): Promise<number> {
  return (await log.read('local', run, 0, { maxEvents: 100, maxBytes: 1_000_000 }))?.at(-1)?.seq ?? 0;
}

/** The leases, and a promise that resolves when one is given back. */
function watchReleases(leases: LeaseStore): [LeaseStore, Promise<void>] {
  let tell: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const release: LeaseStore['release'] = async (...args) => {
    await leases.release(...args);
    tell();
  };
  return [{ ...leases, release }, released];
}
