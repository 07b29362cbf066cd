/** Two servers over the same stores: what one begins the other can follow, stop and finish. */
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import type { Checkpoint } from '../../src/graph/state.js';
import type { LeaseStore } from '../../src/records/coordination.js';
import type { RunLog } from '../../src/records/run-log.js';
import { latestVersion } from '../../src/records/versions.js';
import type { ServerStores } from '../../src/transport/server-parts.js';
import { documentOf, ECHO, PROBE } from '../transport/support/documents.js';
import { durableStores } from '../transport/support/durable-stores.js';
import { type Frame, namesOf, openStream, type StreamClient } from '../transport/support/event-stream.js';
import { connect } from '../transport/support/live-client.js';
import { startServer, type TestServer, type TestServerOptions } from '../transport/support/server.js';

const ENV = { RUNNEL_LEASE_MS: '400' };

/** Two steps that a test plays, then an answer. */
const TWO_PROBES = documentOf({
  begin: ['Begin', ['Probe:P']],
  'Probe:P': ['Probe', ['Probe:Q']],
  'Probe:Q': ['Probe', ['Message:A']],
  'Message:A': ['Message', [], { content: ['after {sys.query}'] }],
});

async function startTwo(options: TestServerOptions = {}): Promise<readonly [TestServer, TestServer, ServerStores]> {
  const { stores = durableStores(), ...others } = options;
  const first = await startServer({ ...others, stores, env: { ...ENV, ...options.env } });
  const second = await startServer({ ...others, stores, env: { ...ENV, ...options.env } });
  return [first, second, stores];
}

const startRun = (server: TestServer, agent: string, body: object = { query: 'x' }): Promise<StreamClient> =>
  openStream(`${server.url}/api/v1/agents/${agent}/stream`, { body });

const runOf = (stream: StreamClient): string => String(stream.headers.get('x-run-id'));

const follow = (server: TestServer, agent: string, run: string, after = 0): Promise<StreamClient> =>
  openStream(`${server.url}/api/v1/agents/${agent}/runs/${run}/events?after=${after}`);

const isPiece = ({ json }: Frame): boolean => json?.event === 'message';

const statusOf = async (server: TestServer, agent: string, run: string): Promise<unknown> =>
  (await server.call('GET', `/api/v1/agents/${agent}/runs/${run}`)).body.data;

