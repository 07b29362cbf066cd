/** `runnel ingest`: files into a dataset, parsed and searchable. */
import path from 'node:path';
import { lastValueFrom, Observable, scan, takeWhile } from 'rxjs';
import { EngineError } from '../errors.js';
import type { IngestionProgress } from '../knowledge/base/ingestion-hub.js';
import type { SyncedFile } from '../knowledge/base/sync-folder.js';
import { didYouMean } from '../nearest-name.js';
import { CHUNK_METHODS, type ChunkMethod, type DatasetRecord } from '../records/knowledge.js';
import { LOCAL_TENANT } from '../settings/access.js';
import { type Command, EXIT, parse } from './command.js';
import type { OpenKnowledge } from './open-knowledge.js';
import { Screen } from './screen.js';
import type { Terminal } from './terminal.js';

export const ingestCommand: Command = {
  usage: 'ingest <file or folder …> --dataset NAME [--method METHOD] [--prune]',
  summary: 'make files searchable as a dataset',
  help: `  <file or folder …> files, and folders with all that is in them but names that begin with a dot
  --dataset NAME     name or id of the dataset; made when there is none of that name
  --method METHOD    how a new dataset cuts its documents: ${CHUNK_METHODS.join(' ')} (naive)
  --prune            deletes documents that came from one of these folders and whose files are gone

Files are told apart by their content: what did not change is not parsed again, and of what did change, chunks with the same text stay.
A call that was interrupted or killed goes on where it was when it is made again. Only one process can use the embedded database: stop the
server first, or upload to it. Ctrl-C stops.
Exit codes: 0 all is searchable, 1 a document failed, 2 bad usage, 130 interrupted.`,
  run,
};

/** Paths of one call; a shell passes about as many. */
const MAX_PATHS = 10_000;

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parse(
    ingestCommand,
    args,
    { dataset: { type: 'string' }, method: { type: 'string' }, prune: { type: 'boolean' } },
    { least: 1, most: MAX_PATHS },
  );
  const name = values.dataset ?? '';
  if (name === '') throw new EngineError('USAGE', `--dataset is missing.\nUsage: runnel ${ingestCommand.usage}`);
  const method = methodOf(values.method);
  const screen = new Screen(terminal);
  const { openCommandKnowledge } = await import('./open-knowledge.js');
  const knowledge = await openCommandKnowledge(terminal, (line) => screen.remark(line));
  try {
    const dataset = await datasetOf(knowledge, name, method);
    const files = await addAll(knowledge, dataset, positionals, { prunes: values.prune === true, terminal, screen });
    const running = new Set(files.flatMap(({ document }) => (document?.run === 'RUNNING' ? [document.id] : [])));
    const failed = await parseAll(knowledge, files, running, { terminal, screen });
    terminal.out.write(`${await summaryOf(knowledge, dataset, files)}\n`);
    return failed === 0 ? EXIT.finished : EXIT.failed;
  } finally {
    screen.end();
    await knowledge.close();
  }
}

interface Shown {
  readonly terminal: Terminal;
  readonly screen: Screen;
}

async function datasetOf({ base }: OpenKnowledge, name: string, chunkMethod: ChunkMethod): Promise<DatasetRecord> {
  const known = await base.datasets.findByName(LOCAL_TENANT, name);
  return (known ?? (await base.datasets.create(LOCAL_TENANT, { name, chunkMethod }))).dataset;
}

/** Brings the dataset to what the paths hold; documents that are to be parsed are RUNNING then. */
async function addAll(
  { base }: OpenKnowledge,
  { id: datasetId }: DatasetRecord,
  paths: readonly string[],
  { prunes, terminal, screen }: Shown & { readonly prunes: boolean },
): Promise<readonly SyncedFile[]> {
  const { syncFolder } = await import('../knowledge/base/sync-folder.js');
  const all: SyncedFile[] = [];
  for (const given of paths) {
    const { files, queued, deleted } = await syncFolder(base, {
      tenant: LOCAL_TENANT,
      datasetId,
      path: path.resolve(given),
      deletesGone: prunes,
      signal: terminal.signal,
      onFile: ({ name, outcome, reason }) => {
        if (outcome === 'skipped') screen.remark(`skipped: ${name}: ${reason}`);
        else screen.status(`${outcome}: ${name}`);
      },
    });
    for (const name of deleted) screen.remark(`deleted: ${name}`);
    const inLine = new Set(queued);
    for (const file of files) {
      const { document } = file;
      const isQueued = document !== undefined && inLine.has(document.id);
      all.push(isQueued ? { ...file, document: { ...document, run: 'RUNNING' } } : file);
    }
  }
  return all;
}

/** Parses what is in line and shows how far it is; gives how many documents failed. */
async function parseAll(
  knowledge: OpenKnowledge,
  files: readonly SyncedFile[],
  running: ReadonlySet<string>,
  { terminal, screen }: Shown,
): Promise<number> {
  if (running.size === 0) return 0;
  const names = new Map(files.map(({ name, document }) => [document?.id, name]));
  const show = (progress: IngestionProgress, done: number): void => {
    const name = names.get(progress.documentId) ?? progress.documentId;
    if (progress.run === 'FAIL') screen.remark(`failed: ${name}: ${progress.message}`);
    else if (progress.run === 'DONE') screen.remark(`${name}: ${progress.message}`);
    else screen.status(`${done}/${running.size} ${name}: ${progress.step} ${Math.round(progress.progress * 100)} %`);
  };
  const counted$ = knowledge.ingestions().pipe(
    scan(
      (counts, progress) => {
        const isOver = running.has(progress.documentId) && progress.run !== 'RUNNING';
        const after = {
          done: counts.done + (isOver ? 1 : 0),
          failed: counts.failed + (isOver && progress.run !== 'DONE' ? 1 : 0),
        };
        show(progress, after.done);
        return after;
      },
      { done: 0, failed: 0 },
    ),
    takeWhile(({ done }) => done < running.size, true),
  );
  return (await lastValueFrom(untilAborted(counted$, terminal.signal))).failed;
}

/** A source that ends with the reason of a signal when that is aborted, and is unsubscribed then. */
function untilAborted<T>(source$: Observable<T>, signal: AbortSignal): Observable<T> {
  return new Observable((subscriber) => {
    const abort = (): void => subscriber.error(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    subscriber.add(() => signal.removeEventListener('abort', abort));
    subscriber.add(source$.subscribe(subscriber));
    return undefined;
  });
}

async function summaryOf(
  { base }: OpenKnowledge,
  { id, name }: DatasetRecord,
  files: readonly SyncedFile[],
): Promise<string> {
  const found = await base.datasets.find(LOCAL_TENANT, id);
  const { documents = 0, chunks = 0 } = found?.counts ?? {};
  const count = (wanted: SyncedFile['outcome']): string =>
    `${files.filter(({ outcome }) => outcome === wanted).length} ${wanted}`;
  const outcomes = (['new', 'replaced', 'unchanged', 'skipped'] as const).map(count).join(', ');
  return `${outcomes}; dataset "${name}" has ${documents} documents with ${chunks} chunks`;
}

function methodOf(given = 'naive'): ChunkMethod {
  const method = CHUNK_METHODS.find((one) => one === given);
  if (method !== undefined) return method;
  throw new EngineError(
    'USAGE',
    `--method takes one of ${CHUNK_METHODS.join(', ')}; received "${given}".${didYouMean(given, CHUNK_METHODS)}`,
  );
}
