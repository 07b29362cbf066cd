import { readdir, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PostgresStores } from '../../../src/stores/postgres/stores.js';
import { openEmbedded } from '../support/open-stores.js';
import { agentRecord, checkpoint, events, newId, newTenant, runRecord, sessionRecord } from '../support/records.js';
import { makeFolder, removeFolder } from '../support/temporary-folder.js';

const MANY = { maxEvents: 100, maxBytes: 1_000_000_000 };

describe('pruning', () => {
  let folder: string;
  let stores: PostgresStores;
  beforeAll(async () => {
    folder = await makeFolder();
    stores = await openEmbedded(folder);
  });
  afterAll(async () => {
    await stores.close();
    await removeFolder(folder);
  });
  const newAgent = async (tenant: string): Promise<string> => {
    const agent = agentRecord();
    await stores.agents.insert(tenant, agent);
    return agent.id;
  };
  const prune = (olderThan: object) => stores.prune({ olderThan, now: Date.now() });

  it('deletes runs that ended before, and keeps those that run, wait for longer or are younger', async () => {
    const tenant = newTenant();
    const agent = await newAgent(tenant);
    const runs = {
      old: runRecord(agent, { status: 'succeeded', finishedAt: 10 }),
      young: runRecord(agent, { status: 'failed', finishedAt: 30 }),
      running: runRecord(agent, { status: 'running', startedAt: 1 }),
    };
    for (const run of Object.values(runs)) {
      await stores.runs.save(tenant, run);
      await stores.log.append(tenant, run.id, { events: events(1, 2) });
    }
    expect(await prune({ runs: 20 })).toMatchObject({ runs: 1, logs: 0, sessions: 0, files: 0 });
    expect(await stores.runs.find(tenant, runs.old.id)).toBeUndefined();
    expect(await stores.log.read(tenant, runs.old.id, 0, MANY)).toBeUndefined();
    expect(await stores.log.read(tenant, runs.young.id, 0, MANY)).toHaveLength(2);
    expect(await stores.runs.find(tenant, runs.running.id)).toEqual(runs.running);
  });

  it('deletes events and snapshots alone, and gives their space back', async () => {
    const tenant = newTenant();
    const run = runRecord(await newAgent(tenant), { status: 'succeeded', finishedAt: 10 });
    await stores.runs.save(tenant, run);
    const noise = Array.from({ length: 20_000 }, newId).join('');
    const large = Array.from({ length: 10 }, (_, at) => ({
      seq: at + 1,
      event: 'e',
      json: JSON.stringify(noise + at),
    }));
    await stores.log.append(tenant, run.id, { events: large, snapshot: checkpoint(run.id, 10) });
    const result = await prune({ events: 20 });
    expect(result.logs).toBe(1);
    expect(result.freedBytes).toBeGreaterThan(2_000_000);
    expect(await stores.runs.find(tenant, run.id)).toEqual(run);
    expect(await stores.log.read(tenant, run.id, 0, MANY)).toBeUndefined();
    expect(await stores.log.snapshot(tenant, run.id)).toBeUndefined();
  });

  it('deletes sessions and documents that nobody runs, which can be saved again', async () => {
    const tenant = newTenant();
    const agent = await newAgent(tenant);
    const dsl = { components: { begin: {} } };
    const [old, young] = [
      sessionRecord(agent, { updatedAt: 10, dsl }),
      sessionRecord(agent, { updatedAt: 30, dsl: { other: true } }),
    ];
    await stores.sessions.save(tenant, old);
    await stores.sessions.save(tenant, young);
    expect(await prune({ sessions: 20 })).toMatchObject({ sessions: 1 });
    expect(await stores.sessions.find(tenant, old.id)).toBeUndefined();
    expect(await stores.sessions.find(tenant, young.id)).toEqual(young);
    const { sql } = stores.database;
    const documents = await sql`select dsl from runnel.documents where tenant = ${tenant}`;
    expect(documents).toEqual([{ dsl: { other: true } }]);
    await stores.sessions.save(tenant, old);
    expect(await stores.sessions.find(tenant, old.id)).toEqual(old);
  });

  it('deletes sessions of agents in code, and logs of turns whose sessions are gone', async () => {
    const tenant = newTenant();
    const { agentSessions, turnLines, database } = stores;
    // What tests before have left is deleted as well, and would be counted.
    await prune({ sessions: 20 });
    for (const time of [10, 30]) {
      await agentSessions.append(tenant, `s${time}`, { after: 0, entries: ['{}'], time });
      const { epoch } = await turnLines.claim({ tenant, session: `s${time}`, turn: 't' }, 1_000);
      const lines = [{ isSnapshot: true, text: '{}' }];
      await turnLines.store({ tenant, session: `s${time}`, turn: 't' }, { epoch, from: 1, lines, leaseMs: 1_000 });
    }
    await turnLines.claim({ tenant, session: 'young', turn: 't' }, 1_000);
    await database.repeat(
      (sql) => sql`update runnel.agent_turn_logs set expires_at = clock_timestamp() - interval '2 days'
        where tenant = ${tenant} and session <> 'young'`,
    );
    expect((await prune({ sessions: 20 })).sessions).toBe(1);
    expect(await agentSessions.list(tenant, { limit: 9 })).toMatchObject([{ session: 's30' }]);
    const left = await database.repeat(
      (sql) => sql<{ session: string }[]>`
        select session from runnel.agent_turn_logs where tenant = ${tenant} order by session`,
    );
    expect(left.map(({ session }) => session)).toEqual(['s30', 'young']);
  });

  it('deletes files with their bytes, and bytes that no file has', async () => {
    const tenant = newTenant();
    const file = (id: string, createdAt: number) => ({
      id,
      name: id,
      mimeType: 'x',
      bytes: Uint8Array.of(1),
      createdAt,
    });
    await stores.files.save(tenant, file('old', 10));
    await stores.files.save(tenant, file('young', 30));
    const [part] = await readdir(path.join(folder, 'files'));
    const [stray, fresh] = ['stray', 'fresh'].map((name) => path.join(folder, 'files', part as string, name)) as [
      string,
      string,
    ];
    await writeFile(stray, 'left by a crash');
    await utimes(stray, 1, 1);
    await writeFile(fresh, 'being saved');
    expect(await prune({ files: 20 })).toMatchObject({ files: 1 });
    expect(await stores.files.find(tenant, 'old')).toBeUndefined();
    expect(await stores.files.find(tenant, 'young')).toMatchObject({ id: 'young' });
    const left = await readdir(path.join(folder, 'files'), { recursive: true });
    expect(left.filter((name) => name.includes('/'))).toHaveLength(2);
  });

  it('leaves files that are kept, however old', async () => {
    const tenant = newTenant();
    const file = { name: 'f', mimeType: 'x', bytes: Uint8Array.of(1), createdAt: 10 };
    await stores.files.save(tenant, { ...file, id: 'document', isKept: true });
    expect(await prune({ files: 20 })).toMatchObject({ files: 0 });
    expect(await stores.files.find(tenant, 'document')).toMatchObject({ isKept: true });
  });

  it('deletes files that have expired, however young', async () => {
    const tenant = newTenant();
    const file = { name: 'f', mimeType: 'x', bytes: Uint8Array.of(1), createdAt: Date.now() };
    await stores.files.save(tenant, { ...file, id: 'expired', expiresAt: Date.now() - 1 });
    await stores.files.save(tenant, { ...file, id: 'kept for now', expiresAt: Date.now() + 60_000 });
    await stores.files.save(tenant, { ...file, id: 'kept' });
    expect(await prune({})).toMatchObject({ files: 1 });
    expect(await stores.files.find(tenant, 'kept for now')).toMatchObject({ name: 'f' });
    expect(await stores.files.find(tenant, 'kept')).toMatchObject({ name: 'f' });
  });

  it('deletes nothing that it is not told to', async () => {
    const tenant = newTenant();
    const agent = await newAgent(tenant);
    const run = runRecord(agent, { status: 'succeeded', finishedAt: 1 });
    await stores.runs.save(tenant, run);
    expect(await prune({})).toMatchObject({ runs: 0, logs: 0, sessions: 0, files: 0 });
    expect(await stores.runs.find(tenant, run.id)).toEqual(run);
  });
});
