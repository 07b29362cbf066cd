import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Checkpoint } from '../../../src/graph/state.js';
import { storesOpener } from './support/open-stores.js';
import { checkpointOf, eventsOf, freshId, NO_BOUNDS, runRecord } from './support/records.js';
import { anyRedis, describeRedis } from './support/redis-server.js';
import { startSlowLink } from './support/slow-link.js';
import { LIMIT_MS, timesOut } from './support/time-out.js';

const DAYS_30_MS = 30 * 24 * 60 * 60 * 1000;

describeRedis('event logs in Redis', () => {
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

  it('give back what was added, to any process, after any event', async () => {
    const [{ log }, other, run] = [open(), open(), freshId()];
    expect(await log.read('t', run, 0, NO_BOUNDS)).toBeUndefined();
    await log.append('t', run, { events: eventsOf(1, 3) });
    await log.append('t', run, { events: [] });
    await log.append('t', run, { events: eventsOf(4, 600, 'ünïcode "quoted" \\n') });
    const all = [...eventsOf(1, 3), ...eventsOf(4, 600, 'ünïcode "quoted" \\n')];
    expect(await other.log.read('t', run, 0, NO_BOUNDS)).toEqual(all);
    expect(await other.log.read('t', run, 598, NO_BOUNDS)).toEqual(all.slice(598));
    expect(await other.log.read('t', run, 600, NO_BOUNDS)).toEqual([]);
    await log.end('t', run);
    expect(await other.log.read('u', run, 0, NO_BOUNDS)).toBeUndefined();
    await log.delete('u', run);
    expect(await other.log.read('t', run, 599, NO_BOUNDS)).toHaveLength(1);
    await log.delete('t', run);
    expect(await other.log.read('t', run, 0, NO_BOUNDS)).toBeUndefined();
  });

  it.each([
    [{ maxEvents: 2, maxBytes: 10_000 }, 2],
    [{ maxEvents: 10, maxBytes: 0 }, 1],
    [{ maxEvents: 10, maxBytes: 80 }, 2],
    [{ maxEvents: 0, maxBytes: 10_000 }, 0],
  ])('are read within %o', async (bounds, count) => {
    const [{ log }, run] = [open(), freshId()];
    await log.append('t', run, { events: eventsOf(1, 5, 'x'.repeat(20)) });
    expect(await log.read('t', run, 1, bounds)).toEqual(eventsOf(2, 5, 'x'.repeat(20)).slice(0, count));
  });

  it.each([
    ['a gap before them', eventsOf(5, 6)],
    ['a gap among them', [...eventsOf(4, 4), ...eventsOf(6, 6)]],
    ['one that is there already', eventsOf(3, 4)],
  ])('take no events with %s, and say which was expected', async (_name, wrong) => {
    const [{ log }, run] = [open(), freshId()];
    await log.append('t', run, { events: eventsOf(1, 3) });
    await expect(Promise.resolve(log.append('t', run, { events: wrong }))).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(/does not follow event [34];/),
    });
    expect(await log.read('t', run, 0, NO_BOUNDS)).toEqual(eventsOf(1, 3));
  });

  it('are read when an entry is of the first form, which was not shortened', async () => {
    const [{ log, ask }, run] = [open(), freshId()];
    const event = (seq: number) => ({
      seq,
      event: 'message',
      json: JSON.stringify({ type: 'message', run, seq, text: 'e' }),
    });
    await log.append('t', run, { events: [event(1)] });
    await ask('RPUSH', `agent:events:t:${run}`, `1\nmessage\n${event(2).json}`);
    await log.append('t', run, { events: [event(3)] });
    expect(await log.read('t', run, 0, NO_BOUNDS)).toEqual([1, 2, 3].map(event));
  });

  it('are not read when an entry is of no known form', async () => {
    const [{ log, ask }, run] = [open(), freshId()];
    await log.append('t', run, { events: eventsOf(1, 1) });
    await ask('RPUSH', `agent:events:t:${run}`, '3\nmessage\n{}');
    await expect(log.read('t', run, 0, NO_BOUNDS)).rejects.toMatchObject({ code: 'INTERNAL' });
  });

  it('keep tenants apart whose names have separators', async () => {
    const { log } = open();
    await log.append('t:a', 'b', { events: eventsOf(1, 1) });
    expect(await log.read('t', 'a:b', 0, NO_BOUNDS)).toBeUndefined();
    await log.delete('t:a', 'b');
  });

  describe('after a write that failed without an answer', () => {
    /** A process that has written three events and a snapshot, and whose next write was held up on its way there or back. */
    async function withFailure(
      held: 'answer' | 'request',
      write: (stores: ReturnType<typeof open>, run: string) => Promise<void> | void,
    ) {
      const link = await startSlowLink(server.url);
      const stores = opener.open(link.url, { commandTimeoutMs: LIMIT_MS });
      const run = freshId();
      await stores.log.append('t', run, { events: [], snapshot: at(run, 0) });
      // Every script was used before, so that what is held up is the write.
      await stores.log.append('t', run, { events: eventsOf(1, 2) });
      await stores.log.append('t', run, { events: eventsOf(3, 3) });
      const isHeld = held === 'answer' ? link.holdAnswers() : link.holdRequests();
      await timesOut(isHeld, () =>
        expect(Promise.resolve(write(stores, run))).rejects.toMatchObject({
          code: 'STORE_UNAVAILABLE',
          retryable: true,
          message: expect.stringContaining(`no answer within ${LIMIT_MS} ms`),
        }),
      );
      link.cut();
      return { ...stores, run, link };
    }

    it('give its numbers to the next events, because the first ones were not delivered', async () => {
      const { log, run, link } = await withFailure('answer', (stores, id) =>
        stores.log.append('t', id, { events: eventsOf(4, 5) }),
      );
      expect(await log.read('t', run, 3, NO_BOUNDS)).toEqual(eventsOf(4, 5));
      await log.append('t', run, { events: eventsOf(4, 4, 'the end') });
      expect(await log.read('t', run, 3, NO_BOUNDS)).toEqual(eventsOf(4, 4, 'the end'));
      await link.close();
    });

    it('stay when they are confirmed, because a client may have read them', async () => {
      const { log, run, link } = await withFailure('answer', (stores, id) =>
        stores.log.append('t', id, { events: eventsOf(4, 5) }),
      );
      await log.confirm?.('t', run);
      await log.append('t', run, { events: eventsOf(6, 6, 'the end') });
      expect(await log.read('t', run, 3, NO_BOUNDS)).toEqual([...eventsOf(4, 5), ...eventsOf(6, 6, 'the end')]);
      await link.close();
    });

    it('never come once it was confirmed that they are not there', async () => {
      const { log, run, link } = await withFailure('request', (stores, id) =>
        stores.log.append('t', id, { events: eventsOf(4, 5) }),
      );
      await log.confirm?.('t', run);
      await link.deliver();
      expect(await log.read('t', run, 3, NO_BOUNDS)).toEqual([]);
      await log.append('t', run, { events: eventsOf(4, 4, 'the end') });
      expect(await log.read('t', run, 3, NO_BOUNDS)).toEqual(eventsOf(4, 4, 'the end'));
      await link.close();
    });

    it('take back no snapshot that was stored before', async () => {
      const { log, run, link } = await withFailure('answer', (stores, id) =>
        stores.log.append('t', id, { events: eventsOf(4, 5), snapshot: at(id, 5) }),
      );
      await log.append('t', run, { events: eventsOf(4, 4, 'the end') });
      expect(await log.snapshot('t', run)).toEqual(at(run, 0));
      await log.append('t', run, { events: eventsOf(5, 5), snapshot: at(run, 5) });
      expect(await log.snapshot('t', run)).toEqual(at(run, 5));
      expect(await log.read('t', run, 3, NO_BOUNDS)).toEqual([...eventsOf(4, 4, 'the end'), ...eventsOf(5, 5)]);
      await link.close();
    });

    it('let no batch arrive late', async () => {
      const { log, run, link } = await withFailure('request', (stores, id) =>
        stores.log.append('t', id, { events: eventsOf(4, 5) }),
      );
      await log.append('t', run, { events: eventsOf(4, 4, 'the end') });
      await link.deliver();
      expect(await log.read('t', run, 3, NO_BOUNDS)).toEqual(eventsOf(4, 4, 'the end'));
      await log.append('t', run, { events: eventsOf(5, 5) });
      expect(await log.read('t', run, 4, NO_BOUNDS)).toEqual(eventsOf(5, 5));
      await link.close();
    });

    it('let the same batch be tried again', async () => {
      const batch = { events: eventsOf(4, 5) };
      const { log, run, link } = await withFailure('answer', (stores, id) => stores.log.append('t', id, batch));
      await log.append('t', run, batch);
      expect(await log.read('t', run, 0, NO_BOUNDS)).toEqual(eventsOf(1, 5));
      await link.close();
    });

    it('go on after a snapshot, whether it was taken or not', async () => {
      const { log, run, link } = await withFailure('answer', (stores, id) =>
        stores.log.append('t', id, { events: [], snapshot: at(id, 3) }),
      );
      await log.append('t', run, { events: eventsOf(4, 4) });
      expect(await log.snapshot('t', run)).toEqual(at(run, 3));
      expect(await log.snapshot('t', run, 2)).toEqual(at(run, 0));
      await link.close();
    });
  });

  it('keep the newest snapshot under the key of the contract, all for 30 days after the last write', async () => {
    const [{ log, ask }, run] = [open(), freshId()];
    await log.append('t', run, { events: [], snapshot: at(run, 0) });
    await log.append('t', run, { events: eventsOf(1, 2), snapshot: at(run, 2) });
    expect(JSON.parse(String(await ask('GET', `agent:cp:${run}`)))).toEqual(at(run, 2));
    const keys = [`agent:cp:${run}`, `agent:cp:${run}:first`, `agent:cp:${run}:log`, `agent:events:t:${run}`];
    for (const key of keys) await ask('PEXPIRE', key, 60_000);
    await log.append('t', run, { events: eventsOf(3, 3), snapshot: at(run, 3) });
    for (const key of keys) expect(Number(await ask('PTTL', key))).toBeGreaterThan(DAYS_30_MS - 60_000);
  });

  it('belong to one tenant', async () => {
    const [{ log }, run] = [open(), freshId()];
    await log.append('t', run, { events: eventsOf(1, 1), snapshot: at(run, 1) });
    expect(await log.snapshot('u', run)).toBeUndefined();
    await log.delete('u', run);
    const theirs = async () => log.append('u', run, { events: eventsOf(1, 1) });
    await expect(theirs()).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await log.snapshot('t', run)).toEqual(at(run, 1));
    expect(await log.read('t', run, 0, NO_BOUNDS)).toEqual(eventsOf(1, 1));
  });

  it('refuse a process whose run was claimed by another one, and change nothing', async () => {
    const [lost, successor] = [open(), open()];
    const record = runRecord();
    const run = record.id;
    await lost.runs.save('t', record);
    await lost.log.append('t', run, { events: eventsOf(1, 1) });
    const epoch = await successor.log.claim('t', run);
    await successor.log.append('t', run, { epoch, events: eventsOf(2, 2) });
    const late = async () => lost.log.append('t', run, { events: eventsOf(3, 3) });
    await expect(late()).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('claimed by another process'),
    });
    const stale = async () => lost.log.append('t', run, { events: [], snapshot: at(run, 2) });
    await expect(stale()).rejects.toMatchObject({ code: 'CONFLICT' });
    await successor.log.append('t', run, { epoch, events: eventsOf(3, 3) });
    expect(await successor.log.read('t', run, 0, NO_BOUNDS)).toEqual(eventsOf(1, 3));
    expect(await successor.log.snapshot('t', run)).toBeUndefined();
  });

  it('are claimed only for a run that there is, of that tenant', async () => {
    const { log, runs } = open();
    const record = runRecord();
    await runs.save('t', record);
    await expect(log.claim('t', freshId())).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(log.claim('u', record.id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await log.claim('t', record.id)).toBe(2);
  });

  it('report that Redis lost a claim', async () => {
    const { log, runs, ask } = open();
    const record = runRecord();
    await runs.save('t', record);
    const epoch = await log.claim('t', record.id);
    await ask('DEL', `agent:cp:${record.id}:log`);
    const next = async () => log.append('t', record.id, { epoch, events: eventsOf(1, 1) });
    await expect(next()).rejects.toMatchObject({ code: 'JOURNAL_FAILED' });
  });

  it('report that Redis lost events', async () => {
    const [{ log, ask }, run] = [open(), freshId()];
    await log.append('t', run, { events: eventsOf(1, 1) });
    await ask('DEL', `agent:cp:${run}:log`, `agent:events:t:${run}`);
    const next = async () => log.append('t', run, { events: eventsOf(2, 2) });
    await expect(next()).rejects.toMatchObject({ code: 'JOURNAL_FAILED' });
  });

  it('compress snapshots that are large and refuse those that are too large', async () => {
    const { log, ask } = opener.open(server.url, {}, { maxSnapshotBytes: 1_000_000 });
    const run = freshId();
    const snapshot = checkpointOf(run, { text: 'many words '.repeat(20_000) });
    await log.append('t', run, { events: [], snapshot });
    expect(Number(await ask('STRLEN', `agent:cp:${run}`))).toBeLessThan(20_000);
    expect(await log.snapshot('t', run)).toEqual(snapshot);
    const tooLarge = checkpointOf(run, { text: 'x'.repeat(1_000_000) });
    const refused = async () => log.append('t', run, { events: [], snapshot: tooLarge });
    await expect(refused()).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
    expect(await log.snapshot('t', run)).toEqual(snapshot);
  });

  it.each([
    ['a lost checkpoint', ['DEL', '']],
    ['a checkpoint that is no JSON', ['SET', '', '{']],
    ['a checkpoint of another form', ['SET', '', '{"version":2}']],
    ['a damaged archive', ['SET', '', '\u001f\u008b']],
    ['a newer format', ['HSET', ':log', 'version', '3']],
  ] as const)('give no snapshot with %s', async (_name, [command, suffix, ...args]) => {
    const [{ log, redis }, run] = [open(), freshId()];
    await log.append('t', run, { events: [], snapshot: at(run, 0) });
    await redis.commands.send(command, [
      `agent:cp:${run}${suffix}`,
      ...args.map((text) => Buffer.from(text, 'latin1')),
    ]);
    await expect(log.snapshot('t', run)).rejects.toMatchObject({ code: 'CHECKPOINT_INVALID' });
  });
});

function at(run: string, seq: number): Checkpoint {
  return { ...checkpointOf(run), seq };
}
