/** Deleting an agent, which an assistant is as well, and its sessions. */
import type { ServerParts } from '../server-parts.js';

/** Milliseconds that runs may take to end before what they belong to is deleted. */
const PATIENCE_MS = 5_000;

/** The most runs of one agent that a deletion waits for; the others are cancelled without waiting. */
const MOST_RUNS = 10_000;

type Ending = Pick<ServerParts, 'stores' | 'host'>;

/**
 * Deletes an agent with its versions, sessions, runs and logs; gives whether it was there. Its runs are cancelled first, so that
 * their clients receive the end before the logs are gone.
 */
export async function deleteAgent(parts: Ending, tenant: string, agentId: string): Promise<boolean> {
  const { stores, host } = parts;
  await stopRuns(parts, tenant, agentId);
  const wasThere = await stores.agents.delete(tenant, agentId);
  // A run may have started meanwhile.
  await host.cancel(tenant, { agentId });
  await stores.versions.deleteOf(tenant, agentId);
  await stores.sessions.deleteOf(tenant, agentId);
  for (const run of await stores.runs.deleteOf(tenant, agentId)) {
    await stores.log.delete(tenant, run);
  }
  return wasThere;
}

async function stopRuns(parts: Ending, tenant: string, agentId: string): Promise<void> {
  const query = { status: 'running', offset: 0, limit: MOST_RUNS } as const;
  const { items } = await parts.stores.runs.list(tenant, { ...query, agentId });
  await parts.host.cancel(tenant, { agentId });
  await Promise.all(items.map(({ id }) => parts.host.whenOver(tenant, id, PATIENCE_MS)));
}

/** Deletes a session with what its chat said, and cancels its run; gives whether it was there. */
export async function endSession({ stores, host }: Ending, tenant: string, sessionId: string): Promise<boolean> {
  const { sessions, chats } = stores;
  const session = await sessions.find(tenant, sessionId);
  // Before the run is cancelled, so that its end does not store the session again.
  const wasThere = await sessions.delete(tenant, sessionId);
  await host.cancel(tenant, { sessionId });
  const { lastRun, keptRun } = session ?? {};
  if (lastRun !== undefined) await host.cancel(tenant, { run: lastRun });
  if (lastRun === undefined || lastRun === keptRun) return wasThere;
  // A chat may be storing its answer, which would stay without its session.
  await host.whenOver(tenant, lastRun, PATIENCE_MS);
  await chats?.delete(tenant, sessionId);
  return wasThere;
}
