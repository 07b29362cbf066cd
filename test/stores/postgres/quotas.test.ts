import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openServer } from '../support/open-stores.js';
import { describePostgres, type PostgresServer, startPostgres } from '../support/postgres-server.js';
import { agentRecord, versionRecord } from '../support/records.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const MIGRATION = new URL('../../../src/stores/postgres/migrations/0003-quotas.sql', import.meta.url);

describePostgres('quotas in Postgres', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());

  it('count what was stored before there were quotas', async () => {
    const url = await server.createDatabase();
    const folder = await temporaryFolder();
    const before = await openServer(url, folder);
    await before.agents.insert('t', agentRecord({ id: 'a' }));
    await before.versions.insert('t', versionRecord('a'));
    const file = { id: 'f', name: 'f', mimeType: 'm', bytes: new Uint8Array(7), createdAt: 1 };
    await before.files.save('t', file);
    const usage = await before.usage.of('t');
    expect(usage).toMatchObject({ agents: 1, files: 1, fileBytes: 7 });
    // As a database of an older version.
    await before.database.sql.unsafe(`
      drop table runnel.usage;
      drop function runnel.count_agents, runnel.count_tokens, runnel.count_versions, runnel.count_files,
        runnel.count_replaced_files cascade;
      alter table runnel.files drop column from_page, drop column expires_at`);
    await before.database.sql.unsafe(await readFile(MIGRATION, 'utf8'));
    await before.close();

    const after = await openServer(url, folder, { files: 2, versions: 1 });
    expect(await after.usage.of('t')).toEqual(usage);
    await expect(after.versions.insert('t', versionRecord('a'))).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
    await after.files.save('t', { ...file, id: 'g' });
    await expect(after.files.save('t', { ...file, id: 'h' })).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
    await after.close();
  });
});
