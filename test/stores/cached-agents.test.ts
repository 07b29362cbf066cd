import { describe, expect, it } from 'vitest';
import type { AgentQuery, AgentRecord } from '../../src/records/agents.js';
import { agents as resource } from '../../src/records/agents.js';
import type { Repository } from '../../src/records/repository.js';
import { createCachedAgents } from '../../src/stores/cached-agents.js';
import { createMemoryRepository } from '../../src/stores/memory-repository.js';
import { createMemorySignals } from '../../src/stores/memory-signals.js';
import { agentRecord } from './support/records.js';

/** Two processes over one store, whose reads are counted, and a clock. */
function createSubject() {
  const store: Repository<AgentRecord, AgentQuery> = createMemoryRepository(resource);
  const signals = createMemorySignals();
  const clock = { now: 1_000, reads: 0 };
  // As read from a database: another object each time.
  const counted: typeof store = {
    ...store,
    async find(tenant, id, owner) {
      clock.reads += 1;
      return structuredClone(await store.find(tenant, id, owner));
    },
  };
  const open = () => createCachedAgents(counted, signals, () => clock.now);
  return { store, clock, here: open(), there: open() };
}

describe('agents in memory for a moment', () => {
  it('are read once however many ask, and are the same object until they change', async () => {
    const { here, clock } = createSubject();
    const agent = agentRecord();
    await here.insert('t', agent);
    const found = await Promise.all([here.find('t', agent.id), here.find('t', agent.id)]);
    expect(found).toEqual([agent, agent]);
    expect(clock.reads).toBe(1);
    clock.now += 1_000;
    expect(await here.find('t', agent.id)).toBe(found[0]);
    expect(clock.reads).toBe(2);
  });

  it('are read again as soon as a process has changed or deleted them', async () => {
    const { here, there } = createSubject();
    const agent = agentRecord();
    await here.insert('t', agent);
    await Promise.all([here.find('t', agent.id), there.find('t', agent.id)]);
    await there.update('t', agent.id, { description: 'new' });
    expect(await here.find('t', agent.id)).toMatchObject({ description: 'new' });
    expect(await there.find('t', agent.id)).toMatchObject({ description: 'new' });
    await here.delete('t', agent.id);
    expect([await here.find('t', agent.id), await there.find('t', agent.id)]).toEqual([undefined, undefined]);
  });

  it('are read again after a second, should the message of a change have been lost', async () => {
    const { here, store, clock } = createSubject();
    const agent = agentRecord();
    await here.insert('t', agent);
    await here.find('t', agent.id);
    await store.update('t', agent.id, { description: 'new' });
    clock.now += 999;
    expect(await here.find('t', agent.id)).toMatchObject({ description: null });
    clock.now += 1;
    expect(await here.find('t', agent.id)).toMatchObject({ description: 'new' });
  });

  it('belong to their tenant', async () => {
    const { here } = createSubject();
    const agent = agentRecord();
    await here.insert('t', agent);
    await here.find('t', agent.id);
    expect(await here.find('other', agent.id)).toBeUndefined();
  });
});
