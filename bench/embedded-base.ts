/** A knowledge base over an embedded database, as a server has it, and what a run beside it feels. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { prepareDatabase } from '../scripts/prepare-database.js';
import { runIngestions } from '../src/ingestion/run-ingestions.js';
import { chunkIds, passageOf } from '../src/knowledge/base/chunk-ids.js';
import { createIngestionHub } from '../src/knowledge/base/ingestion-hub.js';
import { createKnowledgeBase, type KnowledgeBase } from '../src/knowledge/base/knowledge-base.js';
import { createSearchIndexes } from '../src/knowledge/base/search-indexes.js';
import { SILENT_LOG } from '../src/logger.js';
import { startEmbedded } from '../src/stores/postgres/embedded/start-embedded.js';
import { openPostgresStores, type PostgresStores } from '../src/stores/postgres/stores.js';
import { createThreadPool, type ThreadPool } from '../src/threads/thread-pool.js';
import { runRecord } from '../test/stores/redis/support/records.js';
import { chunkRecord, documentRecord } from '../test/stores/support/knowledge-records.js';
import { agentRecord, sessionRecord } from '../test/stores/support/records.js';
import { quantile, type Row } from './measure.js';
import { mainThreadMs } from './processor-time.js';

/** A document to be parsed. */
export interface BenchDocument {
  readonly name: string;
  readonly content: Uint8Array;
}

/** What one question or one write has waited, and how much the processes that it waits for have worked meanwhile. */
export interface Wait {
  readonly waitedMs: number;
  readonly workedMs: number;
}

/** What a run and a thread felt of some work. */
export interface Felt {
  /** The writes of the run's log. */
  readonly written: readonly Wait[];
  /** The smallest questions that the thread asked the database. */
  readonly asked: readonly Wait[];
  readonly seconds: number;
}

/** An open knowledge base with a run beside it. */
export interface EmbeddedBase {
  readonly base: KnowledgeBase;
  readonly threads: ThreadPool;
  readonly tenant: string;
  readonly datasetId: string;
  /** Stores documents that are parsed already, a passage each. */
  fill(documents: readonly BenchDocument[]): Promise<void>;
  /** Parses documents, as a server does. */
  ingest(documents: readonly BenchDocument[]): Promise<void>;
  /** What is felt of some work, or of as many milliseconds without any. */
  during(work: (() => Promise<unknown>) | number): Promise<Felt>;
  close(): Promise<void>;
}

const TENANT = 't';
/** Documents that are stored and indexed at once. */
const FILLED_AT_ONCE = 500;
/** A run writes so often, and the thread asks so often, in milliseconds. */
const EVERY_MS = 5;