describe('a run whose server stops', () => {
  it('goes on in another one: finished nodes are not run again, the one at work says that it starts anew', async () => {
    const [first, second] = await startTwo();
    const agent = await first.agent(TWO_PROBES);
    const stream = await startRun(first, agent);
    const run = runOf(stream);
    (await first.probes.next()).settle();
    const lost = await first.probes.next();
    lost.say('half a sen');
    const seen = await stream.until(isPiece);
    await first.stop();
    await lost.stopped;

    const attached = await follow(second, agent, run, Number(seen.at(-1)?.id));
    const again = await second.probes.next();
    again.say('a whole sentence');
    again.settle();
    const rest = await attached.rest();
    const kept = await (await follow(second, agent, run)).rest();
    expect([...seen, ...rest]).toEqual(kept);
    const started = seen.find(({ json }) => json.event === 'node_started' && json.data.component_id === 'Probe:Q');
    expect(rest[0]?.json).toMatchObject({
      event: 'node_restarted',
      data: { component_id: 'Probe:Q', retract_from: started?.id },
    });
    expect(namesOf(kept).filter((name) => name === 'workflow_started' || name === 'workflow_finished')).toHaveLength(2);
    expect(kept.at(-2)?.json.data.outputs).toMatchObject({ content: 'after x' });
    expect(await statusOf(second, agent, run)).toMatchObject({ status: 'succeeded' });
    const { session_id } = (seen[0] as Frame).json;
    const session = (await second.call('GET', `/api/v1/agents/${agent}/sessions/${session_id}`)).body.data;
    // What was taken back is not part of the conversation.
    expect(session.message.at(-1)).toMatchObject({ role: 'assistant', content: 'a whole sentenceafter x' });
    expect(session).toMatchObject({ round: 1, errors: null });
  });

  it('ends with PLAN_CHANGED where its graph is another one', async () => {
    const stores = durableStores();
    const first = await startServer({ stores, env: ENV });
    const agent = await first.agent(PROBE);
    const run = runOf(await startRun(first, agent));
    await first.probes.next();
    await first.stop();
    await changeSnapshot(stores.log, run, { planHash: 'another' });
    const second = await startServer({ stores, env: ENV });
    const frames = await (await follow(second, agent, run)).rest();
    expect(namesOf(frames).slice(-2)).toEqual(['500', '[DONE]']);
    expect(frames.at(-2)?.json).toMatchObject({ code: 500, error: 'PLAN_CHANGED' });
    expect(await statusOf(second, agent, run)).toMatchObject({ status: 'failed', error: { code: 'PLAN_CHANGED' } });
    // The session is free again.
    const { session_id } = (frames[0] as Frame).json;
    const next = await startRun(second, agent, { query: 'again', session_id });
    (await second.probes.next()).settle();
    expect(namesOf(await next.rest()).at(-2)).toBe('workflow_finished');
  });

  it.each([
    {
      what: 'with events but without a snapshot',
      break: async (log: RunLog, run: string) => {
        const events = (await log.read('local', run, 0, { maxEvents: 100, maxBytes: 1_000_000 })) ?? [];
        await log.delete('local', run);
        await log.append('local', run, { events });
      },
      code: 'RUN_LOST',
    },
    {
      what: 'with events that do not fit its state',
      break: async (log: RunLog, run: string) => {
        const seq = (await lastSeqOf(log, run)) + 1;
        const settled = {
          type: 'node-settled',
          run,
          seq,
          at: 0,
          node: 'Probe:P',
          token: 99,
          outputs: {},
          elapsedMs: 0,
        };
        await log.append('local', run, { events: [{ seq, event: settled.type, json: JSON.stringify(settled) }] });
      },
      code: 'CHECKPOINT_INVALID',
    },
  ])('ends as failed $what', async ({ break: breakLog, code }) => {
    const stores = durableStores();
    const first = await startServer({ stores, env: ENV });
    const agent = await first.agent(PROBE);
    const run = runOf(await startRun(first, agent));
    await first.probes.next();
    await first.stop();
    await breakLog(stores.log, run);
    const second = await startServer({ stores, env: ENV });
    const frames = await (await follow(second, agent, run)).rest();
    expect(frames.at(-2)?.json).toMatchObject({ code: 500, error: code });
    expect(await statusOf(second, agent, run)).toMatchObject({ status: 'failed', error: { code } });
  });

  it('ends as failed when its process was lost again and again', async () => {
    const stores = durableStores({ areKilled: true });
    const first = await startServer({ stores, env: ENV });
    const agent = await first.agent(PROBE);
    const run = runOf(await startRun(first, agent));
    await first.probes.next();
    await first.stop();
    const record = await stores.runs.find('local', run);
    const launch = { isDetached: false, headers: {}, crashes: 5, isTried: true, trials: 2 };
    await stores.runs.save('local', { ...(record as NonNullable<typeof record>), launch });
    const second = await startServer({ stores, env: ENV });
    const frames = await (await follow(second, agent, run)).rest();
    expect(frames.at(-2)?.json).toMatchObject({ code: 500, error: 'RUN_LOST' });
    const ended = await stores.runs.find('local', run);
    expect(ended).toMatchObject({ status: 'failed' });
    // What it was started with may be secret.
    expect(ended).not.toHaveProperty('launch');
  });

  it('waits for its answers as before', async () => {
    const [first, second] = await startTwo();
    const agent = await first.agent(
      documentOf({
        begin: ['Begin', ['Probe:P', 'UserFillUp:B']],
        'Probe:P': ['Probe', []],
        'UserFillUp:B': [
          'UserFillUp',
          ['Message:A'],
          { inputs: { city: { name: 'City', type: 'line', optional: false } } },
        ],
        'Message:A': ['Message', [], { content: ['to {UserFillUp:B@city}'] }],
      }),
    );
    const stream = await startRun(first, agent);
    await first.probes.next();
    await first.stop();
    const attached = await follow(second, agent, runOf(stream));
    (await second.probes.next()).settle();
    const frames = await attached.rest();
    expect(frames.at(-2)?.json).toMatchObject({ event: 'user_inputs', data: { inputs: { city: {} } } });
    expect(await statusOf(second, agent, runOf(stream))).toMatchObject({ status: 'waiting' });
    const { session_id } = (frames[0] as Frame).json;
    const answered = await startRun(second, agent, { session_id, inputs: { city: 'Oslo' } });
    const texts = (await answered.rest()).filter(isPiece).map(({ json }) => json.data.content);
    expect(texts.join('')).toContain('Oslo');
  });

  it('is found by the next turn of its session, too', async () => {
    const stores = durableStores();
    const first = await startServer({ stores, env: ENV });
    const agent = await first.agent(PROBE);
    const stream = await startRun(first, agent);
    const [started] = await stream.until(() => true);
    await first.probes.next();
    await first.stop();
    // Nobody finds its lease.
    const leases: LeaseStore = { ...stores.leases, expired: async () => [] };
    const second = await startServer({ stores: { ...stores, leases }, env: ENV });
    const { session_id } = (started as Frame).json;
    const path = `/api/v1/agents/${agent}/run`;
    expect((await second.call('POST', path, { query: 'more', session_id })).body).toMatchObject({ code: 103 });
    (await second.probes.next()).settle();
    expect(namesOf(await (await follow(second, agent, runOf(stream))).rest()).at(-2)).toBe('workflow_finished');
  });
});

