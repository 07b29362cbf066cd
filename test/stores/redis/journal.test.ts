import { afterAll, beforeAll, expect, it } from 'vitest';
import { storesOpener } from './support/open-stores.js';
import { checkpointOf, eventsOf, freshId, NO_BOUNDS } from './support/records.js';
import { anyRedis, describeRedis } from './support/redis-server.js';

const DAYS_30_MS = 30 * 24 * 60 * 60 * 1000;

describeRedis('journals in Redis', () => {
  const opener = storesOpener();
  let server: Awaited<ReturnType<typeof anyRedis>>;
  const open: typeof opener.open = (_url, ...rest) => opener.open(server.url, ...rest);

  beforeAll(async () => {
    server = await anyRedis();
  });
  afterAll(async () => {
    await opener.close();
    await server.dispose();
  });

  it('give back the snapshot and the records since, in order, to any process', async () => {
    const [writer, reader, run] = [open(''), open(''), freshId()];
    expect(await reader.journal.load('t', run)).toBeUndefined();
    await writer.journal.append('t', run, { events: [], records: ['{"a":0}'] });
    expect(await reader.journal.load('t', run)).toEqual({ records: ['{"a":0}'] });
    await writer.journal.snapshot('t', run, checkpointOf(run, { step: 1 }));
    await Promise.all([
      writer.journal.append('t', run, { events: [], records: ['{"a":1}', '{"a":2}'] }),
      writer.journal.append('t', run, { events: [], records: ['{"a":3}'] }),
    ]);
    expect(await reader.journal.load('t', run)).toEqual({
      checkpoint: checkpointOf(run, { step: 1 }),
      records: ['{"a":1}', '{"a":2}', '{"a":3}'],
    });
    await writer.journal.delete('t', run);
    expect(await reader.journal.load('t', run)).toBeUndefined();
  });

  it('keep the snapshot under the key of the contract, for 30 days after the last write', async () => {
    const [{ journal, ask }, run] = [open(''), freshId()];
    await journal.snapshot('t', run, checkpointOf(run));
    expect(JSON.parse(String(await ask('GET', `agent:cp:${run}`)))).toEqual(checkpointOf(run));
    const keys = [`agent:cp:${run}`, `agent:cp:${run}:journal`];
    for (const key of keys) await ask('PEXPIRE', key, 60_000);
    await journal.append('t', run, { events: [], records: ['1'] });
    for (const key of [...keys, `agent:cp:${run}:records`]) {
      expect(Number(await ask('PTTL', key))).toBeGreaterThan(DAYS_30_MS - 60_000);
    }
  });

  it('add events and records together, or neither', async () => {
    const [{ journal, log }, run] = [open(''), freshId()];
    await journal.append('t', run, { events: eventsOf(1, 2), records: ['1'] });
    await expect(journal.append('t', run, { events: eventsOf(4, 4), records: ['2'] })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('does not follow event 2'),
    });
    expect(await log.read('t', run, 0, NO_BOUNDS)).toEqual(eventsOf(1, 2));
    expect(await journal.load('t', run)).toEqual({ records: ['1'] });
    await journal.append('t', run, { events: eventsOf(3, 3), records: [] });
    await log.append('t', run, { events: eventsOf(4, 4) });
    expect(await log.read('t', run, 2, NO_BOUNDS)).toEqual(eventsOf(3, 4));
  });

  it('belong to one tenant', async () => {
    const [{ journal }, run] = [open(''), freshId()];
    await journal.snapshot('t', run, checkpointOf(run));
    expect(await journal.load('u', run)).toBeUndefined();
    await journal.delete('u', run);
    await expect(journal.snapshot('u', run, checkpointOf(run))).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(journal.append('u', run, { events: [], records: ['1'] })).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await journal.load('t', run)).toEqual({ checkpoint: checkpointOf(run), records: [] });
  });

  it('refuse a process whose run was taken over, and change nothing', async () => {
    const [lost, successor, run] = [open(''), open(''), freshId()];
    await lost.journal.append('t', run, { events: [], records: ['1'] });
    await successor.journal.append('t', run, { events: [], records: ['2'] });
    const late = { events: eventsOf(1, 1), records: ['late'] };
    await expect(lost.journal.append('t', run, late)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('taken over'),
    });
    await expect(lost.journal.snapshot('t', run, checkpointOf(run))).rejects.toMatchObject({ code: 'CONFLICT' });
    await successor.journal.append('t', run, { events: [], records: ['3'] });
    expect(await successor.journal.load('t', run)).toEqual({ records: ['1', '2', '3'] });
    expect(await successor.log.read('t', run, 0, NO_BOUNDS)).toBeUndefined();
  });

  it('say so when Redis lost records, until a snapshot replaces them', async () => {
    const [{ journal, ask }, run] = [open(''), freshId()];
    await journal.append('t', run, { events: [], records: ['1'] });
    await ask('DEL', `agent:cp:${run}:journal`, `agent:cp:${run}:records`);
    const next = { events: [], records: ['2'] };
    await expect(journal.append('t', run, next)).rejects.toMatchObject({ code: 'JOURNAL_FAILED' });
    await journal.snapshot('t', run, checkpointOf(run));
    await journal.append('t', run, next);
    expect(await journal.load('t', run)).toEqual({ checkpoint: checkpointOf(run), records: ['2'] });
  });

  it('compress what is large and refuse what is too large', async () => {
    const [{ journal, ask }, run] = [open('', {}, { journal: { maxBytes: 1_000_000 } }), freshId()];
    const checkpoint = checkpointOf(run, { text: 'many words '.repeat(20_000) });
    const record = JSON.stringify('more words '.repeat(20_000));
    await journal.snapshot('t', run, checkpoint);
    await journal.append('t', run, { events: [], records: [record] });
    expect(Number(await ask('STRLEN', `agent:cp:${run}`))).toBeLessThan(20_000);
    expect(await journal.load('t', run)).toEqual({ checkpoint, records: [record] });
    const tooLarge = checkpointOf(run, { text: 'x'.repeat(1_000_000) });
    await expect(journal.snapshot('t', run, tooLarge)).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
    expect(await journal.load('t', run)).toEqual({ checkpoint, records: [record] });
  });

  it.each([
    ['a lost checkpoint', ['DEL', '']],
    ['lost records', ['DEL', ':records']],
    ['a lost record', ['LPOP', ':records']],
    ['a checkpoint that is no JSON', ['SET', '', '{']],
    ['a checkpoint of another form', ['SET', '', '{"version":2}']],
    ['a damaged archive', ['SET', '', '\u001f\u008b']],
    ['a newer format', ['HSET', ':journal', 'version', '2']],
  ] as const)('are not read with %s', async (_name, [command, suffix, ...args]) => {
    const [{ journal, redis }, run] = [open(''), freshId()];
    await journal.snapshot('t', run, checkpointOf(run));
    await journal.append('t', run, { events: [], records: ['1', '2'] });
    await redis.commands.send(command, [
      `agent:cp:${run}${suffix}`,
      ...args.map((text) => Buffer.from(text, 'latin1')),
    ]);
    await expect(journal.load('t', run)).rejects.toMatchObject({ code: 'CHECKPOINT_INVALID' });
  });
});
