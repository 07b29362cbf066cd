/** What waits for the lease of a session goes on when the lease is over, however it ends. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { HostParts } from '../../src/hosting/host-options.js';
import { type SessionLease, SessionLeases } from '../../src/hosting/leases.js';
import { SILENT_LOG } from '../../src/logger.js';
import type { LeaseStore } from '../../src/records/coordination.js';
import { createMemoryLeases } from '../../src/stores/memory-leases.js';

const LEASE_MS = 1_000;

/** A lease that was prepared; its store answers renewals as the test says. */
function prepared(renew?: LeaseStore['renew']) {
  const clock = { now: 1_000 };
  const now = () => clock.now;
  const memory = createMemoryLeases({ now });
  const leases: LeaseStore = { ...memory, renew: renew ?? memory.renew };
  const limits = { leaseMs: LEASE_MS, maxRuns: 10 };
  // Leases use no other parts of a host.
  const parts = { stores: { leases }, limits, isShared: false, logger: SILENT_LOG, now } as unknown as HostParts;
  const all = new SessionLeases(parts);
  const lease = all.prepare({ tenant: 't', sessionId: 's', agentId: 'a', run: 'r' });
  if (lease === undefined) throw new Error('the session is leased already');
  return { all, lease, clock };
}

/** Whether a promise has settled by the next turn of the event loop. */
async function hasSettled(work: Promise<void> | undefined): Promise<boolean> {
  let isSettled = false;
  void work?.then(() => {
    isSettled = true;
  });
  await nextTurn();
  return isSettled;
}

it.each<[string, (lease: SessionLease) => unknown]>([
  ['is forgotten', (lease) => lease.forget()],
  ['is released', (lease) => lease.release()],
  ['is abandoned', (lease) => lease.abandon(false)],
])('lets those go on who wait for the lease when it %s before it was acquired', async (_, end) => {
  const { lease, clock } = prepared();
  clock.now += LEASE_MS + 1;
  const waiting = lease.unconfirmed();
  expect(await hasSettled(waiting)).toBe(false);
  await end(lease);
  expect(await hasSettled(waiting)).toBe(true);
  expect(lease.unconfirmed()).toBeUndefined();
});

it('confirms a lease that was acquired meanwhile before it lets its run go on', async () => {
  const { all, lease, clock } = prepared();
  clock.now += LEASE_MS + 1;
  const waiting = lease.unconfirmed();
  lease.hold();
  // The store knows no such lease: it was lost.
  expect(await hasSettled(waiting)).toBe(true);
  expect(lease.unconfirmed()).toBeUndefined();
  expect(await lease.isHeld()).toBe(false);
  all.close();
});

/** Attempts after which a loop without an end is cut: it would keep this process from failing the test. */
const TOO_MANY = 5;

it('asks no more whether it has a lease that the end of its run releases', async () => {
  let answerFirst: (isHeld: boolean) => void = () => {};
  const first = new Promise<boolean>((resolve) => {
    answerFirst = resolve;
  });
  let asked = 0;
  const { all, lease, clock } = prepared((): Promise<boolean> => {
    asked += 1;
    if (asked === TOO_MANY) lease.forget();
    return asked === 1 ? first : Promise.resolve(false);
  });
  let isLost = false;
  lease.whenLost = () => {
    isLost = true;
  };
  lease.hold();
  clock.now += LEASE_MS + 1;
  const confirming = lease.unconfirmed();
  lease.isEnding = true;
  answerFirst(false);
  expect(await hasSettled(confirming)).toBe(true);
  expect([asked, isLost]).toEqual([1, false]);
  all.close();
});

it('asks again when the end of its run could not be stored', async () => {
  let asked = 0;
  const { all, lease, clock } = prepared(async () => {
    asked += 1;
    if (asked === TOO_MANY) lease.forget();
    return true;
  });
  lease.hold();
  clock.now += LEASE_MS + 1;
  lease.isEnding = true;
  expect(await hasSettled(lease.unconfirmed())).toBe(true);
  expect(asked).toBe(0);
  lease.isEnding = false;
  expect(await hasSettled(lease.unconfirmed())).toBe(true);
  expect([asked, lease.unconfirmed()]).toEqual([1, undefined]);
  all.close();
});
