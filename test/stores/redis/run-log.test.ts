import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storesOpener } from './support/open-stores.js';
import { checkpointOf, eventsOf, freshId, NO_BOUNDS } from './support/records.js';
import { anyRedis, describeRedis } from './support/redis-server.js';
import { startSlowLink } from './support/slow-link.js';
import { LIMIT_MS, timesOut } from './support/time-out.js';

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

  it('are not read when an entry is of no known form', async () => {
    const [{ log, ask }, run] = [open(), freshId()];
    await log.append('t', run, { events: eventsOf(1, 1) });
    await ask('RPUSH', `agent:events:t:${run}`, '2\nmessage\n{}');
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
      await stores.journal.snapshot('t', run, checkpointOf(run));
      // Every script was used before, so that what is held up is the write.
      await stores.journal.append('t', run, { events: eventsOf(1, 2), records: [] });
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

    it('give its numbers to the next events, because nobody was shown the first ones', async () => {
      const { log, run, link } = await withFailure('answer', (stores, id) =>
        stores.log.append('t', id, { events: eventsOf(4, 5) }),
      );
      expect(await log.read('t', run, 3, NO_BOUNDS)).toEqual(eventsOf(4, 5));
      await log.append('t', run, { events: eventsOf(4, 4, 'the end') });
      expect(await log.read('t', run, 3, NO_BOUNDS)).toEqual(eventsOf(4, 4, 'the end'));
      await link.close();
    });

    it('take a batch of the journal back as a whole', async () => {
      const batch = { events: eventsOf(4, 5), records: ['1', '2'] };
      const { log, journal, run, link } = await withFailure('answer', (stores, id) =>
        stores.journal.append('t', id, batch),
      );
      expect(await journal.load('t', run)).toMatchObject({ records: ['1', '2'] });
      await log.append('t', run, { events: eventsOf(4, 4, 'the end') });
      expect(await journal.load('t', run)).toMatchObject({ records: [] });
      await journal.append('t', run, { events: eventsOf(5, 5), records: ['3'] });
      expect(await journal.load('t', run)).toMatchObject({ records: ['3'] });
      expect(await log.read('t', run, 3, NO_BOUNDS)).toEqual([...eventsOf(4, 4, 'the end'), ...eventsOf(5, 5)]);
      await link.close();
    });

    it('let no batch arrive late', async () => {
      const batch = { events: [], records: ['1', '2'] };
      const { log, journal, run, link } = await withFailure('request', (stores, id) =>
        stores.journal.append('t', id, batch),
      );
      await log.append('t', run, { events: eventsOf(4, 4, 'the end') });
      await link.deliver();
      expect(await journal.load('t', run)).toMatchObject({ records: [] });
      expect(await log.read('t', run, 3, NO_BOUNDS)).toEqual(eventsOf(4, 4, 'the end'));
      await journal.append('t', run, { events: [], records: ['3'] });
      expect(await journal.load('t', run)).toMatchObject({ records: ['3'] });
      await link.close();
    });

    it('let the same batch be tried again', async () => {
      const batch = { events: eventsOf(4, 5), records: ['1', '2'] };
      const { log, journal, run, link } = await withFailure('answer', (stores, id) =>
        stores.journal.append('t', id, batch),
      );
      await journal.append('t', run, batch);
      expect(await journal.load('t', run)).toMatchObject({ records: ['1', '2'] });
      expect(await log.read('t', run, 0, NO_BOUNDS)).toEqual(eventsOf(1, 5));
      await link.close();
    });

    it('go on after a snapshot, whether it was taken or not', async () => {
      const { journal, run, link } = await withFailure('answer', (stores, id) =>
        stores.journal.snapshot('t', id, checkpointOf(id, { step: 2 })),
      );
      await journal.append('t', run, { events: [], records: ['1'] });
      expect(await journal.load('t', run)).toEqual({ checkpoint: checkpointOf(run, { step: 2 }), records: ['1'] });
      await link.close();
    });
  });
});
