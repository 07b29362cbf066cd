import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { concatMap, filter, firstValueFrom, startWith } from 'rxjs';
import { expect, it, onTestFinished } from 'vitest';
import { prepareDatabase } from '../../scripts/prepare-database.js';
import { runIngestions } from '../../src/ingestion/run-ingestions.js';
import { createKnowledgeBase } from '../../src/knowledge/base/knowledge-base.js';
import { sized } from '../durable/support/size.js';
import { createFakeIndexes } from '../knowledge/base/support/fake-indexes.js';
import { openEmbedded } from '../stores/support/open-stores.js';
import { temporaryFolder } from '../stores/support/temporary-folder.js';
import { createRandom } from '../support/random.js';
import { MANY, textOf } from './support/texts.js';

/** Runs a process that parses, and kills it with its progress line of this number; whether it was still at work. */
async function killAt(line: number, args: readonly string[]): Promise<boolean> {
  const file = fileURLToPath(new URL('./support/ingester.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', file, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exit = once(child, 'exit');
  let [seen, isDone] = [0, false];
  for await (const text of createInterface({ input: child.stdout })) {
    seen += 1;
    isDone ||= text.startsWith('DONE');
    if (seen === line || isDone) child.kill('SIGKILL');
  }
  await exit;
  return !isDone;
}

/** Processes that are killed in a row; `npm run test:faults` has 20. */
const KILLS = sized(20, 4);

it(`${KILLS} kills in a row lose no document and no chunk`, { timeout: 300_000 + 10_000 * KILLS }, async () => {
  const dataDir = await temporaryFolder();
  const args = [dataDir, await prepareDatabase(), 'many'];
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000_000);
  const random = createRandom(seed);
  let kills = 0;
  for (let process = 0; process < KILLS; process += 1) {
    // Late enough that mostly a step of each document is finished.
    if (await killAt(8 + random.int(24), args)) kills += 1;
  }
  expect(kills, `SEED=${seed}`).toBeGreaterThan(1);
  const stores = await openEmbedded(dataDir);
  onTestFinished(() => stores.close());
  const store = await stores.openKnowledge();
  const base = createKnowledgeBase({ store, files: stores.files, indexes: createFakeIndexes() });
  const query = { offset: 0, limit: MANY, orderBy: 'name', descending: false } as const;
  const waiting = async () => (await store.listDocuments('t', { ...query, runs: ['RUNNING'] })).total > 0;
  // With one subscription: what is unsubscribed while it ends may still store its end, and tells nothing.
  const finish = () =>
    firstValueFrom(
      runIngestions({ parts: base.parts }).pipe(
        filter(({ run }) => run !== 'RUNNING'),
        startWith(undefined),
        concatMap(waiting),
        filter((isWaiting) => !isWaiting),
      ),
    );
  await finish();
  // On a slow machine three processes may be lost on a document before a step of it is finished; it says so, and is parsed when it is asked for.
  const { items: failed } = await store.listDocuments('t', { ...query, runs: ['FAIL'] });
  for (const { id, datasetId, progressMsg } of failed) {
    expect(progressMsg).toContain('3 processes were lost');
    await base.documents.parse('t', datasetId, [id]);
  }
  await finish();
  const { items } = await store.listDocuments('t', query);
  expect(
    items.map(({ run }) => run),
    `SEED=${seed}`,
  ).toEqual(new Array(MANY).fill('DONE'));
  for (const { id, name, chunkCount } of items) {
    const chunks = await store.chunksAfter('t', id, undefined, 500);
    expect(chunks.map(({ text }) => text).join('\n')).toBe(textOf(name, 120));
    expect(chunks).toHaveLength(chunkCount);
  }
});

it('a document has every chunk once, however often its process was killed', { timeout: 300_000 }, async () => {
  const dataDir = await temporaryFolder();
  const args = [dataDir, await prepareDatabase()];
  const killed = [await killAt(2, args), await killAt(5, args), await killAt(9, args)];
  expect(killed[0]).toBe(true);

  const stores = await openEmbedded(dataDir);
  onTestFinished(() => stores.close());
  const store = await stores.openKnowledge();
  const base = createKnowledgeBase({ store, files: stores.files, indexes: createFakeIndexes() });
  const query = { offset: 0, limit: 10, orderBy: 'name', descending: false } as const;
  const running = async () => (await store.listDocuments('t', { ...query, runs: ['RUNNING'] })).total > 0;
  if (await running()) {
    await firstValueFrom(runIngestions({ parts: base.parts }).pipe(filter(({ run }) => run !== 'RUNNING')));
  }
  const [document] = (await store.listDocuments('t', query)).items;
  expect(document).toMatchObject({ run: 'DONE', name: 'long.txt' });
  const texts: string[] = [];
  for (let last: { index: number; id: string } | undefined; ; ) {
    const chunks = await store.chunksAfter('t', document?.id as string, last, 500);
    last = chunks.at(-1);
    if (last === undefined) break;
    texts.push(...chunks.map(({ text }) => text));
  }
  expect(texts.join('\n')).toBe(Array.from({ length: 2_000 }, (_, at) => `Sentence ${at} of them.`).join('\n'));
  expect(texts).toHaveLength(document?.chunkCount as number);
});
