/** Datasets that hold the files of a folder. */

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileKind } from '../../documents/reading/file-kind.js';
import { MAX_FILE_BYTES } from '../../documents/reading/limits.js';
import { EngineError } from '../../errors.js';
import { invalidOption, requireObject } from '../../operators/invalid-option.js';
import type { DocumentRecord } from '../../records/knowledge.js';
import { queryByName } from './documents.js';
import type { KnowledgeBase } from './knowledge-base.js';

/** A folder, or some files, and the dataset that they belong to. */
export interface FolderToSync {
  readonly tenant: string;
  readonly datasetId: string;
  /** A folder with all that is in it but names that begin with a dot, or one file. */
  readonly path: string;
  /** Whether documents that came from this path are deleted when their files are gone. @default false */
  readonly deletesGone?: boolean | undefined;
  /** Files at most. @default 10,000 */
  readonly maxFiles?: number | undefined;
  /** Told of every file when it was looked at. */
  readonly onFile?: ((file: SyncedFile) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A file, and what became of it. */
export interface SyncedFile {
  /** Its path within the folder, with `/`, which is the name of the document. */
  readonly name: string;
  /** `skipped` says in `reason` why the file cannot be taken. */
  readonly outcome: 'new' | 'replaced' | 'unchanged' | 'skipped';
  readonly reason?: string;
  readonly document?: DocumentRecord;
}

/** What became of a folder. */
export interface SyncedFolder {
  readonly files: readonly SyncedFile[];
  /** Ids of documents that are to be parsed; they are in line. */
  readonly queued: readonly string[];
  /** Names of documents that were deleted. */
  readonly deleted: readonly string[];
}

/** Documents that are put in line in one go. */
const BATCH = 100;

/**
 * Brings a dataset to what a folder holds, by the hashes of its files: new ones are added, changed ones replaced, and both put in line; the
 * rest is left alone. Pictures in a folder are skipped, unless a canvas ingests for the dataset.
 *
 * @throws EngineError NOT_FOUND for the dataset, LIMIT_REACHED for more than `maxFiles` files, errors of the stores; USAGE for a path that
 * cannot be read
 */
export async function syncFolder(base: KnowledgeBase, given: FolderToSync): Promise<SyncedFolder> {
  requireObject('syncFolder', 'base', base, 'what createKnowledgeBase(…) gives');
  requireObject('syncFolder', 'folder', given, 'an object with "tenant", "datasetId" and "path"');
  if (typeof given.path !== 'string') throw invalidOption('syncFolder', 'path', 'the path of a folder', given.path);
  const { tenant, datasetId, path: root, maxFiles = 10_000, deletesGone = false, onFile, signal } = given;
  const source = `folder:${path.resolve(root)}`;
  const names = await filesIn(root, maxFiles);
  const readsPictures = (await base.datasets.find(tenant, datasetId))?.dataset.pipelineId != null;
  const files: SyncedFile[] = [];
  for (const { name, file, isNamed = false } of names) {
    signal?.throwIfAborted();
    const synced: SyncedFile =
      isNamed || readsPictures || !isPicture(name)
        ? await syncFile(base, given, { name, file, source })
        : { name, outcome: 'skipped', reason: 'it is a picture, which only a canvas that ingests could read' };
    files.push(synced);
    onFile?.(synced);
  }
  const deleted = deletesGone ? await deleteGone(base, given, source, new Set(names.map(({ name }) => name))) : [];
  const waiting = files.flatMap(({ document }) => (document?.run === 'UNSTART' ? [document.id] : []));
  const queued = files.flatMap(({ document }) => (document?.run === 'RUNNING' ? [document.id] : []));
  for (let at = 0; at < waiting.length; at += BATCH) {
    const some = await base.documents.parse(tenant, datasetId, waiting.slice(at, at + BATCH));
    queued.push(...some.map(({ id }) => id));
  }
  return { files, queued, deleted };
}

interface FoundFile {
  readonly name: string;
  readonly file: string;
  /** Whether it was asked for by itself. @default false */
  readonly isNamed?: boolean;
}

/** By its name alone. Folders of documents often hold the pictures that the documents show. */
const isPicture = (name: string): boolean =>
  fileKind({ id: '', name, mimeType: '', bytes: new Uint8Array() }) === 'image';

async function syncFile(
  base: KnowledgeBase,
  { tenant, datasetId, signal }: FolderToSync,
  { name, file, source }: FoundFile & { readonly source: string },
): Promise<SyncedFile> {
  try {
    const { size } = await stat(file);
    if (size > MAX_FILE_BYTES)
      return { name, outcome: 'skipped', reason: `it has more than ${MAX_FILE_BYTES / 1_048_576} MiB` };
    const known = await documentNamed(base, tenant, datasetId, name);
    if (known !== undefined && known.sha256 === (await hashOf(file, signal))) {
      return { name, outcome: 'unchanged', document: known };
    }
    const content = createReadStream(file, signal === undefined ? {} : { signal });
    const added = await base.documents.add(tenant, datasetId, { name, content, source }, { sameName: 'replace' });
    return { name, ...added };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // It went away meanwhile, or is none of ours.
    if (code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR') return { name, outcome: 'skipped', reason: code };
    throw error;
  }
}

async function documentNamed({ documents }: KnowledgeBase, tenant: string, datasetId: string, name: string) {
  return (await documents.list(tenant, queryByName(datasetId, name))).items[0];
}

async function deleteGone(
  { documents }: KnowledgeBase,
  { tenant, datasetId }: FolderToSync,
  source: string,
  names: ReadonlySet<string>,
): Promise<readonly string[]> {
  const gone: DocumentRecord[] = [];
  const query = { datasetIds: [datasetId], limit: BATCH, orderBy: 'createdAt', descending: false } as const;
  for (let offset = 0; ; offset += BATCH) {
    const { items } = await documents.list(tenant, { ...query, offset });
    gone.push(...items.filter((one) => one.source === source && !names.has(one.name)));
    if (items.length < BATCH) break;
  }
  if (gone.length > 0)
    await documents.delete(
      tenant,
      datasetId,
      gone.map(({ id }) => id),
    );
  return gone.map(({ name }) => name);
}

async function hashOf(file: string, signal: AbortSignal | undefined): Promise<string> {
  const hash = createHash('sha256');
  for await (const bytes of createReadStream(file, signal === undefined ? {} : { signal }))
    hash.update(bytes as Uint8Array);
  return hash.digest('hex');
}

/** The files of a folder by name, or the one file. */
async function filesIn(root: string, maxFiles: number): Promise<readonly FoundFile[]> {
  const about = await stat(root).catch((cause: unknown) => {
    throw new EngineError('USAGE', `"${root}" cannot be read: is there such a file or folder?`, { cause });
  });
  if (about.isFile()) return [{ name: path.basename(root), file: root, isNamed: true }];
  const found: FoundFile[] = [];
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await readdir(path.join(root, folder), { withFileTypes: true });
    for (const entry of entries) {
      if (entry.name.startsWith('.')) continue;
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
      // Links are not followed: they may lead out of the folder, or in circles.
      if (entry.isDirectory()) folders.push(name);
      else if (entry.isFile()) found.push({ name, file: path.join(root, name) });
      if (found.length > maxFiles) {
        throw new EngineError(
          'LIMIT_REACHED',
          `"${root}" has more than ${maxFiles} files; add its folders one by one.`,
        );
      }
    }
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}
