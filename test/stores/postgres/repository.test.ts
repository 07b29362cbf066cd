import { describe, expect, it } from 'vitest';
import { listAgentSummaries } from '../../../src/records/agents.js';
import { embeddedForAll } from '../support/embedded-for-all.js';
import { agentRecord, newTenant, sessionRecord } from '../support/records.js';

describe('a repository in Postgres', () => {
  const stores = embeddedForAll();

  it('refuses a stored record of another form, and says what is wrong with it', async () => {
    const tenant = newTenant();
    const agent = agentRecord();
    await stores().agents.insert(tenant, agent);
    const damaged = JSON.stringify({ ...agent, permission: 'everyone' });
    await stores().database.sql`update runnel.agents set record = ${damaged} where tenant = ${tenant}`;
    const finding = stores().agents.find(tenant, agent.id);
    await expect(finding).rejects.toMatchObject({ code: 'INTERNAL' });
    await expect(finding).rejects.toThrow('permission');
  });

  it('gives back fields that a schema does not know', async () => {
    const tenant = newTenant();
    const agent = { ...agentRecord(), later: { a: 1 } };
    await stores().agents.insert(tenant, agent);
    expect(await stores().agents.find(tenant, agent.id)).toEqual(agent);
  });

  it('changes the shared document of a record, and leaves it when the change does not name it', async () => {
    const tenant = newTenant();
    const agent = agentRecord();
    await stores().agents.insert(tenant, agent);
    const session = sessionRecord(agent.id, { dsl: { old: true } });
    await stores().sessions.insert(tenant, session);
    const named = { ...session, name: 'new' };
    expect(await stores().sessions.update(tenant, session.id, { name: 'new' })).toEqual(named);
    const dsl = { new: true };
    expect(await stores().sessions.update(tenant, session.id, { dsl })).toEqual({ ...named, dsl });
    expect(await stores().sessions.find(tenant, session.id)).toEqual({ ...named, dsl });
  });

  it('makes the summary of a record that is older than summaries when it is listed, and stores() it', async () => {
    const tenant = newTenant();
    const agent = agentRecord({ description: 'a\u0000b', published: { dsl: { a: '\u0000' }, at: 3 } });
    await stores().agents.insert(tenant, agent);
    const { sql } = stores().database;
    await sql`update runnel.agents set summary = null where tenant = ${tenant}`;
    const query = { offset: 0, limit: 10, orderBy: 'title', descending: false } as const;
    const { dsl: _, ...others } = agent;
    expect((await listAgentSummaries(stores().agents, tenant, query)).items).toEqual([
      { ...others, published: { at: 3 } },
    ]);
    const [row] = await sql`select summary is not null as "isStored" from runnel.agents where tenant = ${tenant}`;
    expect(row).toEqual({ isStored: true });
  });

  it('lists neither records nor documents that it does not give', async () => {
    const tenant = newTenant();
    const agent = agentRecord({ dsl: { a: 'x'.repeat(100_000) } });
    await stores().agents.insert(tenant, agent);
    for (const text of ['a', 'b', 'c']) {
      await stores().sessions.insert(tenant, sessionRecord(agent.id, { dsl: { text: text.repeat(100_000) } }));
    }
    const { sql } = stores().database;
    // No record could be read from this.
    await sql`update runnel.agents set record = '[]' where tenant = ${tenant}`;
    const query = { offset: 0, limit: 10, descending: false, maxBytes: 1_000 } as const;
    const agents = await listAgentSummaries(stores().agents, tenant, { ...query, orderBy: 'title' });
    expect(agents.items).toMatchObject([{ id: agent.id }]);
    const sessions = { ...query, agentId: agent.id, orderBy: 'name', omitsShared: true } as const;
    expect((await stores().sessions.list(tenant, sessions)).items.length).toBeGreaterThan(1);
    expect((await stores().sessions.select(tenant, sessions, ['name'])).total).toBe(3);
  });

  it('lists by an index', async () => {
    const { sql } = stores().database;
    const plan = await sql.begin(async (transaction) => {
      await transaction`set local enable_seqscan = off`;
      return transaction`
        explain select record from runnel.agents where tenant = 't'
        order by updated_at desc, position desc offset 0 limit 30`;
    });
    const text = JSON.stringify(plan);
    expect(text).toContain('Index Scan Backward');
    expect(text).not.toContain('Sort');
  });
});
