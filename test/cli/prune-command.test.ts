import { describe, expect, it } from 'vitest';
import { openEmbedded } from '../stores/support/open-stores.js';
import { agentRecord, events, runRecord } from '../stores/support/records.js';
import { temporaryFolder } from '../stores/support/temporary-folder.js';
import { call } from './fake-terminal.js';

const DAY_MS = 24 * 3_600_000;

describe('prune', () => {
  it('deletes what is kept no longer, and nothing else', async () => {
    const dataDir = await temporaryFolder();
    const stores = await openEmbedded(dataDir);
    const agent = agentRecord();
    await stores.agents.insert('t', agent);
    const ages = { old: 10, young: 3 };
    for (const [id, days] of Object.entries(ages)) {
      await stores.runs.save(
        't',
        runRecord(agent.id, { id, status: 'succeeded', finishedAt: Date.now() - days * DAY_MS }),
      );
      await stores.log.append('t', id, { events: events(1, 2) });
    }
    await stores.close();

    const env = { RUNNEL_DATA_DIR: dataDir, RUNNEL_KEEP_RUNS_DAYS: '7', RUNNEL_KEEP_EVENTS_DAYS: '2' };
    const pruned = await call(['prune'], { env });
    expect(pruned).toMatchObject({ exit: 0, err: '' });
    expect(pruned.out).toMatch(/^deleted 1 runs, 1 logs, 0 sessions, 0 files; the database is [\d.]+ MiB smaller\n$/);
    const after = await openEmbedded(dataDir);
    expect(await after.runs.find('t', 'old')).toBeUndefined();
    expect(await after.runs.find('t', 'young')).toMatchObject({ status: 'succeeded' });
    expect(await after.log.read('t', 'young', 0, { maxEvents: 9, maxBytes: 9_999 })).toBeUndefined();
    await after.close();
  });

  it('refuses a wrong setting, and a folder that somebody uses', async () => {
    const dataDir = await temporaryFolder();
    const wrong = await call(['prune'], { env: { RUNNEL_DATA_DIR: dataDir, RUNNEL_KEEP_RUNS_DAYS: 'some' } });
    expect(wrong).toMatchObject({ exit: 2, out: '' });
    expect(wrong.err).toContain('RUNNEL_KEEP_RUNS_DAYS must be a whole number');
    const stores = await openEmbedded(dataDir);
    const taken = await call(['prune'], { env: { RUNNEL_DATA_DIR: dataDir } });
    expect(taken.exit).toBe(1);
    expect(taken.err).toMatch(/is in use by process \d+.*\[CONFLICT\]/s);
    await stores.close();
  });
});
