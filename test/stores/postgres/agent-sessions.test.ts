import { describe, expect, it } from 'vitest';
import { createPostgresSessionEntries } from '../../../src/stores/postgres/agent-sessions.js';
import type { Database } from '../../../src/stores/postgres/database.js';
import { embeddedForAll } from '../support/embedded-for-all.js';
import { newId, newTenant } from '../support/records.js';

describe('createPostgresSessionEntries', () => {
  const stores = embeddedForAll();

  it('knows its own batch again when the answer was lost, also behind another one', async () => {
    const { database, agentSessions } = stores();
    const [tenant, session] = [newTenant(), newId()];
    let others: readonly string[] = [];
    /** Every answer is lost once; meanwhile another process may write. */
    const forgetful: Database = {
      ...database,
      async repeat(work) {
        await work(database.sql);
        const [entries, time] = [others, 2];
        others = [];
        if (entries.length > 0) await agentSessions.append(tenant, session, { after: 2, entries, time });
        return work(database.sql);
      },
    };
    const entries = createPostgresSessionEntries(forgetful);
    const text = (at: number) => JSON.stringify({ at, time: 1 });
    const first = { after: 0, entries: [text(1), text(2)], time: 1 };
    others = [text(3)];
    expect(await entries.append(tenant, session, first)).toEqual({ isStored: true, newest: 3 });
    expect(await entries.append(tenant, session, { after: 3, entries: [text(4)], time: 1 })).toMatchObject({
      isStored: true,
    });
    expect(await entries.append(tenant, session, first)).toEqual({ isStored: false, newest: 4 });
    const query = { after: 0, maxEntries: 9, maxBytes: 1_000 };
    expect(await agentSessions.read(tenant, session, query)).toEqual([1, 2, 3, 4].map((at) => ({ at, time: 1 })));
    // Pages end by bytes, too, and have one entry at least.
    expect(await agentSessions.read(tenant, session, { ...query, maxBytes: 45 })).toHaveLength(2);
    expect(await agentSessions.read(tenant, session, { ...query, after: 2, maxBytes: 1 })).toEqual([
      { at: 3, time: 1 },
    ]);
  });

  it('takes a cursor that is none for the end', async () => {
    expect(await stores().agentSessions.list(newTenant(), { limit: 5, after: 'none' })).toEqual([]);
  });
});