describe('a run of another server', () => {
  it('can be followed while it goes on, by event streams and WebSockets', async () => {
    const [first, second] = await startTwo();
    const agent = await first.agent(PROBE);
    const stream = await startRun(first, agent);
    const run = runOf(stream);
    const probe = await first.probes.next();
    probe.say('one ');
    const elsewhere = await follow(second, agent, run);
    await elsewhere.until(isPiece);
    const live = await connect(second.url, agent);
    await live.next();
    live.send({ type: 'attach', req: 1, run_id: run });
    expect(await live.next()).toMatchObject({ type: 'attached', status: 'running' });
    probe.say('two');
    await elsewhere.until(isPiece);
    probe.settle();
    await elsewhere.rest();
    const frames = await live.done(run);
    expect(frames.at(-1)).toMatchObject({ type: 'done', status: 'succeeded' });
    const own = (await stream.rest()).slice(0, -1);
    expect(frames.slice(0, -1).map(({ seq, event }) => ({ seq, event }))).toEqual(
      own.map(({ id, json }) => ({ seq: id, event: json })),
    );
    expect(elsewhere.raw.replace(/^:.*\n\n/gm, '')).toBe(stream.raw.replace(/^:.*\n\n/gm, ''));
  });

  it('counts its followers elsewhere as clients', async () => {
    const [first, second] = await startTwo({ env: { RUNNEL_DETACH_GRACE_MS: '400' } });
    const agent = await first.agent(PROBE);
    const stream = await startRun(first, agent);
    const probe = await first.probes.next();
    const elsewhere = await follow(second, agent, runOf(stream));
    await elsewhere.next();
    await stream.leave();
    // One that nobody follows, left later.
    const lonely = await startRun(first, agent);
    const abandoned = await first.probes.next();
    await lonely.leave();
    await abandoned.stopped;
    expect(probe.isStopped).toBe(false);
    probe.settle();
    expect(namesOf(await elsewhere.rest()).at(-2)).toBe('workflow_finished');
  });

  it.each([
    ['by its id', (agent: string, run: string) => [`/api/v1/agents/${agent}/runs/${run}/cancel`, undefined] as const],
    ['by its agent', (agent: string) => [`/api/v1/agents/${agent}/cancel`, {}] as const],
    [
      'by its session',
      (agent: string, _run: string, session: string) =>
        [`/api/v1/agents/${agent}/cancel`, { session_id: session }] as const,
    ],
    [
      'as a task',
      (_agent: string, _run: string, session: string) => [`/api/v1/tasks/${session}/cancel`, undefined] as const,
    ],
  ])('can be cancelled %s', async (_way, requestOf) => {
    const [first, second] = await startTwo();
    const agent = await first.agent(PROBE);
    const stream = await startRun(first, agent);
    const [started] = await stream.until(() => true);
    const probe = await first.probes.next();
    const [path, body] = requestOf(agent, runOf(stream), started?.json.session_id);
    expect((await second.call('POST', path, body)).body).toEqual({ code: 0, message: 'success', data: true });
    await probe.stopped;
    const rest = await stream.rest();
    expect(rest.at(-2)?.json).toMatchObject({ data: { outputs: 'Task has been canceled' } });
    expect(await statusOf(second, agent, runOf(stream))).toMatchObject({ status: 'cancelled' });
    // The next run of the session hears nothing of it.
    const next = await startRun(second, agent, { query: 'again', session_id: started?.json.session_id });
    (await second.probes.next()).settle();
    expect((await next.rest()).at(-2)?.json.data.outputs).toMatchObject({ content: 'done' });
  });

  it('can be cancelled over a WebSocket', async () => {
    const [first, second] = await startTwo();
    const agent = await first.agent(PROBE);
    const stream = await startRun(first, agent);
    await first.probes.next();
    const live = await connect(second.url, agent);
    await live.next();
    live.send({ type: 'cancel', req: 1, run_id: runOf(stream) });
    expect(await live.next()).toMatchObject({ type: 'done', status: 'cancelled' });
  });

  it('is none of the business of other tenants', async () => {
    const [first, second] = await startTwo({ env: { RUNNEL_API_KEYS: 'ann=the-key-of-ann-x,bob=the-key-of-bob-x' } });
    const ann = { authorization: 'Bearer the-key-of-ann-x' };
    const bob = { authorization: 'Bearer the-key-of-bob-x' };
    const agent = await first.agent(PROBE, ann);
    const stream = await openStream(`${first.url}/api/v1/agents/${agent}/stream`, {
      body: { query: 'x' },
      headers: ann,
    });
    const [started] = await stream.until(() => true);
    const probe = await first.probes.next();
    const { session_id } = (started as Frame).json;
    for (const task of [runOf(stream), session_id]) await second.call('POST', `/api/v1/tasks/${task}/cancel`, {}, bob);
    expect((await second.call('GET', `/api/v1/agents/${agent}/runs/${runOf(stream)}`, undefined, bob)).body.code).toBe(
      103,
    );
    probe.say('untouched');
    await stream.until(isPiece);
    probe.settle();
    expect((await stream.rest()).at(-2)?.json.data.outputs).toMatchObject({ content: 'done' });
  });

  it('keeps its session to itself', async () => {
    const [first, second] = await startTwo();
    const agent = await first.agent(PROBE);
    const stream = await startRun(first, agent);
    const [started] = await stream.until(() => true);
    const { session_id } = (started as Frame).json;
    const probe = await first.probes.next();
    for (const server of [first, second]) {
      const answer = await server.call('POST', `/api/v1/agents/${agent}/run`, { query: 'y', session_id });
      expect(answer.body).toMatchObject({ code: 103, message: 'This agent session is already running.' });
    }
    probe.settle();
    await stream.rest();
    const both = [first, second].map((server) => startRun(server, agent, { query: 'z', session_id }).catch(String));
    const [winner] = (await Promise.all(both)).filter((answer) => typeof answer !== 'string');
    expect((await Promise.all(both)).filter((answer) => typeof answer === 'string')).toHaveLength(1);
    (await Promise.race([first.probes.next(), second.probes.next()])).settle();
    await winner?.rest();
  });

  it('ends when its agent is deleted: its clients are told, and nothing is left', async () => {
    const [first, second, stores] = await startTwo();
    const agent = await first.agent(PROBE);
    const stream = await startRun(first, agent);
    const probe = await first.probes.next();
    expect((await second.call('DELETE', `/api/v1/agents/${agent}`)).body.code).toBe(0);
    await probe.stopped;
    expect((await stream.rest()).at(-2)?.json).toMatchObject({ data: { outputs: 'Task has been canceled' } });
    expect(await stores.runs.find('local', runOf(stream))).toBeUndefined();
    expect(await stores.log.read('local', runOf(stream), 0, { maxEvents: 1, maxBytes: 1 })).toBeUndefined();
    expect(await stores.log.snapshot('local', runOf(stream))).toBeUndefined();
  });
});

