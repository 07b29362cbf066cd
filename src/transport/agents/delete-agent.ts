import type { ServerParts } from '../server-parts.js';

/** How long the runs of an agent may take to end; what does not is cut off. */
const PATIENCE_MS = 5_000;

/** More runs of one agent than that are not waited for; they are cancelled all the same. */
const MOST_RUNS = 10_000;

/**
 * Deletes an agent with everything that is its own: versions, sessions, runs and their logs. Runs that are going on are
 * cancelled, and their clients are told so before anything is gone. Gives whether there was one.
 */
export async function deleteAgent(parts: ServerParts, tenant: string, agentId: string): Promise<boolean> {
  const { stores, host } = parts;
  if ((await stores.agents.find(tenant, agentId)) === undefined) return false;
  await stopRuns(parts, tenant, agentId);
  const wasThere = await stores.agents.delete(tenant, agentId);
  // One that began meanwhile.
  await host.cancel(tenant, { agentId });
  await stores.versions.deleteOf(tenant, agentId);
  await stores.sessions.deleteOf(tenant, agentId);
  for (const run of await stores.runs.deleteOf(tenant, agentId)) {
    await stores.log.delete(tenant, run);
    await stores.journal?.delete(tenant, run);
  }
  return wasThere;
}

async function stopRuns(parts: ServerParts, tenant: string, agentId: string): Promise<void> {
  const query = { status: 'running', offset: 0, limit: MOST_RUNS } as const;
  const { items } = await parts.stores.runs.list(tenant, { ...query, agentId });
  await parts.host.cancel(tenant, { agentId });
  await Promise.all(items.map(({ id }) => parts.host.whenOver(tenant, id, PATIENCE_MS)));
}
