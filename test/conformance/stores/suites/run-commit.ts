import { describe, expect, it } from 'vitest';
import { commitInSteps, type RunCommit } from '../../../../src/records/run-commit.js';
import { events, newTenant, runRecord, sessionRecord } from '../../../stores/support/records.js';
import type { StoreSubject } from './all-stores.js';
import type { Given } from './given.js';

const MANY = { maxEvents: 100, maxBytes: 100_000 };

/** What stores do with the end of a run in one step, when another process has claimed the run. */
export function describeRunCommit(subject: () => StoreSubject, given: Given): void {
  describe('the end of a run in one step', () => {
    it('is refused to the process that has lost the run, and stored for the one that has it', async () => {
      const stores = subject();
      const commit = stores.commit ?? commitInSteps(stores);
      const tenant = newTenant();
      const agent = await given.agent(tenant);
      const asked = sessionRecord(agent);
      const run = runRecord(agent, { sessionId: asked.id });
      const session = { ...asked, lastRun: run.id };
      await stores.sessions.save(tenant, session);
      await stores.runs.save(tenant, run);
      await stores.log.append(tenant, run.id, { events: events(1, 2) });
      const epoch = await stores.log.claim(tenant, run.id);
      const lease = { name: `session:${session.id}`, owner: 'new', data: { run: run.id } };
      await stores.leases.acquire(tenant, lease, 60_000);
      const [claimed, recovered] = [
        { ...session, epoch },
        { ...run, epoch },
      ];
      await stores.sessions.replace(tenant, session, claimed);
      await stores.runs.replace(tenant, run, recovered);
      const ended = { status: 'succeeded', finishedAt: 2_000, lastSeq: 3 } as const;
      const end: Omit<RunCommit, 'epoch' | 'session' | 'record'> = {
        ...{ tenant, run: run.id, isLast: true },
        batches: [{ events: events(3, 3) }],
        release: lease,
      };

      const late = async (): Promise<void> =>
        commit({
          ...end,
          session: { before: session, after: { ...session, name: 'late' } },
          record: { before: run, after: { ...run, ...ended } },
        });
      await expect(late()).rejects.toMatchObject({ code: 'CONFLICT' });
      expect(await stores.sessions.find(tenant, session.id)).toEqual(claimed);
      expect(await stores.runs.find(tenant, run.id)).toEqual(recovered);
      expect(await stores.log.read(tenant, run.id, 0, MANY)).toEqual(events(1, 2));
      expect(await stores.leases.renew(tenant, lease.name, 'new', 60_000)).toBe(true);

      await commit({
        ...end,
        epoch,
        session: { before: claimed, after: { ...claimed, name: 'in time' } },
        record: { before: recovered, after: { ...recovered, ...ended } },
      });
      expect(await stores.sessions.find(tenant, session.id)).toEqual({ ...claimed, name: 'in time' });
      expect(await stores.runs.find(tenant, run.id)).toEqual({ ...recovered, ...ended });
      expect(await stores.log.read(tenant, run.id, 0, MANY)).toEqual(events(1, 3));
      expect(await stores.leases.renew(tenant, lease.name, 'new', 60_000)).toBe(false);
    });
  });
}
