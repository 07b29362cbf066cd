/** Changes of one record that must not come between each other, in this process or in another one. */
import { setTimeout as pause } from 'node:timers/promises';
import type { EngineError } from '../../errors.js';
import { createId } from '../../hosting/ids.js';
import type { ServerParts } from '../server-parts.js';

/** A process that is lost in the middle keeps others from the record for so long. */
const LEASE_MS = 10_000;

/** How often, and how many milliseconds apart, a record that is being changed is tried again. */
const ATTEMPTS = 40;
const PAUSE_MS = 25;

/** What others are kept from meanwhile. */
export interface Exclusive {
  readonly tenant: string;
  /** Of the lease, such as `chat:<id>`. */
  readonly name: string;
  /** The refusal when it is not free in time. */
  readonly refusal: () => EngineError;
}

/** Does `work` while no other one of the same name is at work. @throws EngineError the refusal, and what `work` throws */
export async function exclusively<T>(
  { stores }: Pick<ServerParts, 'stores'>,
  { tenant, name, refusal }: Exclusive,
  work: () => Promise<T>,
): Promise<T> {
  const { leases, home = '' } = stores;
  // No run has that id: what recovers sessions gives the lease of a process that was lost back.
  const owner = createId();
  for (let attempt = 1; ; attempt += 1) {
    const { isMine } = await leases.acquire(tenant, { name, owner, data: { home, run: owner } }, LEASE_MS);
    if (isMine) break;
    if (attempt === ATTEMPTS) throw refusal();
    await pause(PAUSE_MS);
  }
  try {
    return await work();
  } finally {
    await leases.release(tenant, name, owner);
  }
}
