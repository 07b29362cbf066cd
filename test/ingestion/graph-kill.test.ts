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
import { type AskedInBuild, GRAPH_TEXTS, pairOf, writingModel } from './support/graph-texts.js';

/** Processes that are killed in a row; `npm run test:faults` has 20. */
const KILLS = sized(20, 3);
const BUILDER = fileURLToPath(new URL('./support/graph-builder.ts', import.meta.url));

/** What a build says of the parts in which a model works, and lines of each that are told at least. */
const PARTS = [
  ['reads chunks: model', 40],
  ['describes entities', 6],
  ['writes reports on communities', 4],
] as const;

/** Runs a process that builds, and kills it with a line of this text, of these the one of a number; whether it was still at work. */
async function killAt(text: string, line: number, args: readonly string[]): Promise<boolean> {
  const child = spawn(process.execPath, ['--import', 'tsx', BUILDER, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exit = once(child, 'exit');
  let [seen, isDone] = [0, false];
  for await (const told of createInterface({ input: child.stdout })) {
    if (told === text) seen += 1;
    isDone ||= told === 'DONE';
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
  const builds = createGraphBuilds({
    parts: kit.base.parts,
    graphs: kit.base.graphs,
    chat: () => writingModel(() => {}),
  });
  const built = firstValueFrom(builds.run().pipe(filter(({ progress }) => progress.finishedAt !== null)));
  await builds.start(TENANT, dataset, buildRequestSchema.parse({ layers: ['links', 'rules', 'model'] }));
  await built;
  return graphOf(kit.base, TENANT, dataset);
}

type Store = Awaited<ReturnType<Awaited<ReturnType<typeof openEmbedded>>['openKnowledge']>>;

/** What the calls of a build were about whose answers are stored, by the call. */
async function settledIn(store: Store, dataset: string): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const notes = async (kind: string) =>
    (await store.listNotes('t', dataset, kind, undefined, 500)).map(({ value }) => value);
  const wanted = { layer: 'model', version: '1 reader' };
  const { chunks: unread } = await store.chunksWithoutContribution('t', dataset, wanted, undefined, 500);
  const left = new Set(unread.map(({ text }) => text));
  const reports = (await notes('report')) as unknown as readonly {
    readonly report: { readonly title: string } | null;
  }[];
  return new Map([
    ['graph_extract', new Set(GRAPH_TEXTS.flatMap(([, text]) => (left.has(text) ? [] : [text])))],
    ['graph_same', new Set((await notes('asked')).map(({ names }) => pairOf(names as unknown as string[])))],
    ['graph_summarise', new Set((await notes('description')).map(({ name }) => String(name)))],
    ['community_report', new Set(reports.flatMap(({ report }) => report?.title ?? []))],
  ]);
}

it(`a graph is the same behind ${KILLS} kills in its build, and nothing that a model has answered is asked again`, {
  timeout: 300_000 + 20_000 * KILLS,
}, async () => {
  const dataDir = await temporaryFolder();
  const file = path.join(dataDir, 'asked.jsonl');
  const asked = async (): Promise<AskedInBuild[]> => {
    const lines = existsSync(file) ? (await readFile(file, 'utf8')).trim().split('\n') : [];
    return lines.map((line) => JSON.parse(line) as AskedInBuild);
  };
  const args = [dataDir, await prepareDatabase(), file];
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000_000);
  const random = createRandom(seed);
  let settled: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  let isAtWork = true;
  for (let kill = 0; isAtWork; kill += 1) {
    const before = (await asked()).length;
    // One part after the other is killed at; each line but the first is an answer that is stored.
    const [part, lines] = PARTS[Math.floor((PARTS.length * kill) / KILLS)] ?? ['DONE', 0];
    isAtWork = await killAt(part, 2 + random.int(Math.ceil((PARTS.length * lines) / KILLS)), args);
    const added = (await asked()).slice(before);
    for (const { call, about } of added)
      for (const one of about) expect([...(settled.get(call) ?? [])], `SEED=${seed}, ${call}`).not.toContain(one);
    const stores = await openEmbedded(dataDir);
    const store = await stores.openKnowledge();
    const [found] = (await store.listDatasets('t', { offset: 0, limit: 1, orderBy: 'name', descending: false })).items;
    settled = await settledIn(store, found?.dataset.id ?? '');
    await stores.close();
  }
  const all = await asked();
  for (const [call, answered] of settled) {
    const about = all.flatMap((one) => (one.call === call ? one.about : []));
    expect(new Set(about), `SEED=${seed}, ${call}`).toEqual(answered);
    expect(answered.size).toBeGreaterThan(0);
    // Four are asked at a time, so a kill makes four again at most.
    expect(about.length, `SEED=${seed}`).toBeLessThanOrEqual(answered.size + 4 * KILLS);
  }

  const stores = await openEmbedded(dataDir);
  onTestFinished(() => stores.close());
  const store = await stores.openKnowledge();
  const base = createKnowledgeBase({ store, files: stores.files, indexes: createFakeIndexes(), graphs: 'here' });
  const { dataset } = (await base.datasets.findByName('t', 'stars')) ?? {};
  expect(await graphOf(base, 't', dataset?.id ?? ''), `SEED=${seed}`).toEqual(await undisturbed());
});
