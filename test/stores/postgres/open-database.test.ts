import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { prepareDatabase } from '../../../scripts/prepare-database.js';
import { openDatabase } from '../../../src/stores/postgres/open-database.js';
import { openEmbedded } from '../support/open-stores.js';
import { agentRecord } from '../support/records.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { createLog } from '../support/test-log.js';

describe('opening the embedded database', () => {
  it('makes it once, says so, and finds everything again', async () => {
    const dataDir = await temporaryFolder();
    const image = await prepareDatabase();
    const agent = agentRecord();
    const log = createLog();
    const first = await openDatabase({ dataDir, log, image });
    await first.sql`create table mine (id text)`;
    await first.sql`insert into mine values (${agent.id})`;
    await first.close();
    expect(log.lines).toEqual(['preparing the database, once']);
    const second = await openDatabase({ dataDir, log, image });
    expect(await second.sql`select id from mine`).toEqual([{ id: agent.id }]);
    await second.close();
    expect(log.lines).toHaveLength(1);
  });

  it('begins what nothing waits for when no write of a run is under way', async () => {
    const database = await openDatabase({
      dataDir: await temporaryFolder(),
      log: createLog(),
      image: await prepareDatabase(),
    });
    const begun: string[] = [];
    const behind = (name: string) =>
      database.repeatBehind(async (sql) => {
        begun.push(name);
        return sql`select 1`;
      });
    const first = behind('idle');
    expect(begun).toEqual(['idle']);
    await first;
    let finish = (): void => {};
    const written = database.repeatAlone(() => new Promise<void>((resolve) => (finish = resolve)));
    const waiting = behind('beside');
    const question = database.repeat(async () => begun.push('question'));
    expect(begun).toEqual(['idle', 'question']);
    finish();
    await Promise.all([written, waiting, question]);
    expect(begun).toEqual(['idle', 'question', 'beside']);
    await database.close();
  });

  it('begins anew what was interrupted while it was made', async () => {
    const dataDir = await temporaryFolder();
    await mkdir(path.join(dataDir, 'database'), { recursive: true });
    await writeFile(path.join(dataDir, 'database/PG_VERSION'), '18');
    await writeFile(path.join(dataDir, 'database.unfinished'), '');
    const stores = await openEmbedded(dataDir);
    await stores.agents.insert('tenant', agentRecord());
    await stores.close();
    expect(existsSync(path.join(dataDir, 'database.unfinished'))).toBe(false);
  });

  it('says which folder cannot be opened', async () => {
    const dataDir = await temporaryFolder();
    await mkdir(path.join(dataDir, 'database'), { recursive: true });
    await writeFile(path.join(dataDir, 'database/PG_VERSION'), '9.6');
    const opening = openDatabase({ dataDir, log: createLog() });
    await expect(opening).rejects.toMatchObject({ code: 'INTERNAL' });
    await expect(opening).rejects.toThrow(dataDir);
  });

  it('refuses a folder that is in use, and says by whom', async () => {
    const dataDir = await temporaryFolder();
    const stores = await openEmbedded(dataDir);
    const second = openEmbedded(dataDir);
    await expect(second).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(second).rejects.toThrow(`in use by process ${process.pid}`);
    await stores.close();
  });

  it('refuses a database that a newer version has changed, and leaves it as it is', async () => {
    const dataDir = await temporaryFolder();
    const image = await prepareDatabase();
    const newer = await openDatabase({ dataDir, log: createLog(), image });
    await newer.sql`insert into runnel.migrations (number, name) values (9999, '9999-later.sql')`;
    await newer.close();
    const opening = openDatabase({ dataDir, log: createLog(), image });
    await expect(opening).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    await expect(opening).rejects.toThrow('migration 9999');
  });

  it('frees the leases of the process before', async () => {
    const dataDir = await temporaryFolder();
    const first = await openEmbedded(dataDir);
    await first.leases.acquire('tenant', { name: 'run:1', owner: 'first', data: { seq: 3 } }, 3_600_000);
    await first.close();
    const second = await openEmbedded(dataDir);
    expect(await second.leases.expired('run:', 10)).toMatchObject([
      { tenant: 'tenant', owner: 'first', data: { seq: 3 } },
    ]);
    await second.close();
  });
});

describe('opening a server', () => {
  it.each(['localhost:5432', 'mysql://user:secret@host/db'])('refuses %s without repeating it', async (url) => {
    const opening = openDatabase({ url, dataDir: '.', log: createLog() });
    await expect(opening).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    await expect(opening).rejects.not.toThrow('secret');
  });

  it('gives up on one that is not there when patience ends', async () => {
    const url = 'postgres://user:secret@127.0.0.1:1/db';
    const opening = openDatabase({ url, dataDir: '.', log: createLog(), patienceMs: 0 });
    await expect(opening).rejects.toThrow('cannot be reached (ECONNREFUSED)');
  });
});

describe('a server that cannot be reached', () => {
  it('is one short warning, then the error', async () => {
    const lines: object[] = [];
    // Patience ends with the warning, however long the first attempt takes.
    const now = vi.spyOn(Date, 'now').mockReturnValue(0);
    onTestFinished(() => now.mockRestore());
    const warn = (fields: object, message: string): void => {
      lines.push({ ...fields, message });
      now.mockReturnValue(1_000);
    };
    const log = { ...createLog(), warn };
    const opening = openDatabase({ url: 'postgres://u:p@127.0.0.1:1/x', dataDir: '', log, patienceMs: 100 });
    await expect(opening).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(lines).toEqual([
      { reason: 'connect ECONNREFUSED 127.0.0.1:1', message: 'the database cannot be reached; trying again' },
    ]);
  });
});
