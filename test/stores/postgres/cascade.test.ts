import { describe, expect, it } from 'vitest';
import { embeddedForAll } from '../support/embedded-for-all.js';
import {
  agentRecord,
  checkpoint,
  events,
  newTenant,
  runRecord,
  sessionRecord,
  versionRecord,
} from '../support/records.js';

const TABLES = ['agents', 'versions', 'sessions', 'runs', 'logs', 'events', 'snapshots'];
const MANY = { maxEvents: 100, maxBytes: 100_000 };

describe('an agent in Postgres', () => {
  const stores = embeddedForAll();

  const fill = async (tenant: string) => {
    const agent = agentRecord();
    const run = runRecord(agent.id);
    await stores().agents.insert(tenant, agent);
    await stores().versions.insert(tenant, versionRecord(agent.id));
    await stores().sessions.save(tenant, sessionRecord(agent.id));
    await stores().runs.save(tenant, run);
    await stores().log.append(tenant, run.id, { events: events(1, 1), snapshot: checkpoint(run.id, 1) });
    await stores().log.append(tenant, run.id, { events: events(2, 3) });
    return { agent, run };
  };
  const count = async (table: string): Promise<number> => {
    const [row] = await stores().database
      .sql`select count(*)::int as count from ${stores().database.sql(`runnel.${table}`)}`;
    return row?.count as number;
  };

  it('takes everything along that belongs to it, and nothing else', async () => {
    const tenant = newTenant();
    const kept = await fill(tenant);
    const before = await Promise.all(TABLES.map(count));
    const { agent } = await fill(tenant);
    expect(await stores().agents.delete(tenant, agent.id)).toBe(true);
    expect(await Promise.all(TABLES.map(count))).toEqual(before);
    expect(await stores().log.snapshot(tenant, kept.run.id)).toEqual(checkpoint(kept.run.id, 1));
    expect(await stores().log.read(tenant, kept.run.id, 0, MANY)).toEqual(events(1, 3));
  });

  it('that is gone takes nothing more, also of what is still going on', async () => {
    const tenant = newTenant();
    const { agent, run } = await fill(tenant);
    await stores().agents.delete(tenant, agent.id);
    const gone = { code: 'NOT_FOUND' };
    const snapshot = checkpoint(run.id, 3);
    await expect(stores().log.append(tenant, run.id, { events: events(4, 4) })).rejects.toMatchObject(gone);
    await expect(stores().log.append(tenant, run.id, { events: [], snapshot })).rejects.toMatchObject(gone);
    await expect(stores().log.claim(tenant, run.id)).rejects.toMatchObject(gone);
    await expect(stores().runs.save(tenant, run)).rejects.toMatchObject(gone);
    await expect(stores().sessions.save(tenant, sessionRecord(agent.id))).rejects.toMatchObject(gone);
    await expect(stores().versions.insert(tenant, versionRecord(agent.id))).rejects.toMatchObject(gone);
    expect(await stores().log.read(tenant, run.id, 0, MANY)).toBeUndefined();
  });

  it('that is deleted while its runs write leaves nothing behind', async () => {
    const tenant = newTenant();
    const { agent, run } = await fill(tenant);
    const kept = await fill(tenant);
    const writing = Array.from({ length: 50 }, (_, at) =>
      stores().log.append(tenant, run.id, { events: events(4 + at, 4 + at) }),
    );
    const others = Array.from({ length: 50 }, (_, at) =>
      stores().log.append(tenant, kept.run.id, { events: events(4 + at, 4 + at) }),
    );
    const [, ...results] = await Promise.allSettled([stores().agents.delete(tenant, agent.id), ...writing]);
    await Promise.all(others);
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'NOT_FOUND' });
    }
    expect(await stores().log.read(tenant, run.id, 0, MANY)).toBeUndefined();
    expect(await stores().log.read(tenant, kept.run.id, 0, MANY)).toEqual(events(1, 53));
  });

  it('has a title, an id and tags that Postgres can keep, or is refused with a reason', async () => {
    const tenant = newTenant();
    const refused = stores().agents.insert(tenant, agentRecord({ title: 'a\u0000b' }));
    await expect(refused).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    await stores().agents.insert(tenant, agentRecord({ id: 'x', tags: 'a\u0000b, c' }));
    const query = { offset: 0, limit: 10, orderBy: 'title', descending: false } as const;
    expect((await stores().agents.list(tenant, { ...query, tags: ['c'] })).total).toBe(1);
  });
});
