import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { prepareDatabase } from '../../../scripts/prepare-database.js';
import type { PostgresStores } from '../../../src/stores/postgres/stores.js';
import { openEmbedded } from '../support/open-stores.js';
import { agentRecord, checkpoint, events, newTenant, runRecord } from '../support/records.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const MANY = { maxEvents: 100_000, maxBytes: 100_000_000 };
const RUNS = ['run-1', 'run-2', 'run-3'];

describe('the embedded database', () => {
  it('has everything that was acknowledged before its server was killed, however often', async () => {
    const dataDir = await temporaryFolder();
    const image = await prepareDatabase();
    for (const wanted of [1, 40, 200]) {
      const tenant = newTenant();
      const child = startWriter([dataDir, image, tenant, RUNS.join(',')]);
      const acknowledged = await killAfter(child, wanted);
      const stores = await openEmbedded(dataDir);
      for (const run of RUNS) await expectWhole(stores, tenant, run, acknowledged.get(run) ?? 0);
      await stores.close();
    }
  });

  it('is started again when it is killed, and whoever was writing does not notice', async () => {
    const dataDir = await temporaryFolder();
    const stores = await openEmbedded(dataDir);
    const tenant = newTenant();
    const agent = agentRecord();
    await stores.agents.insert(tenant, agent);
    const run = runRecord(agent.id);
    await stores.runs.save(tenant, run);
    const killed = new Set<number>();
    for (let seq = 1; seq <= 60; seq += 1) {
      const writing = stores.log.append(tenant, run.id, {
        events: events(seq, seq),
        snapshot: checkpoint(run.id, seq),
      });
      const { pid } = stores.database;
      if (seq % 20 === 0 && pid !== undefined) {
        process.kill(pid, 'SIGKILL');
        killed.add(pid);
      }
      await writing;
    }
    expect(killed.size).toBe(3);
    await expectWhole(stores, tenant, run.id, 60);
    await stores.close();
  });
});

function startWriter(args: readonly string[]): ChildProcess {
  const file = fileURLToPath(new URL('./support/writer.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', file, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** Kills after so many acknowledgements; gives the last one of every run. */
async function killAfter(child: ChildProcess, count: number): Promise<ReadonlyMap<string, number>> {
  const acknowledged = new Map<string, number>();
  const exit = once(child, 'exit');
  let seen = 0;
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    const [run, seq] = line.split(' ') as [string, string];
    acknowledged.set(run, Number(seq));
    seen += 1;
    if (seen === count) child.kill('SIGKILL');
  }
  await exit;
  expect(seen).toBeGreaterThanOrEqual(count);
  return acknowledged;
}

/** At least what was acknowledged, without gaps, and with the last event its snapshot. */
async function expectWhole(stores: PostgresStores, tenant: string, run: string, least: number): Promise<void> {
  const kept = (await stores.log.read(tenant, run, 0, MANY)) ?? [];
  expect(kept).toEqual(events(1, kept.length));
  expect(kept.length).toBeGreaterThanOrEqual(least);
  expect((await stores.log.snapshot(tenant, run))?.seq).toBe(kept.at(-1)?.seq);
}