describe('two who publish at once', () => {
  it('make two versions, of which the newest is what runs', async () => {
    const [first, second, stores] = await startTwo();
    const agent = await first.agent(ECHO);
    const publish = (server: TestServer, word: string) =>
      server.call('POST', `/api/v1/agents/${agent}/publish`, {
        dsl: documentOf({ begin: ['Begin', ['Message:A']], 'Message:A': ['Message', [], { content: [word] }] }),
      });
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) => publish(at % 2 === 0 ? first : second, `version ${at}`)),
    );
    expect(answers.map(({ body }) => body.code)).toEqual(answers.map(() => 0));
    const { body } = await first.call('GET', `/api/v1/agents/${agent}/versions`);
    expect(body.data).toHaveLength(10);
    const latest = await latestVersion(stores.versions, 'local', agent);
    expect((await stores.agents.find('local', agent))?.published?.dsl).toEqual(latest?.dsl);
  });
});

describe('a run whose lease another process has', () => {
  it('is put down, and its client goes on with what the other one does', async () => {
    const stores = durableStores();
    let isLost = false;
    const leases: LeaseStore = {
      ...stores.leases,
      // Never prolonged, so that the other server finds it expired.
      acquire: (tenant, lease) => stores.leases.acquire(tenant, lease, 1),
      renew: async () => !isLost,
      expired: async () => [],
    };
    const first = await startServer({ stores: { ...stores, leases }, env: ENV });
    const agent = await first.agent(PROBE);
    const stream = await startRun(first, agent);
    const probe = await first.probes.next();
    isLost = true;
    await probe.stopped;
    const second = await startServer({ stores, env: ENV });
    (await second.probes.next()).settle();
    expect((await stream.rest()).at(-2)?.json.data.outputs).toMatchObject({ content: 'done' });
  });
});

