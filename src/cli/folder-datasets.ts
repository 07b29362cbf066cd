/** Folders as datasets of a knowledge base, brought up to date when they are searched. */
import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { defer, filter, merge, type Observable, of, tap, timer } from 'rxjs';
import { EngineError } from '../errors.js';
import type { KnowledgeBase } from '../knowledge/base/knowledge-base.js';
import { syncFolder } from '../knowledge/base/sync-folder.js';
import type { Retriever } from '../knowledge/retriever.js';
import { firstValue } from '../operators/from-abortable.js';
import { SharedReads } from '../operators/shared-reads.js';
import { LOCAL_TENANT } from '../settings/access.js';

/** Names of folders with the datasets of a tenant begin with it. */
export const TENANT_PREFIX = '@';

/** How long a search waits for files that were just found to be parsed; what takes longer is found later. */
const PARSING_MS = 8_000;

/** Files of one folder whose times and sizes are looked at. */
const MAX_FILES = 2_000;

/** Folders whose state is remembered. */
const MAX_FOLDERS = 10_000;

/** Where folders are, and what they become. */
export interface FolderDatasetsOptions {
  /** Loads the knowledge base when it is first needed. */
  readonly open: () => Promise<KnowledgeBase>;
  /** Each folder in it is a dataset of the tenant without a name; those of others lie in a folder `@<tenant>`. */
  readonly folder: string;
  /** @default {@link PARSING_MS} */
  readonly parsingMs?: number | undefined;
  /** Told of files that a search waits for. */
  readonly onParsing?: ((dataset: string, documents: number) => void) | undefined;
  /** Ends the reading of folders, and what waits for it. @default it ends by itself */
  readonly signal?: AbortSignal | undefined;
}

/** Datasets of which some are folders. */
export interface FolderDatasets extends Retriever {
  forTenant(tenant: string): FolderDatasets;
  /** Brings all of them to what their folders hold. */
  followAll(signal: AbortSignal): Promise<void>;
}

/**
 * Searches the datasets of a knowledge base, and before that brings those that are folders to what their folders hold. A dataset that was made
 * by other means and has the name of a folder is left as it is.
 *
 * @param tenant whose datasets are searched unless `forTenant` names another one
 */
export function createFolderDatasets(options: FolderDatasetsOptions, tenant = LOCAL_TENANT): FolderDatasets {
  /** Of each folder, what its files were when it was read last. */
  const known = new Map<string, string>();
  /** Each search looks whether there are more folders; those that come at once look together. */
  const looks = new SharedReads<readonly string[]>();
  /** Searches of a folder that is being read wait for the same files to be parsed. */
  const reads = new SharedReads<void>();
  const foldersOf = async (folder: string | undefined): Promise<readonly string[]> =>
    folder === undefined ? [] : looks.read(folder, () => foldersIn(folder));
  const retrieverOf = (owner: string): FolderDatasets => ({
    forTenant: retrieverOf,
    async datasets(signal) {
      const base = await options.open();
      const stored = (await base.retriever(owner).datasets?.(signal)) ?? [];
      return [...new Set([...stored, ...(await foldersOf(folderOf(options.folder, owner)))])];
    },
    async followAll(signal) {
      const folder = folderOf(options.folder, owner);
      const names = await foldersOf(folder);
      if (names.length === 0) return;
      const base = await options.open();
      for (const name of names) {
        await follow(base, owner, path.join(folder as string, name));
        signal.throwIfAborted();
      }
    },
    async search(request, signal) {
      const base = await options.open();
      const folder = folderOf(options.folder, owner);
      for (const name of folder === undefined ? [] : request.datasets) {
        if (!isName(name)) continue;
        await follow(base, owner, path.join(folder as string, name));
        signal.throwIfAborted();
      }
      return base.retriever(owner).search(request, signal);
    },
  });
  return retrieverOf(tenant);

  /** Goes on when the search that began it is cancelled, until `options.signal` says so: others may wait for it, and the next one begins with what it did. */
  function follow(base: KnowledgeBase, owner: string, folder: string): Promise<void> {
    const key = JSON.stringify([owner, folder]);
    return reads.read(key, () => readFolder(base, owner, folder, key));
  }

  async function readFolder(base: KnowledgeBase, owner: string, folder: string, key: string): Promise<void> {
    const facts = await factsOf(folder);
    if (facts === undefined || known.get(key) === facts) return;
    const datasetId = await datasetFor(base, owner, folder);
    if (datasetId === undefined) return;
    const { parsingMs = PARSING_MS, signal } = options;
    const { queued } = await syncFolder(base, { tenant: owner, datasetId, path: folder, deletesGone: true, signal });
    if (known.size >= MAX_FOLDERS) known.clear();
    known.set(key, facts);
    if (queued.length > 0) options.onParsing?.(path.basename(folder), queued.length);
    await firstValue(merge(whenParsed(base, owner, datasetId, queued), timer(parsingMs)), signal);
  }
}

