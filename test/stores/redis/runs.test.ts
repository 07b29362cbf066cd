import { afterAll, beforeAll, expect, it } from 'vitest';
import { NO_USAGE } from '../../../src/graph/state.js';
import type { RunRecord, RunTurn } from '../../../src/records/runs.js';
import { storesOpener } from './support/open-stores.js';
import { checkpointOf, freshId, runRecord } from './support/records.js';
import { anyRedis, describeRedis } from './support/redis-server.js';
import { startSlowLink } from './support/slow-link.js';
import { LIMIT_MS, timesOut } from './support/time-out.js';

const PAGE = { offset: 0, limit: 10 };
const DAYS_30_MS = 30 * 24 * 60 * 60 * 1000;

describeRedis('runs in Redis', () => {
  const opener = storesOpener();
  let server: Awaited<ReturnType<typeof anyRedis>>;
  const open = () => opener.open(server.url);

  beforeAll(async () => {
    server = await anyRedis();
  });
  afterAll(async () => {
    await opener.close();
    await server.dispose();
  });

  async function hashOf(run: string): Promise<Record<string, string>> {
    const flat = (await open().ask('HGETALL', `agent:run:${run}`)) as string[];
    return Object.fromEntries(Array.from({ length: flat.length / 2 }, (_, at) => [flat[2 * at], flat[2 * at + 1]]));
  }

  it.each<[Partial<RunRecord>, object]>([
    [{}, { status: '0', cancel_requested: '0', parent_run_id: '', interrupt_id: '' }],
    [
      { status: 'succeeded', finishedAt: 1_700_000_000_500, parentRun: 'p' },
      { status: '1', finished_at: '1700000000500', parent_run_id: 'p' },
    ],
    [
      { status: 'failed', error: { code: 'PLAN_INVALID', message: 'no start' } },
      { status: '2', failure_reason: 'compile: no start' },
    ],
    [{ status: 'failed', error: { code: 'NODE_FAILED', message: 'x' } }, { failure_reason: 'invoke: x' }],
    [{ status: 'cancelled' }, { status: '3', cancel_requested: '1' }],
    [
      { status: 'waiting', pending: { a: [1] } },
      { status: '4', interrupt_id: 'm' },
    ],
  ])('have the fields of the contract: %o', async (change, fields) => {
    const { runs, ask } = open();
    const run = runRecord(change);
    await runs.save('t', run);
    expect(await hashOf(run.id)).toMatchObject({
      ...{ canvas_id: run.agentId, tenant_id: 't', session_id: run.sessionId, started_at: '1700000000000' },
      ...fields,
    });
    expect(Number(await ask('PTTL', `agent:run:${run.id}`))).toBeGreaterThan(DAYS_30_MS - 60_000);
    expect(await open().runs.find('t', run.id)).toEqual(run);
  });

  it('change, and lose the fields that no longer hold', async () => {
    const { runs } = open();
    const run = runRecord({ status: 'succeeded', finishedAt: 1_700_000_000_500 });
    await runs.save('t', run);
    const waiting = { ...run, status: 'waiting' } as const;
    await runs.save('t', waiting);
    expect(await hashOf(run.id)).not.toHaveProperty('finished_at');
    expect(await runs.find('t', run.id)).toEqual(waiting);
    const count = async (status: RunRecord['status']) =>
      (await runs.list('t', { agentId: run.agentId, ...PAGE, status })).total;
    expect([await count('waiting'), await count('succeeded')]).toEqual([1, 0]);
  });

  it('do not go back to what they were when a write arrives late', async () => {
    const link = await startSlowLink(server.url);
    const { runs } = opener.open(link.url, { commandTimeoutMs: LIMIT_MS });
    const run = runRecord();
    await runs.save('t', run);
    await timesOut(link.holdRequests(), () =>
      expect(runs.save('t', { ...run, lastSeq: 1 })).rejects.toMatchObject({ retryable: true }),
    );
    link.cut();
    const ended = { ...run, status: 'succeeded', lastSeq: 2 } as const;
    await runs.save('t', ended);
    await link.deliver();
    expect(await runs.find('t', run.id)).toEqual(ended);
    await link.close();
  });

  it('are told of the checkpoint that was taken of them', async () => {
    const { runs, log } = open();
    const run = runRecord();
    await log.append('t', run.id, { events: [], snapshot: checkpointOf(run.id) });
    expect(await hashOf(run.id)).toEqual({});
    await runs.save('t', run);
    await log.append('t', run.id, { events: [], snapshot: checkpointOf(run.id) });
    expect(await hashOf(run.id)).toMatchObject({ checkpoint_id: run.id });
  });

  it('belong to one tenant', async () => {
    const { runs } = open();
    const run = runRecord();
    await runs.save('t', run);
    expect(await runs.find('u', run.id)).toBeUndefined();
    expect(await runs.list('u', { agentId: run.agentId, ...PAGE })).toEqual({ items: [], total: 0 });
    await expect(runs.save('u', run)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await runs.deleteOf('u', run.agentId)).toEqual([]);
    expect(await runs.find('t', run.id)).toEqual(run);
  });

  it('are listed newest first by agent, session and status', async () => {
    const { runs } = open();
    const agentId = freshId();
    const statuses = ['running', 'failed', 'succeeded', 'failed', 'succeeded'] as const;
    const all = statuses.map((status, at) =>
      runRecord({ agentId, sessionId: `s${at % 2}`, status, startedAt: 1000 + at }),
    );
    for (const run of all) await runs.save('t', run);
    await runs.save('t', runRecord());
    const list = async (query: object) => {
      const { items, total } = await runs.list('t', { agentId, ...PAGE, ...query });
      return [items.map(({ startedAt }) => startedAt - 1000), total];
    };
    expect(await list({})).toEqual([[4, 3, 2, 1, 0], 5]);
    expect(await list({ offset: 1, limit: 2 })).toEqual([[3, 2], 5]);
    expect(await list({ limit: 0 })).toEqual([[], 5]);
    expect(await list({ offset: 9 })).toEqual([[], 5]);
    expect(await list({ status: 'failed' })).toEqual([[3, 1], 2]);
    expect(await list({ sessionId: 's0' })).toEqual([[4, 2, 0], 3]);
    expect(await list({ sessionId: 's0', status: 'succeeded', limit: 1 })).toEqual([[4], 2]);
    expect(await list({ sessionId: 's0', status: 'succeeded', offset: 1 })).toEqual([[2], 2]);
    expect(await list({ sessionId: 's0', status: 'succeeded', limit: 0 })).toEqual([[], 2]);
  });

  it('leave the lists when their time is over', async () => {
    const { runs, ask } = open();
    const agentId = freshId();
    const [old, kept, latest] = [1, 2, 3].map((startedAt) => runRecord({ agentId, startedAt })) as [
      RunRecord,
      RunRecord,
      RunRecord,
    ];
    await runs.save('t', old);
    await runs.save('t', kept);
    await ask('DEL', `agent:run:${old.id}`);
    expect(await runs.list('t', { agentId, ...PAGE })).toEqual({ items: [kept], total: 1 });
    await runs.save('t', old);
    await ask('DEL', `agent:run:${old.id}`);
    await runs.save('t', latest);
    expect(await ask('ZCARD', `agent:runs:t:${agentId}`)).toBe(2);
  });

  it('are deleted with their agent, however many', async () => {
    const { runs, ask } = open();
    const agentId = freshId();
    const mine = Array.from({ length: 450 }, () => runRecord({ agentId }));
    const other = runRecord();
    await Promise.all([...mine, other].map((run) => runs.save('t', run)));
    const deleted = await runs.deleteOf('t', agentId);
    expect([...deleted].sort()).toEqual(mine.map(({ id }) => id).sort());
    expect(await runs.list('t', { agentId, ...PAGE })).toEqual({ items: [], total: 0 });
    expect(await runs.find('t', mine[0]?.id ?? '')).toBeUndefined();
    expect(await ask('EXISTS', `agent:runs:t:${agentId}:session:${mine[0]?.sessionId}`)).toBe(0);
    expect(await runs.find('t', other.id)).toEqual(other);
  });

  it('are stored without what their fields have, and are read as an earlier version stored them', async () => {
    const { runs, ask } = open();
    const run = runRecord({ status: 'succeeded', finishedAt: 1_700_000_000_500, parentRun: 'p' });
    await runs.save('t', run);
    const { record = '' } = await hashOf(run.id);
    expect(Object.keys(JSON.parse(record))).toEqual(
      ['version', ...Object.keys(run)].filter(
        (field) => !['id', 'agentId', 'sessionId', 'messageId', 'startedAt', 'usage'].includes(field),
      ),
    );
    for (const version of [1, 2]) {
      await ask('HSET', `agent:run:${run.id}`, 'record', JSON.stringify({ version, ...run }));
      expect(await runs.find('t', run.id)).toEqual(run);
      expect((await runs.list('t', { agentId: run.agentId, ...PAGE })).items).toEqual([run]);
    }
  });

  const USAGE = { promptTokens: 1, completionTokens: 2, totalTokens: 3, calls: 1 };
  const EMPTY_TURN = { query: '', inputs: {}, files: [], variables: {}, history: [] };
  const TURN: RunTurn = {
    ...{ query: 'a', userId: 'u', inputs: { a: 1 }, files: [{ id: 'f' }], variables: { b: 2 } },
    history: [{ role: 'user', content: 'c' }],
  };

  const LAUNCHED = { launch: { isDetached: true, headers: { a: 'b' }, crashes: 0, turn: TURN } };

  it.each<[Partial<RunRecord>, object]>([
    [{ usage: NO_USAGE }, {}],
    [{ usage: USAGE }, { usage: USAGE }],
    [{ launch: { isDetached: false, headers: {} } }, { launch: {} }],
    [{ launch: { isDetached: false, headers: {}, turn: EMPTY_TURN } }, { launch: { turn: { query: '' } } }],
    [LAUNCHED, LAUNCHED],
  ])('are stored without what is empty, and are read with it: %o', async (change, stored) => {
    const { runs } = open();
    const run = runRecord(change);
    await runs.save('t', run);
    expect(await runs.find('t', run.id)).toEqual(run);
    const { record = '' } = await hashOf(run.id);
    const { usage, launch } = JSON.parse(record);
    expect({ usage, launch }).toEqual(stored);
  });

  it('say whose answer they wait for, and no longer once it came', async () => {
    const { runs } = open();
    const running = runRecord();
    const waiting = { ...running, status: 'waiting' } as const;
    const ended = { ...running, status: 'succeeded' } as const;
    await runs.save('t', running);
    expect(await runs.replace('t', running, waiting)).toBe(true);
    expect(await hashOf(running.id)).toMatchObject({ interrupt_id: running.messageId });
    expect(await runs.replace('t', waiting, ended)).toBe(true);
    expect(await hashOf(running.id)).toMatchObject({ interrupt_id: '' });
  });

  it('keep ids that no field can hold', async () => {
    const { runs } = open();
    const run = runRecord({ sessionId: 'half \ud83d', messageId: '\udc4d' });
    await runs.save('t', run);
    expect(await runs.find('t', run.id)).toEqual(run);
  });

  it.each(['{', '{"version":4}', '{"version":3}', '{"version":2}', '{"version":1,"id":"x"}'])(
    'are not read from %s',
    async (record) => {
      const { runs, ask } = open();
      const run = runRecord();
      await runs.save('t', run);
      await ask('HSET', `agent:run:${run.id}`, 'record', record);
      await expect(runs.find('t', run.id)).rejects.toMatchObject({ code: 'INTERNAL' });
    },
  );
});