describe('a process that was halted for longer than its leases', () => {
  const FIRST_AT = 1_000_000;

  /** A server whose clock a test moves, and whose leases it confirms. */
  async function startHalted() {
    const stores = durableStores();
    let clock = FIRST_AT;
    // The timer of the leases asks as well.
    const answers: ((isHeld: boolean) => void)[] = [];
    let whenAsked: () => void = () => {};
    const asked = new Promise<void>((resolve) => {
      whenAsked = resolve;
    });
    let acquired: Parameters<LeaseStore['acquire']> | undefined;
    const leases: LeaseStore = {
      ...stores.leases,
      acquire(...lease) {
        acquired = lease;
        return stores.leases.acquire(...lease);
      },
      renew(tenant, name, owner, ttlMs) {
        if (clock === FIRST_AT) return stores.leases.renew(tenant, name, owner, ttlMs);
        whenAsked();
        return new Promise((resolve) => answers.push(resolve));
      },
    };
    const server = await startServer({ stores: { ...stores, leases }, env: ENV, now: () => clock });
    const agent = await server.agent(TWO_PROBES);
    const stream = await startRun(server, agent);
    const first = await server.probes.next();
    clock += Number(ENV.RUNNEL_LEASE_MS) + 1;
    first.settle();
    // What the node did is stored then, and the next one would begin.
    await stream.until(({ json }) => json?.event === 'node_finished' && json.data.component_id === 'Probe:P');
    await asked;
    const confirm = async (isHeld: boolean): Promise<void> => {
      const [tenant, lease] = acquired as Parameters<LeaseStore['acquire']>;
      if (!isHeld) await stores.leases.acquire(tenant, lease, 1);
      for (const answer of answers) answer(isHeld);
    };
    return { server, stream, stores, confirm, now: () => clock };
  }

  it('begins no node until its lease is confirmed', async () => {
    const { server, stream, confirm } = await startHalted();
    let hasBegun = false;
    const second = server.probes.next().then((probe) => {
      hasBegun = true;
      return probe;
    });
    // A round trip through the server: what was due there has been done.
    await server.call('GET', '/healthz');
    expect(hasBegun).toBe(false);
    await confirm(true);
    (await second).settle();
    expect((await stream.rest()).at(-2)?.json.data.outputs).toMatchObject({ content: 'after x' });
  });

  it('begins none when another process has the run', async () => {
    const { server, stores, stream, confirm, now } = await startHalted();
    const begun: unknown[] = [];
    void server.probes.next().then((probe) => begun.push(probe));
    await confirm(false);
    const successor = await startServer({ stores, env: ENV, now });
    (await successor.probes.next()).settle();
    expect((await stream.rest()).at(-2)?.json.data.outputs).toMatchObject({ content: 'after x' });
    expect(begun).toEqual([]);
  });
});