/** With the prefix no tenant has the name of a dataset or leads out of the folder; undefined for what cannot be the name of a folder. */
export function folderOf(folder: string, tenant: string): string | undefined {
  if (tenant === LOCAL_TENANT) return folder;
  return tenant === '' || /[/\\\0]/.test(tenant) ? undefined : path.join(folder, `${TENANT_PREFIX}${tenant}`);
}

/** Names of folders that are, or become with their first search, datasets. */
async function foldersIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory() && isName(entry.name)).map(({ name }) => name);
}

function isName(name: string): boolean {
  return name !== '' && !/^[.@]|[/\\\0]/.test(name);
}

/** The dataset of a folder, which is made when there is none; undefined where another dataset has its name. */
async function datasetFor({ datasets }: KnowledgeBase, tenant: string, folder: string): Promise<string | undefined> {
  const source = `folder:${folder}`;
  const query = { source, offset: 0, limit: 1, orderBy: 'createdAt', descending: false } as const;
  const [found] = (await datasets.list(tenant, query)).items;
  if (found !== undefined) return found.dataset.id;
  try {
    return (await datasets.create(tenant, { name: path.basename(folder), source })).dataset.id;
  } catch (error) {
    if (EngineError.is(error) && error.code === 'CONFLICT') return undefined;
    throw error;
  }
}

/** Names, sizes and times of the files of a folder, as one text; undefined when there is none. */
async function factsOf(folder: string): Promise<string | undefined> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => undefined);
  if (entries === undefined) return undefined;
  const files = entries.filter((entry) => entry.isFile()).slice(0, MAX_FILES);
  const hash = createHash('sha256').update(String(entries.length));
  for (const entry of files) {
    const file = path.join(entry.parentPath, entry.name);
    const about = await stat(file).catch(() => undefined);
    hash.update(`\0${file}\0${about?.size}\0${about?.mtimeMs}`);
  }
  return hash.digest('hex');
}

/** Emits once documents are parsed. */
function whenParsed(
  base: KnowledgeBase,
  tenant: string,
  datasetId: string,
  ids: readonly string[],
): Observable<unknown> {
  if (ids.length === 0) return of(true);
  const left = new Set(ids);
  const ended$ = base.progress(tenant, datasetId).pipe(
    filter(({ run }) => run !== 'RUNNING'),
    tap(({ documentId }) => left.delete(documentId)),
  );
  // Those that were over before it was listened.
  const stored$ = defer(async () => {
    const query = { ids, limit: ids.length, offset: 0, orderBy: 'createdAt', descending: false } as const;
    const { items } = await base.documents.list(tenant, { ...query, runs: ['RUNNING'] });
    const running = new Set(items.map(({ id }) => id));
    for (const id of ids) if (!running.has(id)) left.delete(id);
  });
  return merge(ended$, stored$).pipe(filter(() => left.size === 0));
}
