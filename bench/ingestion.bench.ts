/**
 * What runs feel of documents that are parsed beside them, with the embedded database: `npm run bench -- ingestion`.
 *
 * A run writes its log as the server does, in the process that parses. How long the database is held is seen from a thread of its own, whose smallest
 * question waits for all that comes before it: an upper bound, which holds the wait for a processor, too.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { prepareDatabase } from '../scripts/prepare-database.js';
import { runIngestions } from '../src/ingestion/run-ingestions.js';
import { createIngestionHub } from '../src/knowledge/base/ingestion-hub.js';
import { createKnowledgeBase } from '../src/knowledge/base/knowledge-base.js';
import { createSearchIndexes } from '../src/knowledge/base/search-indexes.js';
import { SILENT_LOG } from '../src/logger.js';
import { startEmbedded } from '../src/stores/postgres/embedded/start-embedded.js';
import { openPostgresStores, type PostgresStores } from '../src/stores/postgres/stores.js';
import { createThreadPool } from '../src/threads/thread-pool.js';
import { runRecord } from '../test/stores/redis/support/records.js';
import { agentRecord, sessionRecord } from '../test/stores/support/records.js';
import { quantile, type Row } from './measure.js';
import { documentText } from './texts.js';

const TENANT = 't';
const DOCUMENTS = 24;
const PASSAGES = 100;
/** Milliseconds of writes without ingestion, before it and behind it. */
const ALONE_MS = 6_000;
/** A run writes so often, and the thread asks so often. */
const EVERY_MS = 5;

/** Measures one process with its database; takes about half a minute. */
export async function benchIngestion(): Promise<readonly Row[]> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'runnel-bench-'));
  const embedded = await startEmbedded({
    folder: path.join(dataDir, 'db'),
    image: await prepareDatabase(),
    log: SILENT_LOG,
  });
  const stores = await openPostgresStores({ dataDir, log: SILENT_LOG, embedded: Promise.resolve(embedded) });
  const asker = new Worker(fileURLToPath(new URL('./ask-database.mjs', import.meta.url)), {
    workerData: { path: embedded.path, everyMs: EVERY_MS },
  });
  try {
    const base = await openBase(stores);
    const write = await openWriter(stores);
    // What is loaded once, and the first statements of each kind.
    await ingested(base, 0, 2);
    await write.during(pause(1_000));
    const alone = [...(await write.during(pause(ALONE_MS)))];
    const freeWaits = await waitsOf(asker);
    const startedAt = performance.now();
    const beside = await write.during(ingested(base, 2, DOCUMENTS));
    const seconds = (performance.now() - startedAt) / 1_000;
    const waits = await waitsOf(asker);
    alone.push(...(await write.during(pause(ALONE_MS))));
    const name = "a run's log write";
    return [
      { name: `${name}, alone: median`, value: quantile(alone, 0.5), unit: 'ms' },
      { name: `${name}, alone: 99th`, value: quantile(alone, 0.99), unit: 'ms' },
      { name: `${name}, beside ingestion: median`, value: quantile(beside, 0.5), unit: 'ms' },
      { name: `${name}, beside ingestion: 99th`, value: quantile(beside, 0.99), unit: 'ms' },
      {
        name: `${name}, beside ingestion against alone: 99th`,
        value: quantile(beside, 0.99) / quantile(alone, 0.99),
        unit: 'x',
        bar: 2,
      },
      { name: 'longest wait for the database, alone', value: Math.max(...freeWaits), unit: 'ms' },
      { name: 'longest wait for the database, beside ingestion', value: Math.max(...waits), unit: 'ms', bar: 50 },
      { name: 'wait for the database, beside ingestion: 99th', value: quantile(waits, 0.99), unit: 'ms' },
      { name: 'ingestion meanwhile', value: ((DOCUMENTS - 2) * PASSAGES) / seconds, unit: 'passages/s', isRate: true },
    ];
  } finally {
    await asker.terminate();
    await stores.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function openBase(stores: PostgresStores) {
  const [store, storage] = [await stores.openKnowledge(), await stores.openIndexStorage()];
  const base = createKnowledgeBase({
    ...{ store, files: stores.files, hub: createIngestionHub(), indexes: createSearchIndexes({ storage }) },
  });
  const { dataset } = await base.datasets.create(TENANT, { name: 'docs' });
  return { base, datasetId: dataset.id };
}

/** Parses the documents of these numbers, as a server does. */
async function ingested({ base, datasetId }: Awaited<ReturnType<typeof openBase>>, from: number, to: number) {
  const ids: string[] = [];
  for (let at = from; at < to; at += 1) {
    const content = [new TextEncoder().encode(documentText(at, PASSAGES))];
    ids.push((await base.documents.add(TENANT, datasetId, { name: `${at}.txt`, content })).document.id);
  }
  await base.documents.parse(TENANT, datasetId, ids);
  const left = new Set(ids);
  const threads = createThreadPool();
  await new Promise<void>((resolve, reject) => {
    const work = runIngestions({ parts: base.parts, threads }).subscribe({
      next: ({ run, documentId, message }) => {
        if (run === 'FAIL') reject(new Error(message));
        if (run !== 'DONE' || !left.delete(documentId) || left.size > 0) return;
        work.unsubscribe();
        resolve();
      },
      error: reject,
    });
  });
  await base.parts.indexes.settled();
  await threads.close();
}

/** A run that writes an event of its log every few milliseconds. */
async function openWriter({ agents, sessions, runs, log }: PostgresStores) {
  const record = runRecord();
  await agents.insert(TENANT, agentRecord({ id: record.agentId }));
  await sessions.insert(TENANT, sessionRecord(record.agentId, { id: record.sessionId }));
  await runs.insert(TENANT, record);
  let seq = 0;
  return {
    /** Milliseconds of each write until the work is over. */
    async during(work: Promise<unknown>): Promise<readonly number[]> {
      const taken: number[] = [];
      let isOver = false;
      void work.finally(() => {
        isOver = true;
      });
      while (!isOver) {
        seq += 1;
        const json = JSON.stringify({
          type: 'node-delta',
          seq,
          node: 'chat_0',
          port: 'content',
          text: 'word '.repeat(20),
        });
        const startedAt = performance.now();
        await log.append(TENANT, record.id, { events: [{ seq, event: 'node-delta', json }] });
        taken.push(performance.now() - startedAt);
        await pause(EVERY_MS);
      }
      await work;
      return taken;
    },
  };
}

/** Milliseconds that each question of the thread has waited since this was asked for the last time. */
function waitsOf(asker: Worker): Promise<readonly number[]> {
  return new Promise((resolve, reject) => {
    asker.once('message', resolve).once('error', reject);
    asker.postMessage('waits');
  });
}
