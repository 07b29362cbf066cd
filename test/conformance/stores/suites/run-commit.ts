import { describe, expect, it } from 'vitest';
import type { CommitParts, CommitRun, RunCommit } from '../../../../src/records/run-commit.js';
import type { RunRecord } from '../../../../src/records/runs.js';
import type { SessionRecord } from '../../../../src/records/sessions.js';
import { checkpoint, events, newId, newTenant, runRecord, sessionRecord } from '../../../stores/support/records.js';
import type { Given } from './given.js';

const MANY = { maxEvents: 10_000, maxBytes: 10_000_000 };
const TTL_MS = 60_000;

/** What every {@link CommitRun} does with the stores that it writes to. */
export function describeRunCommit(stores: () => CommitParts, commit: () => CommitRun, given: Given): void {
  describe('a commit of a run', () => {
    const store = async (one: RunCommit): Promise<void> => commit()(one);

    /** A start and the end that belongs to it. */
    async function newRun() {
      const tenant = newTenant();
      const agentId = await given.agent(tenant);
      const run = newId();
      const session = sessionRecord(agentId, { lastRun: run });
      const record = runRecord(agentId, { id: run, sessionId: session.id, status: 'running' });
      const lease = { name: `session:${session.id}`, owner: newId(), data: { run } };
      const start: RunCommit = {
        ...{ tenant, run },
        acquire: { ...lease, ttlMs: TTL_MS },
        session: { after: session },
        record: { after: record },
        batches: [{ events: [], snapshot: checkpoint(run, 0) }, { events: events(1, 2) }],
      };
      const after: SessionRecord = { ...session, round: 1, keptRun: run };
      const ended: RunRecord = { ...record, status: 'succeeded', finishedAt: 5_000, lastSeq: 4 };
      const end: RunCommit = {
        ...{ tenant, run },
        session: { before: session, after },
        record: { before: record, after: ended },
        batches: [{ events: events(3, 4) }],
        isLast: true,
        release: lease,
      };
      return { tenant, run, session, record, lease, start, end, after, ended };
    }
    type Made = Awaited<ReturnType<typeof newRun>>;

    /** What is stored of a run. */
    async function stored({ tenant, run, session, lease }: Made) {
      const { sessions, runs, log, leases } = stores();
      return {
        session: await sessions.find(tenant, session.id),
        record: await runs.find(tenant, run),
        events: await log.read(tenant, run, 0, MANY),
        snapshot: await log.snapshot(tenant, run),
        isLeased: await leases.renew(tenant, lease.name, lease.owner, TTL_MS),
      };
    }

    it('stores a start, then what happens, then an end', async () => {
      const made = await newRun();
      await store(made.start);
      const { session, record } = made;
      const snapshot = checkpoint(made.run, 0);
      expect(await stored(made)).toEqual({ session, record, events: events(1, 2), snapshot, isLeased: true });
      await store(made.end);
      const { after, ended } = made;
      const whole = { session: after, record: ended, events: events(1, 4), snapshot, isLeased: false };
      expect(await stored(made)).toEqual(whole);
    });

    it('stores texts that end in half a character, as the name of a session may that is cut off', async () => {
      const made = await newRun();
      const half = '\ud83d';
      const session: SessionRecord = {
        ...made.session,
        name: `cut ${half}`,
        messages: [{ role: 'user', content: `cut ${half}`, id: 'm', createdAt: 1 }],
      };
      await store({ ...made.start, session: { after: session } });
      expect((await stored(made)).session).toEqual(session);
    });

    it('stores nothing of a start whose session another run has', async () => {
      const made = await newRun();
      const other = { ...made.lease, owner: newId() };
      await stores().leases.acquire(made.tenant, other, TTL_MS);
      await expect(store(made.start)).rejects.toMatchObject({ code: 'SESSION_BUSY' });
      const { record, events: found, isLeased } = await stored(made);
      expect({ record, found, isLeased }).toEqual({ record: undefined, found: undefined, isLeased: false });
    });

    it('stores nothing of an end whose run was claimed meanwhile', async () => {
      const made = await newRun();
      await store(made.start);
      const epoch = await stores().log.claim(made.tenant, made.run);
      await expect(store(made.end)).rejects.toMatchObject({ code: 'CONFLICT' });
      const { record, events: found, isLeased } = await stored(made);
      expect({ record, found, isLeased }).toEqual({ record: made.record, found: events(1, 2), isLeased: true });
      await store({ ...made.end, epoch });
      expect(await stored(made)).toMatchObject({ events: events(1, 4), isLeased: false });
    });

    it('leaves a session that was deleted meanwhile deleted', async () => {
      const made = await newRun();
      await store(made.start);
      await stores().sessions.delete(made.tenant, made.session.id);
      await store(made.end);
      expect(await stored(made)).toMatchObject({ session: undefined, record: made.ended, events: events(1, 4) });
    });

    it('refuses events that do not follow', async () => {
      const made = await newRun();
      await store(made.start);
      const { tenant, run } = made;
      await expect(store({ tenant, run, batches: [{ events: events(4, 4) }] })).rejects.toMatchObject({
        code: 'CONFLICT',
      });
      await expect(store({ ...made.end, batches: [{ events: events(2, 3) }] })).rejects.toMatchObject({
        code: 'CONFLICT',
      });
      expect(await stored(made)).toMatchObject({ record: made.record, events: events(1, 2), isLeased: true });
    });

    it('stores many runs at once, and refuses only the one that is refused', async () => {
      const all = await Promise.all(Array.from({ length: 20 }, newRun));
      const bad = all[7] as Made;
      await stores().leases.acquire(bad.tenant, { ...bad.lease, owner: newId() }, TTL_MS);
      const started = await Promise.allSettled(all.map(({ start }) => store(start)));
      expect(started.flatMap(({ status }, at) => (status === 'rejected' ? [at] : []))).toEqual([7]);
      const good = all.filter((made) => made !== bad);
      await Promise.all(good.map(({ end }) => store(end)));
      for (const made of good) expect(await stored(made)).toMatchObject({ record: made.ended, events: events(1, 4) });
    });
  });
}
