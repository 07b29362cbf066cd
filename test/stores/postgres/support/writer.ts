/**
 * A server that writes until it is killed: `writer.ts <data folder> <image> <tenant> <runs>`. It prints `<run> <number>` for every batch
 * that was acknowledged, one per line.
 */
import { openPostgresStores } from '../../../../src/stores/postgres/stores.js';
import { agentRecord, checkpoint, events, runRecord } from '../../support/records.js';
import { createLog } from '../../support/test-log.js';

const [dataDir, image, tenant, runs] = process.argv.slice(2) as [string, string, string, string];

const stores = await openPostgresStores({ dataDir, image, log: createLog() });
const agent = agentRecord();
await stores.agents.insert(tenant, agent);
for (const run of runs.split(',')) {
  await stores.runs.save(tenant, runRecord(agent.id, { id: run }));
  void write(run);
}

async function write(run: string): Promise<void> {
  for (let seq = 1; ; seq += 1) {
    await stores.log.append(tenant, run, { events: events(seq, seq), snapshot: checkpoint(run, seq) });
    process.stdout.write(`${run} ${seq}\n`);
  }
}
