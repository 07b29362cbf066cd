/**
 * What runs feel of documents that are parsed beside them, with the embedded database: `npm run bench -- ingestion`.
 *
 * A run writes its log as the server does, in the process that parses, with the flag of V8 that the program sets. How long the database is held is seen from
 * a thread of its own, whose smallest question waits for all that comes before it, an upper bound. Processor time of the threads that are waited for says
 * the same without what other programs of the machine take.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
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
import { mainThreadMs } from './processor-time.js';
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
  try {
    const base = await openBase(stores);
    const write = await openWriter(stores, embedded.pid() ?? 0);
    // What is loaded once, and the first statements of each kind.
    await ingested(base, documents(0, 2));
    await during(
      asker,
      write(() => pause(1_000)),
    );
    const { asked: _, ...before } = await during(
      asker,
      write(() => pause(ALONE_MS)),
    );
    const files = documents(2, DOCUMENTS);
    const beside = await during(
      asker,
      write(() => ingested(base, files)),
    );
    const behind = await during(
      asker,
      write(() => pause(ALONE_MS)),
    );
    const alone = [...before.written, ...behind.written];
    const p99 = (all: readonly Wait[], of: keyof Wait) =>
      quantile(
        all.map((one) => one[of]),
        0.99,
      );
    const row = (name: string, value: number, bar?: number): Row => ({ name, value, unit: 'ms', ...(bar && { bar }) });
    const written = "a run's log write";
    const rows = (['waitedMs', 'workedMs'] as const).flatMap((of): Row[] => {
      const what = of === 'waitedMs' ? 'time' : 'processor time of the process and its database meanwhile';
      const ratio = p99(beside.written, of) / p99(alone, of);
      return [
        row(`${written}, alone, 99th: ${what}`, p99(alone, of)),
        row(`${written}, beside ingestion, 99th: ${what}`, p99(beside.written, of)),
        { name: `${written}, beside ingestion against alone, 99th: ${what}`, value: ratio, unit: 'x', bar: 2 },
      ];
    });
    return [
      ...rows,
      row('longest wait for the database, alone', Math.max(...behind.asked.map(({ waitedMs }) => waitedMs))),
      row('longest wait for the database, beside ingestion', Math.max(...beside.asked.map(({ waitedMs }) => waitedMs))),
      row(
        'longest hold of the database beside ingestion, processor time',
        Math.max(...beside.asked.map(({ workedMs }) => workedMs)),
        50,
      ),
      row('hold of the database beside ingestion, 99th, processor time', p99(beside.asked, 'workedMs')),
      {
        name: 'ingestion meanwhile',
        value: ((DOCUMENTS - 2) * PASSAGES) / beside.seconds,
        unit: 'passages/s',
        isRate: true,
      },
    ];
  } finally {
    await asker.terminate();
    await stores.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function openBase(stores: PostgresStores) {
  const [store, storage] = [await stores.openKnowledge(), await stores.openIndexStorage()];
  const threads = createThreadPool();
  const base = createKnowledgeBase({
    ...{ store, files: stores.files, hub: createIngestionHub(), indexes: createSearchIndexes({ storage, threads }) },
  });
  const { dataset } = await base.datasets.create(TENANT, { name: 'docs' });
  return { base, datasetId: dataset.id, threads };
}

/** The bytes of the documents of these numbers; making them takes longer than anything that a server does with them in one piece. */
function documents(from: number, to: number): readonly Uint8Array[] {
  return Array.from({ length: to - from }, (_, at) => new TextEncoder().encode(documentText(from + at, PASSAGES)));
}

/** Parses documents, as a server does. */
async function ingested(
  { base, datasetId, threads }: Awaited<ReturnType<typeof openBase>>,
  files: readonly Uint8Array[],
): Promise<void> {
  const ids: string[] = [];
  for (const [at, content] of files.entries()) {
    const name = `${files.length}-${at}.txt`;
    ids.push((await base.documents.add(TENANT, datasetId, { name, content: [content] })).document.id);
  }
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

/** What one question or one write has waited, and how much the processes that it waits for have worked meanwhile. */
interface Wait {
  readonly waitedMs: number;
  readonly workedMs: number;
}

/** What a thread begins with that runs TypeScript: what starts the threads of the build does not. */
function entryOf(file: string): URL {
  const url = JSON.stringify(new URL(file, import.meta.url));
  const start = `import { register } from 'node:module'; register('tsx/esm', ${url}, { data: {} }); await import(${url});`;
  return new URL(`data:text/javascript,${encodeURIComponent(start)}`);
}

/** What was asked and written during some work. */
async function during(asker: Worker, work: () => Promise<readonly Wait[]>) {
  await waitsOf(asker);
  const startedAt = performance.now();
  const written = await work();
  return { written, seconds: (performance.now() - startedAt) / 1_000, asked: await waitsOf(asker) };
}

/** A run that writes an event of its log every few milliseconds, as long as some work takes. */
async function openWriter({ agents, sessions, runs, log }: PostgresStores, databasePid: number) {
  const record = runRecord();
  await agents.insert(TENANT, agentRecord({ id: record.agentId }));
  await sessions.insert(TENANT, sessionRecord(record.agentId, { id: record.sessionId }));
  await runs.insert(TENANT, record);
  const workedMs = (): number => mainThreadMs(process.pid) + mainThreadMs(databasePid);
  let seq = 0;
  return (work: () => Promise<unknown>) => async (): Promise<readonly Wait[]> => {
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
