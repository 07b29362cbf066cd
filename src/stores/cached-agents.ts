/** Agents in memory for a moment: a run needs its agent, and a thousand runs of one agent need the same. */
import type { AgentQuery, AgentRecord } from '../records/agents.js';
import type { Signals } from '../records/coordination.js';
import type { Repository } from '../records/repository.js';
import { BoundedMap } from './bounded-map.js';

/** How long a record is used without looking again, should the message of a change have been lost. */
const FRESH_MS = 1_000;

const MAX_AGENTS = 1_000;

/** Where processes tell which agents they changed. */
const CHANGED = 'agents-changed';

interface Held {
  readonly found: Promise<AgentRecord | undefined>;
  readonly at: number;
}

type AgentRepository = Repository<AgentRecord, AgentQuery>;

/** Agents with something to close. */
export interface CachedAgents extends AgentRepository {
  close(): void;
}

/**
 * Finds an agent once a second at most, however many ask for it. A change by this process is seen at once, that of another one as soon as
 * its message arrives, at the latest after a second.
 *
 * @param now milliseconds since 1970
 */
export function createCachedAgents(
  agents: AgentRepository,
  signals: Signals,
  now: () => number = Date.now,
): CachedAgents {
  const held = new BoundedMap<Held>({ what: 'agents', maxCount: MAX_AGENTS, canDrop: () => true });
  /** What was read last, so that a record that has not changed is the same object. */
  const known = new BoundedMap<AgentRecord>({ what: 'agents', maxCount: MAX_AGENTS, canDrop: () => true });
  const listening = signals.messages(CHANGED).subscribe((message) => {
    const [tenant, id] = JSON.parse(message) as [string, string];
    held.delete(tenant, id);
  });
  const look = async (tenant: string, id: string): Promise<AgentRecord | undefined> => {
    const found = await agents.find(tenant, id);
    if (found === undefined) return undefined;
    const before = known.get(tenant, id);
    if (before !== undefined && JSON.stringify(before) === JSON.stringify(found)) return before;
    known.put(tenant, id, found, 0);
    return found;
  };
  const changed = async <T>(tenant: string, id: string, work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } finally {
      held.delete(tenant, id);
      // Other processes look again after a second anyway.
      await signals.publish(CHANGED, JSON.stringify([tenant, id])).catch(() => {});
    }
  };
  return {
    ...agents,
    find(tenant, id, owner) {
      if (owner !== undefined) return agents.find(tenant, id, owner);
      const before = held.get(tenant, id);
      if (before !== undefined && now() - before.at < FRESH_MS) return before.found;
      const found = look(tenant, id);
      const entry = { found, at: now() };
      held.put(tenant, id, entry, 0);
      found.catch(() => {
        if (held.get(tenant, id) === entry) held.delete(tenant, id);
      });
      return found;
    },
    save: (tenant, agent) => changed(tenant, agent.id, agents.save(tenant, agent)),
    insert: (tenant, agent) => changed(tenant, agent.id, agents.insert(tenant, agent)),
    update: (tenant, id, change, expected) => changed(tenant, id, agents.update(tenant, id, change, expected)),
    delete: (tenant, id, owner) => changed(tenant, id, agents.delete(tenant, id, owner)),
    close: () => listening.unsubscribe(),
  };
}
