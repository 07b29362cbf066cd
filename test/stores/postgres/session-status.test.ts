import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { prepareDatabase } from '../../../scripts/prepare-database.js';
import type { RunStatus } from '../../../src/records/runs.js';
import { openDatabase } from '../../../src/stores/postgres/open-database.js';
import { openEmbedded } from '../support/open-stores.js';
import { agentRecord, runRecord, sessionRecord } from '../support/records.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { createLog } from '../support/test-log.js';

const MIGRATION = new URL('../../../src/stores/postgres/migrations/0017-session-status.sql', import.meta.url);

it('sessions from before are found by how their last runs stand, where those are in the same database', async () => {
  const dataDir = await temporaryFolder();
  const before = await openEmbedded(dataDir);
  const [agent, theirs] = [agentRecord(), agentRecord()];
  await before.agents.insert('acme', agent);
  await before.agents.insert('other', theirs);
  for (const [id, status] of [
    ['a/1', 'cancelled'],
    ['b', 'waiting'],
    ['gone', undefined],
    ['', undefined],
  ] as const) {
    const session = sessionRecord(agent.id, { name: id, ...(id !== '' && { lastRun: id, keptRun: id }) });
    await before.sessions.save('acme', session);
    if (status !== undefined)
      await before.runs.save('acme', runRecord(agent.id, { id, sessionId: session.id, status }));
    // Another tenant has a run of this name, too.
    if (id !== '') await before.runs.save('other', runRecord(theirs.id, { id, status: 'failed' }));
  }
  await before.close();

  const database = await openDatabase({ dataDir, log: createLog(), image: await prepareDatabase() });
  await database.sql`alter table runnel.sessions drop column status`;
  const text = await readFile(MIGRATION, 'utf8');
  // A second time it finds nothing to do.
  for (const _ of [1, 2]) await database.sql.unsafe(text);
  await database.close();

  const after = await openEmbedded(dataDir);
  const found = async (status: RunStatus) => {
    const query = { status, offset: 0, limit: 10, orderBy: 'name', descending: false } as const;
    return (await after.sessions.select('acme', query, ['name'])).items.map(({ name }) => name);
  };
  expect(await found('cancelled')).toEqual(['a/1']);
  expect(await found('waiting')).toEqual(['b']);
  expect([await found('running'), await found('succeeded'), await found('failed')]).toEqual([[], [], []]);
  await after.close();
});