/** Opens it in a folder of its own. */
export async function openEmbeddedBase(): Promise<EmbeddedBase> {
  setFlagsFromString('--no-allocation-site-pretenuring');
  const dataDir = await mkdtemp(path.join(tmpdir(), 'runnel-bench-'));
  const embedded = await startEmbedded({
    folder: path.join(dataDir, 'db'),
    image: await prepareDatabase(),
    log: SILENT_LOG,
  });
  const stores = await openPostgresStores({ dataDir, log: SILENT_LOG, embedded: Promise.resolve(embedded) });
  const asker = new Worker(entryOf('./ask-database.ts'), {
    workerData: { path: embedded.path, pid: embedded.pid(), everyMs: EVERY_MS },
    execArgv: [],
  });
  const [store, storage] = [await stores.openKnowledge(), await stores.openIndexStorage()];
  const threads = createThreadPool();
  const base = createKnowledgeBase({
    ...{ store, files: stores.files, hub: createIngestionHub(), indexes: createSearchIndexes({ storage, threads }) },
  });
  const { dataset } = await base.datasets.create(TENANT, { name: 'docs' });
  const write = await openWriter(stores, embedded.pid() ?? 0);
  return {
    ...{ base, threads, tenant: TENANT, datasetId: dataset.id },
    fill: (documents) => filled(base, dataset.id, documents),
    ingest: (documents) => ingested({ base, datasetId: dataset.id, threads }, documents),
    async during(work) {
      await waitsOf(asker);
      const startedAt = performance.now();
      const written = await write(typeof work === 'number' ? () => pause(work) : work);
      return { written, seconds: (performance.now() - startedAt) / 1_000, asked: await waitsOf(asker) };
    },
    async close() {
      await base.graphs.close();
      await asker.terminate();
      await stores.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** The bars of the design: log writes at most twice as slow at the 99th, the database held for 50 ms at most. */
export function feltRows(beside: Felt, alone: readonly Wait[], work: string): Row[] {
  const row = (name: string, value: number, bar?: number): Row => ({ name, value, unit: 'ms', ...(bar && { bar }) });
  const written = "a run's log write";
  const rows = (['waitedMs', 'workedMs'] as const).flatMap((of): Row[] => {
    const what = of === 'waitedMs' ? 'time' : 'processor time of the process and its database meanwhile';
    const ratio = p99(beside.written, of) / p99(alone, of);
    return [
      row(`${written}, alone, 99th: ${what}`, p99(alone, of)),
      row(`${written}, beside ${work}, 99th: ${what}`, p99(beside.written, of)),
      { name: `${written}, beside ${work} against alone, 99th: ${what}`, value: ratio, unit: 'x', bar: 2 },
    ];
  });
  const held = Math.max(...beside.asked.map(({ workedMs }) => workedMs));
  return [
    ...rows,
    row(`longest wait for the database, beside ${work}`, Math.max(...beside.asked.map(({ waitedMs }) => waitedMs))),
    row(`longest hold of the database beside ${work}, processor time`, held, 50),
    row(`hold of the database beside ${work}, 99th, processor time`, p99(beside.asked, 'workedMs')),
  ];
}

function p99(all: readonly Wait[], of: keyof Wait): number {
  return quantile(
    all.map((one) => one[of]),
    0.99,
  );
}

async function filled({ parts }: KnowledgeBase, datasetId: string, documents: readonly BenchDocument[]): Promise<void> {
  const { store, indexes } = parts;
  const index = indexes.open(TENANT, datasetId);
  for (let from = 0; from < documents.length; from += FILLED_AT_ONCE) {
    const some = documents.slice(from, from + FILLED_AT_ONCE).map(({ name, content }) => {
      const id = randomUUID().replaceAll('-', '');
      const text = new TextDecoder().decode(content);
      const record = documentRecord(datasetId, { id, name, run: 'DONE', progress: 1, attempt: 1 });
      return { record, chunk: chunkRecord(record, 0, { id: chunkIds(id)(text), text }) };
    });
    await store.insertDocuments(
      TENANT,
      some.map(({ record }) => record),
    );
    for (const { record, chunk } of some) await store.putChunks(TENANT, record.id, 1, [chunk]);
    await index.add(some.map(({ record, chunk }) => passageOf(record, chunk)));
    for (const { record, chunk } of some) await store.markIndexed(TENANT, record.id, [chunk]);
  }
  await indexes.settled();
}

async function ingested(
  { base, datasetId, threads }: Pick<EmbeddedBase, 'base' | 'datasetId' | 'threads'>,
  documents: readonly BenchDocument[],
): Promise<void> {
  const ids: string[] = [];
  for (const { name, content } of documents)
    ids.push((await base.documents.add(TENANT, datasetId, { name, content: [content] })).document.id);
  await base.documents.parse(TENANT, datasetId, ids);
  const left = new Set(ids);
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
}

/** What a thread begins with that runs TypeScript: what starts the threads of the build does not. */
function entryOf(file: string): URL {
  const url = JSON.stringify(new URL(file, import.meta.url));
  const start = `import { register } from 'node:module'; register('tsx/esm', ${url}, { data: {} }); await import(${url});`;
  return new URL(`data:text/javascript,${encodeURIComponent(start)}`);
}

/** A run that writes an event of its log every few milliseconds, as long as some work takes. */
async function openWriter({ agents, sessions, runs, log }: PostgresStores, databasePid: number) {
  const record = runRecord();
  await agents.insert(TENANT, agentRecord({ id: record.agentId }));
  await sessions.insert(TENANT, sessionRecord(record.agentId, { id: record.sessionId }));
  await runs.insert(TENANT, record);
  const workedMs = (): number => mainThreadMs(process.pid) + mainThreadMs(databasePid);
  let seq = 0;
  return async (work: () => Promise<unknown>): Promise<readonly Wait[]> => {
    const waits: Wait[] = [];
    let isOver = false;
    const over = work().finally(() => {
      isOver = true;
    });
    while (!isOver) {
      seq += 1;
      const text = 'word '.repeat(20);
      const json = JSON.stringify({ type: 'node-delta', seq, node: 'chat_0', port: 'content', text });
      const [startedAt, worked] = [performance.now(), workedMs()];
      await log.append(TENANT, record.id, { events: [{ seq, event: 'node-delta', json }] });
      waits.push({ waitedMs: performance.now() - startedAt, workedMs: workedMs() - worked });
      await pause(EVERY_MS);
    }
    await over;
    return waits;
  };
}

/** What the thread has seen since this was asked for the last time. */
function waitsOf(asker: Worker): Promise<readonly Wait[]> {
  return new Promise((resolve, reject) => {
    asker.once('message', resolve).once('error', reject);
    asker.postMessage('waits');
  });
}
