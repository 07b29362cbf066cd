/** Where the tool Retrieval searches, by the settings. */
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { EgressClient } from '../adapters/egress/egress-client.js';
import { readInThread } from '../documents/reading/read-document.js';
import { createMemoryRetriever, type IndexedDataset, type IndexedDocument } from '../knowledge/memory-retriever.js';
import type { Retriever } from '../knowledge/retriever.js';
import { LOCAL_TENANT } from '../settings/access.js';
import type { Settings } from '../settings/read-settings.js';
import type { Threads } from '../threads/threads.js';
import { createRagflowRetriever } from '../tools/ragflow-retriever.js';

/** Reads the text of a file. */
type ReadText = (name: string, file: string) => Promise<string>;

/** What to do about a dataset that does not exist. */
const ADVICE = 'Put a folder of that name into RUNNEL_DATASETS_DIR, or set RAGFLOW_BASE_URL.';

/** Names of folders with the datasets of a tenant begin with it. */
const TENANT_PREFIX = '@';

/** Files of one dataset, and the size of each in bytes, that are read. */
const MAX_FILES = 2_000;
const MAX_BYTES = 16 * 1024 * 1024;

/** Characters of one file that are searched. */
const MAX_CHARACTERS = 4 * 1024 * 1024;

/** Characters of one dataset that are searched; the index lies in memory, and files beyond are left out. */
const MAX_DATASET_CHARACTERS = 32 * 1024 * 1024;

/**
 * A RAGFlow server (`RAGFLOW_BASE_URL`, `RAGFLOW_API_KEY`), whose datasets all tenants see; else an index over a folder
 * (`RUNNEL_DATASETS_DIR`, default `datasets` in the data folder): each folder in it is a dataset, each file in that a document. The
 * datasets of a tenant lie in a folder `@<tenant>` of their own, and those beside it are the default tenant's.
 */
export function openRetriever(
  { nodes, stores }: Pick<Settings, 'nodes' | 'stores'>,
  http: EgressClient,
  threads?: Threads,
): Retriever {
  const { ragflowBaseUrl: baseUrl, ragflowApiKey: apiKey, datasetsDir } = nodes;
  if (baseUrl !== undefined && apiKey !== undefined) return createRagflowRetriever({ baseUrl, apiKey, http });
  const folder = datasetsDir ?? path.join(stores.dataDir, 'datasets');
  /** By tenant: there are as many as the operator has given keys to. */
  const retrievers = new Map<string, Retriever>();
  const read: ReadText = (name, file) => textOf(name, file, threads);
  const forTenant = (tenant: string): Retriever => {
    const known = retrievers.get(tenant);
    if (known !== undefined) return known;
    const place = folderOf(folder, tenant);
    const retriever = createMemoryRetriever(async () => (place === undefined ? [] : listDatasets(place, read)), ADVICE);
    retrievers.set(tenant, retriever);
    return retriever;
  };
  return { ...forTenant(LOCAL_TENANT), forTenant };
}

/** With the prefix no tenant has the name of a dataset or leads out of the folder; undefined for what cannot be the name of a folder. */
function folderOf(folder: string, tenant: string): string | undefined {
  if (tenant === LOCAL_TENANT) return folder;
  return tenant === '' || /[/\\\0]/.test(tenant) ? undefined : path.join(folder, `${TENANT_PREFIX}${tenant}`);
}

async function listDatasets(folder: string, read: ReadText): Promise<readonly IndexedDataset[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const folders = entries.filter((entry) => entry.isDirectory() && !/^[.@]/.test(entry.name));
  return Promise.all(folders.map(({ name }) => datasetOf(name, path.join(folder, name), read)));
}

async function datasetOf(name: string, folder: string, read: ReadText): Promise<IndexedDataset> {
  // Files that disappear meanwhile or cannot be read are left out; the rest stays searchable.
  const files = (await readdir(folder, { withFileTypes: true }).catch(() => []))
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .slice(0, MAX_FILES);
  const facts = await Promise.all(
    files.map(async (file) => {
      const found = await stat(path.join(folder, file.name)).catch(() => undefined);
      return found === undefined ? [] : [{ name: file.name, size: found.size, mtimeMs: found.mtimeMs }];
    }),
  ).then((lists) => lists.flat());
  const version = createHash('sha1').update(JSON.stringify(facts)).digest('hex');
  const readable = facts.flatMap((file) => (file.size <= MAX_BYTES ? [file.name] : []));
  return { id: name, name, version, documents: () => readAll(folder, readable, read) };
}

/** One after the other, as parsers need memory. A file that cannot be read is left out. */
async function readAll(folder: string, names: readonly string[], read: ReadText): Promise<readonly IndexedDocument[]> {
  const documents: IndexedDocument[] = [];
  let characters = 0;
  for (const name of names) {
    const text = await read(name, path.join(folder, name)).catch(() => undefined);
    if (text === undefined || text.startsWith('data:')) continue;
    characters += text.length;
    if (characters > MAX_DATASET_CHARACTERS) break;
    documents.push({ id: name, name, text });
  }
  return documents;
}

async function textOf(name: string, file: string, threads?: Threads): Promise<string> {
  const bytes = await readFile(file);
  return readInThread({ id: name, name, mimeType: '', bytes }, { maxCharacters: MAX_CHARACTERS }, threads);
}
