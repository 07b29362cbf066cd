import { describe, expect, it } from 'vitest';
import { embeddedForAll } from '../support/embedded-for-all.js';
import { agentRecord, checkpoint, newTenant, runRecord, sessionRecord } from '../support/records.js';

describe('what Postgres has of a run', () => {
  const stores = embeddedForAll();

  it('is written once: in a column, or in a text', async () => {
    const tenant = newTenant();
    const agent = agentRecord();
    await stores().agents.insert(tenant, agent);
    const session = sessionRecord(agent.id);
    const run = runRecord(agent.id, { sessionId: session.id });
    const json = JSON.stringify({ type: 'message', run: run.id, seq: 1, text: 'e' });
    await stores().commit({
      ...{ tenant, run: run.id, session: { after: session }, record: { after: run } },
      batches: [{ events: [], snapshot: checkpoint(run.id, 0) }, { events: [{ seq: 1, event: 'message', json }] }],
    });
    const { sql } = stores().database;
    const [row] = await sql<{ run: string; session: string; events: string; begins: number; snapshots: number }[]>`
      select r.record::text as run, s.record::text as session, e.body as events, l.begins,
        (select count(*)::int from runnel.snapshots where log = l.id) as snapshots
      from runnel.runs r
      join runnel.sessions s on s.tenant = r.tenant and s.id = r.session
      join runnel.logs l on l.tenant = r.tenant and l.run = r.id
      join runnel.events e on e.log = l.id
      where r.tenant = ${tenant}`;
    expect(row).toMatchObject({ begins: 0, snapshots: 0 });
    for (const text of [row?.run, row?.session, row?.events]) {
      for (const id of [run.id, session.id, agent.id]) expect(text).not.toContain(id);
    }
    expect(await stores().runs.find(tenant, run.id)).toEqual(run);
    expect(await stores().sessions.find(tenant, session.id)).toEqual(session);
    expect(await stores().log.snapshot(tenant, run.id)).toEqual(checkpoint(run.id, 0));
  });

  it('has no index on what the end of a run changes, so that the end writes to none', async () => {
    const { sql } = stores().database;
    const found = await sql<{ name: string }[]>`
      select t.relname || '.' || a.attname as name
      from pg_index i join pg_class t on t.oid = i.indrelid join pg_namespace n on n.oid = t.relnamespace
      join pg_attribute a on a.attrelid = t.oid and a.attnum = any(i.indkey)
      where n.nspname = 'runnel'`;
    const indexed = found.map(({ name }) => name);
    expect(indexed).toContain('runs.started_at');
    for (const column of ['runs.status', 'runs.writer', 'runs.finished_at', 'sessions.writer', 'sessions.updated_at']) {
      expect(indexed).not.toContain(column);
    }
    expect(indexed).not.toContain('leases.expires_at');
  });
});