describe('a store that is away', () => {
  const away = () => new EngineError('STORE_UNAVAILABLE', 'The store is away.', { retryable: true });

  it('while a run ends delays the end, which is then kept and shown', async () => {
    const stores = durableStores();
    let failures = 0;
    const log: RunLog = {
      ...stores.log,
      append: (tenant, run, batch) => {
        if (batch.events[0]?.event !== 'run-settled' || failures >= 3) return stores.log.append(tenant, run, batch);
        failures += 1;
        throw away();
      },
    };
    const server = await startServer({ stores: { ...stores, log }, env: ENV });
    const agent = await server.agent(ECHO);
    const stream = await startRun(server, agent);
    const frames = await stream.rest();
    expect(failures).toBe(3);
    expect(namesOf(frames).slice(-2)).toEqual(['workflow_finished', '[DONE]']);
    expect(await (await follow(server, agent, runOf(stream))).rest()).toEqual(frames);
  });

  it('takes back no event that a client has received', async () => {
    const stores = durableStores();
    let isAway = false;
    let doubt: number | undefined;
    const log: RunLog = {
      ...stores.log,
      confirm: async () => {
        doubt = undefined;
      },
      append: async (tenant, run, batch) => {
        // As in Redis, where the next write takes back what has failed without an answer.
        if (doubt !== undefined) throw new EngineError('CONFLICT', 'Events were taken back.');
        await stores.log.append(tenant, run, batch);
        if (!isAway || batch.events.length === 0) return;
        isAway = false;
        doubt = batch.events[0]?.seq;
        throw away();
      },
    };
    const { server, agent, run, frames } = await failedMidway({ ...stores, log }, () => {
      isAway = true;
    });
    expect(await (await follow(server, agent, run)).rest()).toEqual(frames);
  });

  it('while a run goes on ends it with an error that says so', async () => {
    const stores = durableStores();
    let isAway = false;
    const log: RunLog = {
      ...stores.log,
      append: async (tenant, run, batch) => {
        if (isAway && batch.events.at(-1)?.event !== 'run-failed') throw away();
        await stores.log.append(tenant, run, batch);
      },
    };
    const { server, agent, run, frames } = await failedMidway({ ...stores, log }, () => {
      isAway = true;
    });
    // The node was never shown as finished, for it is not kept as finished.
    expect(namesOf(frames).filter((name) => name === 'node_finished')).toHaveLength(1);
    expect(await statusOf(server, agent, run)).toMatchObject({ status: 'failed' });
  });

  /** A run whose first node ends when its store is away, and its frames: the last one says so. */
  async function failedMidway(stores: ServerStores, leave: () => void) {
    const server = await startServer({ stores, env: ENV });
    const agent = await server.agent(TWO_PROBES);
    const stream = await startRun(server, agent);
    const probe = await server.probes.next();
    leave();
    probe.settle();
    const frames = await stream.rest();
    expect(frames.at(-2)?.json).toMatchObject({ code: 500, error: 'STORE_UNAVAILABLE' });
    return { server, agent, run: runOf(stream), frames };
  }
});

async function lastSeqOf(log: RunLog, run: string): Promise<number> {
  return (await log.read('local', run, 0, { maxEvents: 100, maxBytes: 1_000_000 }))?.at(-1)?.seq ?? 0;
}

/** Puts a snapshot of a run's last event in the place of the newest one. */
async function changeSnapshot(log: RunLog, run: string, change: Partial<Checkpoint>): Promise<void> {
  const newest = (await log.snapshot('local', run)) as Checkpoint;
  await log.append('local', run, { events: [], snapshot: { ...newest, seq: await lastSeqOf(log, run), ...change } });
}
