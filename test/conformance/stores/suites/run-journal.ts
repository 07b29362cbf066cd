import { describe, expect, it } from 'vitest';
import type { RunJournal } from '../../../../src/records/durable-stores.js';
import type { RunLog } from '../../../../src/records/stores.js';
import { checkpoint, events, newTenant } from '../../../stores/support/records.js';
import { property } from '../../../support/random.js';
import type { Given } from './given.js';

const MANY = { maxEvents: 10_000, maxBytes: 10_000_000 };

/** What every {@link RunJournal} does. */
export function describeRunJournal(store: () => { journal: RunJournal; log: RunLog }, given: Given): void {
  const append = (tenant: string, run: string, ...records: string[]): Promise<void> =>
    store().journal.append(tenant, run, { events: [], records });

  describe('RunJournal', () => {
    it('knows nothing of a run before its first record', async () => {
      const tenant = newTenant();
      expect(await store().journal.load(tenant, await given.run(tenant))).toBeUndefined();
    });

    it('gives back records as they were written, in order', async () => {
      const tenant = newTenant();
      const run = await given.run(tenant);
      const odd = ['{ "b": 1.0 , "a":"\\u0000 \\ud800 é" }', '[ ]', 'null', '1e400'];
      await append(tenant, run, ...odd);
      await append(tenant, run, '{"last":true}');
      expect(await store().journal.load(tenant, run)).toEqual({ records: [...odd, '{"last":true}'] });
    });

    it('adds events to the log of the run in the same step', async () => {
      const tenant = newTenant();
      const run = await given.run(tenant);
      await store().log.append(tenant, run, events(1, 2));
      await store().journal.append(tenant, run, { events: events(3, 4), records: ['1'] });
      await store().journal.append(tenant, run, { events: events(5, 5), records: [] });
      expect(await store().log.read(tenant, run, 0, MANY)).toEqual(events(1, 5));
      expect(await store().journal.load(tenant, run)).toEqual({ records: ['1'] });
    });

    it('keeps nothing of a batch whose events do not follow', async () => {
      const tenant = newTenant();
      const run = await given.run(tenant);
      await append(tenant, run, '1');
      const batch = { events: events(2, 2), records: ['2'] };
      await expect(store().journal.append(tenant, run, batch)).rejects.toMatchObject({ code: 'CONFLICT' });
      expect((await store().log.read(tenant, run, 0, MANY)) ?? []).toEqual([]);
      expect(await store().journal.load(tenant, run)).toEqual({ records: ['1'] });
    });

    it('puts a snapshot in the place of everything before', async () => {
      const tenant = newTenant();
      const run = await given.run(tenant);
      await append(tenant, run, '1', '2');
      await store().journal.snapshot(tenant, run, checkpoint(run, 2));
      expect(await store().journal.load(tenant, run)).toEqual({ checkpoint: checkpoint(run, 2), records: [] });
      await append(tenant, run, '3');
      expect(await store().journal.load(tenant, run)).toEqual({ checkpoint: checkpoint(run, 2), records: ['3'] });
      await store().journal.snapshot(tenant, run, checkpoint(run, 3));
      expect(await store().journal.load(tenant, run)).toEqual({ checkpoint: checkpoint(run, 3), records: [] });
    });

    it('does what is asked for in that order, awaited or not', async () => {
      const tenant = newTenant();
      const run = await given.run(tenant);
      const { journal } = store();
      await Promise.all([
        append(tenant, run, '1'),
        journal.snapshot(tenant, run, checkpoint(run, 1)),
        append(tenant, run, '2'),
        append(tenant, run, '3'),
      ]);
      expect(await journal.load(tenant, run)).toEqual({ checkpoint: checkpoint(run, 1), records: ['2', '3'] });
    });

    it('forgets a run, and begins anew', async () => {
      const tenant = newTenant();
      const run = await given.run(tenant);
      await append(tenant, run, '1');
      await store().journal.snapshot(tenant, run, checkpoint(run, 1));
      await append(tenant, run, '2');
      await store().journal.delete(tenant, run);
      expect(await store().journal.load(tenant, run)).toBeUndefined();
      await store().journal.delete(tenant, run);
      await append(tenant, run, '3');
      expect(await store().journal.load(tenant, run)).toEqual({ records: ['3'] });
    });

    it('keeps runs and tenants apart', async () => {
      const [mine, theirs] = [newTenant(), newTenant()];
      const [run, other] = [await given.run(mine), await given.run(mine)];
      await append(mine, run, '1');
      await append(mine, other, '2');
      expect(await store().journal.load(theirs, run)).toBeUndefined();
      await store().journal.delete(theirs, run);
      await store().journal.snapshot(mine, other, checkpoint(other, 9));
      expect(await store().journal.load(mine, run)).toEqual({ records: ['1'] });
    });

    property('what is loaded is the last snapshot and what came after it', 10, async (random) => {
      const tenant = newTenant();
      const runs = await Promise.all([given.run(tenant), given.run(tenant)]);
      const expected = new Map(runs.map((run) => [run, { snapshot: 0, records: [] as string[] }]));
      const pending: Promise<void>[] = [];
      for (let step = 1; step <= 60; step += 1) {
        const run = random.pick(runs);
        const model = expected.get(run) as { snapshot: number; records: string[] };
        if (random.chance(0.15)) {
          model.snapshot = step;
          model.records = [];
          pending.push(store().journal.snapshot(tenant, run, checkpoint(run, step)));
        } else {
          const records = Array.from({ length: 1 + random.int(3) }, (_, at) => `"${step}.${at}"`);
          model.records.push(...records);
          pending.push(append(tenant, run, ...records));
        }
        if (random.chance(0.3)) await Promise.all(pending);
      }
      await Promise.all(pending);
      for (const [run, { snapshot, records }] of expected) {
        const saved = snapshot === 0 ? {} : { checkpoint: checkpoint(run, snapshot) };
        expect(await store().journal.load(tenant, run)).toEqual({ ...saved, records });
      }
    });
  });
}

/** What every {@link RunJournal} does that several processes share. */
export function describeSharedRunJournal(store: () => { journal: RunJournal; log: RunLog }, given: Given): void {
  it('refuses a snapshot of a log that has gone on meanwhile, and leaves everything as it is', async () => {
    const tenant = newTenant();
    const run = await given.run(tenant);
    const { journal, log } = store();
    await journal.snapshot(tenant, run, { ...checkpoint(run, 1), mark: 0 });
    await journal.append(tenant, run, { events: events(1, 2), records: ['1'] });
    const stale = journal.snapshot(tenant, run, { ...checkpoint(run, 2), mark: 1 });
    await expect(stale).rejects.toMatchObject({ code: 'CONFLICT' });
    const kept = { checkpoint: { ...checkpoint(run, 1), mark: 0 }, records: ['1'] };
    expect(await journal.load(tenant, run)).toEqual(kept);
    await journal.snapshot(tenant, run, { ...checkpoint(run, 3), mark: 2 });
    expect(await journal.load(tenant, run)).toEqual({ checkpoint: { ...checkpoint(run, 3), mark: 2 }, records: [] });
    expect(await log.read(tenant, run, 0, MANY)).toEqual(events(1, 2));
  });
}
