import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { filter, firstValueFrom } from 'rxjs';
import { expect, it, onTestFinished } from 'vitest';
import { prepareDatabase } from '../../scripts/prepare-database.js';
import { createGraphBuilds } from '../../src/ingestion/graph/run-builds.js';
import { createKnowledgeBase, type KnowledgeBase } from '../../src/knowledge/base/knowledge-base.js';
import { buildRequestSchema } from '../../src/knowledge/graph/build/build-options.js';
import { sized } from '../durable/support/size.js';
import { createFakeIndexes } from '../knowledge/base/support/fake-indexes.js';
import { newBase, TENANT } from '../knowledge/base/support/new-base.js';
import { openEmbedded } from '../stores/support/open-stores.js';
import { temporaryFolder } from '../stores/support/temporary-folder.js';
import { createRandom } from '../support/random.js';
import { GRAPH_TEXTS, readingModel } from './support/graph-texts.js';

/** Processes that are killed in a row; `npm run test:faults` has 20. */
const KILLS = sized(20, 3);
const BUILDER = fileURLToPath(new URL('./support/graph-builder.ts', import.meta.url));

/** Runs a process that builds, and kills it with its line of this number; whether it was still at work. */
async function killAt(line: number, args: readonly string[]): Promise<boolean> {
  const child = spawn(process.execPath, ['--import', 'tsx', BUILDER, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exit = once(child, 'exit');
  let [seen, isDone] = [0, false];
  for await (const text of createInterface({ input: child.stdout })) {
    seen += 1;
    isDone ||= text === 'DONE';
    if (seen === line || isDone) child.kill('SIGKILL');
  }
  await exit;
  return !isDone;
}

/** What a graph is, without the ids of its chunks. */
async function graphOf(base: KnowledgeBase, tenant: string, datasetId: string) {
  const { nodes, edges, communities } = await base.graphs.ask(tenant, datasetId, { kind: 'show', limit: 500 });
  return { nodes, edges, sizes: communities.map(({ level, size }) => [level, size]) };
}

/** The same graph, built by one process that no one disturbs. */
async function undisturbed() {
  const kit = newBase({ graphs: 'here' });
  kit.start();
  const dataset = await kit.dataset();
  for (const [name, text] of GRAPH_TEXTS) await kit.ingest(dataset, name, text);
  const builds = createGraphBuilds({ parts: kit.base.parts, chat: () => readingModel(() => {}) });
  const built = firstValueFrom(builds.run().pipe(filter(({ progress }) => progress.finishedAt !== null)));
  await builds.start(TENANT, dataset, buildRequestSchema.parse({ layers: ['links', 'rules', 'model'] }));
  await built;
  return graphOf(kit.base, TENANT, dataset);
}

it(`a graph is the same behind ${KILLS} kills in its build, and no finished chunk is read by a model again`, {
  timeout: 300_000 + 20_000 * KILLS,
}, async () => {
  const dataDir = await temporaryFolder();
  const asked = path.join(dataDir, 'asked.jsonl');
  const passages = async (): Promise<string[]> => {
    const lines = existsSync(asked) ? (await readFile(asked, 'utf8')).trim().split('\n') : [];
    return lines.map((line) => JSON.parse(line) as string);
  };
  const args = [dataDir, await prepareDatabase(), asked];
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000_000);
  const random = createRandom(seed);
  let left: ReadonlySet<string> | undefined;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = (await passages()).length;
    // Some reports tell of the layers without a model; the model's come one for each chunk.
    await killAt(4 + random.int(18), args);
    const added = (await passages()).slice(before);
    for (const text of added) if (left !== undefined) expect([...left], `SEED=${seed}`).toContain(text);
    const stores = await openEmbedded(dataDir);
    const store = await stores.openKnowledge();
    const [found] = (await store.listDatasets('t', { offset: 0, limit: 1, orderBy: 'name', descending: false })).items;
    const unread = await store.chunksWithoutContribution(
      ...(['t', found?.dataset.id ?? '', { layer: 'model', version: '1 reader' }, undefined, 500] as const),
    );
    left = new Set(unread.chunks.map(({ text }) => text));
    await stores.close();
  }
  // It is killed at its last line, DONE.
  expect(await killAt(Number.POSITIVE_INFINITY, args)).toBe(false);
  const all = await passages();
  // Four are read at a time, so a kill makes four of them again at most.
  expect(all.length, `SEED=${seed}`).toBeLessThanOrEqual(GRAPH_TEXTS.length + 4 * KILLS);
  expect(new Set(all).size).toBe(GRAPH_TEXTS.length);

  const stores = await openEmbedded(dataDir);
  onTestFinished(() => stores.close());
  const store = await stores.openKnowledge();
  const base = createKnowledgeBase({ store, files: stores.files, indexes: createFakeIndexes(), graphs: 'here' });
  const { dataset } = (await base.datasets.findByName('t', 'stars')) ?? {};
  expect(await graphOf(base, 't', dataset?.id ?? ''), `SEED=${seed}`).toEqual(await undisturbed());
});
