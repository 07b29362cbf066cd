import { describe, expect, it } from 'vitest';
import type { Checkpoint } from '../../../../src/graph/state.js';
import type { LoggedEvent, RunLog } from '../../../../src/records/run-log.js';
import { checkpoint, events, newTenant } from '../../../stores/support/records.js';
import { property } from '../../../support/random.js';
import type { Given } from './given.js';

const MANY = { maxEvents: 10_000, maxBytes: 10_000_000 };

/** What every {@link RunLog} does. */
export function describeRunLog(store: () => RunLog, given: Given): void {
  /** A store may refuse at once or by its promise. */
  const append = async (tenant: string, run: string, added: readonly LoggedEvent[]): Promise<void> =>
    store().append(tenant, run, { events: added });

  describe('RunLog', () => {
    it('knows nothing of a run before its first event', async () => {
      const tenant = newTenant();
      const run = await given.run(tenant);
      expect(await store().read(tenant, run, 0, MANY)).toBeUndefined();
    });

    it('gives back every byte, in order, after the event that is named', async () => {
      const tenant = newTenant();
      const run = await given.run(tenant);
      const odd: LoggedEvent[] = [
        { seq: 1, event: 'message', json: '{ "b" :1.0, "a": "\\u0000 \\ud800 é 😀 \\\\ \\"" }' },
        { seq: 2, event: 'node_finished', json: '{"z":1,"a":[ ],"z":2}' },
      ];
      await append(tenant, run, odd);
      await append(tenant, run, events(3, 5));
      expect(await store().read(tenant, run, 0, MANY)).toEqual([...odd, ...events(3, 5)]);
      expect(await store().read(tenant, run, 3, MANY)).toEqual(events(4, 5));
      expect(await store().read(tenant, run, 5, MANY)).toEqual([]);
      expect(await store().read(tenant, run, 99, MANY)).toEqual([]);
    });

    it('gives as much as the bounds allow, at least one event', async () => {
      const tenant = newTenant();
      const run = await given.run(tenant);
      const all = events(1, 9);
      await append(tenant, run, all);
      const size = all[0]?.json.length as number;
      expect(await store().read(tenant, run, 2, { ...MANY, maxEvents: 3 })).toEqual(events(3, 5));
      expect(await store().read(tenant, run, 2, { ...MANY, maxBytes: 2 * size })).toEqual(events(3, 4));
      expect(await store().read(tenant, run, 2, { ...MANY, maxBytes: 1 })).toEqual(events(3, 3));
    });

    it.each([
      ['leave a gap', 4],
      ['are there already', 2],
      ['begin anew', 1],
    ])('refuses events that %s, and keeps what it has', async (_name, first) => {
      const tenant = newTenant();
      const run = await given.run(tenant);
      await append(tenant, run, events(1, 2));
      await expect(append(tenant, run, events(first, first + 1))).rejects.toMatchObject({ code: 'CONFLICT' });
      expect(await store().read(tenant, run, 0, MANY)).toEqual(events(1, 2));
      await append(tenant, run, events(3, 3));
      expect(await store().read(tenant, run, 0, MANY)).toEqual(events(1, 3));
    });

    it('takes of two writers one', async () => {
      const tenant = newTenant();
      const run = await given.run(tenant);
      const written = await Promise.allSettled(
        Array.from({ length: 10 }, (_, at) =>
          append(tenant, run, [{ seq: 1, event: 'message', json: `{"writer":${at}}` }]),
        ),
      );
      expect(written.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await store().read(tenant, run, 0, MANY)).toHaveLength(1);
    });

    it('keeps runs and tenants apart', async () => {
      const [mine, theirs] = [newTenant(), newTenant()];
      const [run, other] = [await given.run(mine), await given.run(mine)];
      await append(mine, run, events(1, 3));
      await append(mine, other, events(1, 1));
      expect(await store().read(theirs, run, 0, MANY)).toBeUndefined();
      await store().delete(theirs, run);
      await store().delete(mine, other);
      expect(await store().read(mine, other, 0, MANY)).toBeUndefined();
      expect(await store().read(mine, run, 0, MANY)).toEqual(events(1, 3));
    });

    it('keeps what has ended', async () => {
      const tenant = newTenant();
      const run = await given.run(tenant);
      await append(tenant, run, events(1, 2));
      await store().end(tenant, run);
      expect(await store().read(tenant, run, 1, MANY)).toEqual(events(2, 2));
    });

    it('gives the newest snapshot that is not behind an event; of several the first and the newest', async () => {
      const tenant = newTenant();
      const run = await given.run(tenant);
      expect(await store().snapshot(tenant, run)).toBeUndefined();
      await store().append(tenant, run, { events: [], snapshot: at(run, 0) });
      expect(await store().snapshot(tenant, run)).toEqual(at(run, 0));
      await append(tenant, run, events(1, 2));
      await store().append(tenant, run, { events: events(3, 4), snapshot: at(run, 4) });
      await store().append(tenant, run, { events: events(5, 6), snapshot: at(run, 6) });
      await append(tenant, run, events(7, 8));
      const found = await Promise.all([0, 3, 5, 6, 7, undefined].map((most) => store().snapshot(tenant, run, most)));
      expect(found.map((one) => one?.seq)).toEqual([0, 0, 0, 6, 6, 6]);
      expect(found.at(-1)).toEqual(at(run, 6));
      expect(await store().read(tenant, run, 0, MANY)).toEqual(events(1, 8));
    });

    it('takes the place of a snapshot of the same event', async () => {
      const tenant = newTenant();
      const run = await given.run(tenant);
      await store().append(tenant, run, { events: events(1, 2), snapshot: at(run, 2) });
      await store().append(tenant, run, { events: [], snapshot: { ...at(run, 2), at: 7 } });
      expect(await store().snapshot(tenant, run)).toEqual({ ...at(run, 2), at: 7 });
      expect(await store().snapshot(tenant, run, 1)).toBeUndefined();
    });

    it.each([1, 3, 9])('refuses a snapshot of event %i where event 2 is the last, and changes nothing', async (seq) => {
      const tenant = newTenant();
      const run = await given.run(tenant);
      await store().append(tenant, run, { events: [], snapshot: at(run, 0) });
      await append(tenant, run, events(1, 2));
      const stale = async () => store().append(tenant, run, { events: [], snapshot: at(run, seq) });
      await expect(stale()).rejects.toMatchObject({ code: 'CONFLICT' });
      expect(await store().snapshot(tenant, run)).toEqual(at(run, 0));
      await store().append(tenant, run, { events: events(3, 3), snapshot: at(run, 3) });
      expect(await store().snapshot(tenant, run)).toEqual(at(run, 3));
    });

    it('stores no snapshot with events that do not follow', async () => {
      const tenant = newTenant();
      const run = await given.run(tenant);
      const late = async () => store().append(tenant, run, { events: events(2, 3), snapshot: at(run, 3) });
      await expect(late()).rejects.toMatchObject({ code: 'CONFLICT' });
      expect(await store().snapshot(tenant, run)).toBeUndefined();
    });

    it('carries out writes in the order of the calls, awaited or not', async () => {
      const tenant = newTenant();
      const run = await given.run(tenant);
      await Promise.all([
        store().append(tenant, run, { events: [], snapshot: at(run, 0) }),
        append(tenant, run, events(1, 2)),
        store().append(tenant, run, { events: events(3, 3), snapshot: at(run, 3) }),
        append(tenant, run, events(4, 4)),
        store().append(tenant, run, { events: [], snapshot: at(run, 4) }),
        append(tenant, run, events(5, 5)),
      ]);
      expect((await store().snapshot(tenant, run))?.seq).toBe(4);
      expect((await store().snapshot(tenant, run, 3))?.seq).toBe(0);
      expect(await store().read(tenant, run, 0, MANY)).toEqual(events(1, 5));
    });

    it('forgets snapshots with the log, and keeps those of other runs and tenants', async () => {
      const [mine, theirs] = [newTenant(), newTenant()];
      const [run, other] = [await given.run(mine), await given.run(mine)];
      for (const one of [run, other]) await store().append(mine, one, { events: events(1, 1), snapshot: at(one, 1) });
      expect(await store().snapshot(theirs, run)).toBeUndefined();
      await store().delete(theirs, run);
      await store().delete(mine, other);
      expect(await store().snapshot(mine, other)).toBeUndefined();
      expect(await store().snapshot(mine, run)).toEqual(at(run, 1));
      await append(mine, other, events(1, 1));
      expect(await store().snapshot(mine, other)).toBeUndefined();
    });

    property('numbers have no gaps, however many write at once', 5, async (random) => {
      const tenant = newTenant();
      const runs = await Promise.all(Array.from({ length: 4 }, () => given.run(tenant)));
      await Promise.all(
        runs.map(async (run) => {
          const pending: Promise<void>[] = [];
          for (let next = 1; next <= 40; ) {
            const last = next + random.int(4);
            pending.push(append(tenant, run, events(next, last)));
            next = last + 1;
            if (random.chance(0.3)) await Promise.all(pending);
          }
          await Promise.all(pending);
        }),
      );
      for (const run of runs) {
        const kept = (await store().read(tenant, run, 0, MANY)) ?? [];
        expect(kept).toEqual(events(1, kept.length));
        expect(kept.length).toBeGreaterThanOrEqual(40);
      }
    });
  });
}

function at(run: string, seq: number): Checkpoint {
  return { ...checkpoint(run, seq), seq };
}
