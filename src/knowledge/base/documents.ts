/** Documents of a knowledge base: received, listed, changed, parsed, stopped, deleted. */
import { createHash } from 'node:crypto';
import { endingOf, isKnownEnding } from '../../documents/reading/file-kind.js';
import { EngineError } from '../../errors.js';
import type { JsonObject } from '../../json.js';
import type { FileDraft, OpenedFile } from '../../records/files.js';
import type { DatasetRecord, DocumentChange, DocumentRecord } from '../../records/knowledge.js';
import type { DocumentQuery } from '../../records/knowledge-store.js';
import { usageOfFiles } from '../../records/quotas.js';
import type { Page } from '../../records/repository.js';
import { passageOf } from './chunk-ids.js';
import { newId } from './datasets.js';
import type { BaseParts } from './parts.js';
import { removeRemains, removeText } from './remove-remains.js';
import { requireFitting } from './require-fitting.js';

/** A file that becomes a document. */
export interface NewDocument {
  readonly name: string;
  /** @default unknown, told by the ending of the name and the bytes */
  readonly mimeType?: string | undefined;
  /** The bytes, read as they come; absent for a document without a file. */
  readonly content?: AsyncIterable<Uint8Array> | Iterable<Uint8Array> | undefined;
  /** The bytes, received already, in place of `content`; who received them discards the draft. */
  readonly received?: ReceivedBytes | undefined;
  /** Where it came from. @default 'local' */
  readonly source?: string | undefined;
  readonly metadata?: JsonObject | undefined;
  /** Most bytes; more are BODY_TOO_LARGE. @default those of the store of files */
  readonly maxBytes?: number | undefined;
}

/** Bytes in a draft of the store of files. */
export interface ReceivedBytes {
  readonly draft: FileDraft;
  /** SHA-256 of them, in hexadecimal. */
  readonly sha256: string;
}

/** What becomes of a document whose name is taken. */
export interface AddOptions {
  /**
   * `rename`: a number is put behind the name. `replace`: the document of that name gets the new bytes and is parsed again if it was parsed;
   * with the same bytes nothing happens. @default 'rename'
   */
  readonly sameName?: 'rename' | 'replace';
}

/** A document that was added, and what became of it. */
export interface AddedDocument {
  readonly document: DocumentRecord;
  /** `new`, `replaced` (the bytes are others than before), or `unchanged` (they are the same). */
  readonly outcome: 'new' | 'replaced' | 'unchanged';
}

/** Documents. Errors of all: those of the stores; NOT_FOUND for a dataset or document that does not exist. */
export interface Documents {
  /** Whether files of such a name are known, by its ending; some of them cannot be parsed all the same. */
  isReadable(name: string): boolean;
  /**
   * Receives a document. A document of the dataset with the same bytes is named in `duplicateOf`, and what was read of it is used again.
   *
   * @throws EngineError NOT_FOUND, QUOTA_EXCEEDED, LIMIT_REACHED, BODY_TOO_LARGE; nothing is stored then.
   */
  add(tenant: string, datasetId: string, document: NewDocument, options?: AddOptions): Promise<AddedDocument>;
  find(tenant: string, datasetId: string, id: string): Promise<DocumentRecord | undefined>;
  list(tenant: string, query: DocumentQuery): Promise<Page<DocumentRecord>>;
  /** The bytes; undefined for a document without a file. */
  open(tenant: string, datasetId: string, id: string): Promise<OpenedFile | undefined>;
  /**
   * @throws EngineError CONFLICT for a name that is taken; DATASET_BUSY for another method while the document is parsed; BAD_REQUEST for metadata or
   * settings of more than 128 KiB.
   */
  update(tenant: string, datasetId: string, id: string, change: DocumentSettings): Promise<DocumentRecord>;
  /** Puts documents in line to be parsed; those that are parsed already are left out. Gives the ones that were put in line. */
  parse(tenant: string, datasetId: string, ids: readonly string[]): Promise<readonly DocumentRecord[]>;
  /** Stops the parsing of documents; chunks that are searchable stay. Gives the ones that were stopped. */
  stop(tenant: string, datasetId: string, ids: readonly string[]): Promise<readonly DocumentRecord[]>;
  /** Deletes documents with all that belongs to them; nothing of them is found from the first moment on. Gives the ids of those there were. */
  delete(tenant: string, datasetId: string, ids: readonly string[]): Promise<readonly string[]>;
}

/** What users change of a document. */
export type DocumentSettings = Pick<
  DocumentChange,
  'name' | 'chunkMethod' | 'parserConfig' | 'pipelineId' | 'metadata' | 'isEnabled'
>;

/** Names that are tried for a document whose name is taken. */
const MAX_NAMES = 10_000;

/** Chunks whose availability is changed in one go. */
const BATCH = 200;

/** The documents of a knowledge base. */
export function createDocuments(parts: BaseParts): Documents {
  const { store, files, hub, now } = parts;
  const requireDataset = async (tenant: string, id: string): Promise<DatasetRecord> => {
    const found = await store.findDataset(tenant, id);
    if (found !== undefined) return found;
    throw new EngineError('NOT_FOUND', `There is no dataset "${id}".`);
  };
  const find = async (tenant: string, datasetId: string, id: string): Promise<DocumentRecord | undefined> => {
    const found = await store.findDocument(tenant, id);
    return found?.datasetId === datasetId ? found : undefined;
  };
  const require = async (tenant: string, datasetId: string, id: string): Promise<DocumentRecord> => {
    const found = await find(tenant, datasetId, id);
    if (found !== undefined) return found;
    throw new EngineError('NOT_FOUND', `There is no document "${id}" in the dataset "${datasetId}".`);
  };
  const idsOf = async (tenant: string, datasetId: string, ids: readonly string[]): Promise<readonly string[]> => {
    const page = { offset: 0, limit: ids.length, orderBy: 'createdAt', descending: false } as const;
    const { items } = await store.listDocuments(tenant, { ...page, ids, datasetIds: [datasetId] });
    const found = new Set(items.map(({ id }) => id));
    return ids.filter((id) => found.has(id));
  };
  const parse = async (tenant: string, datasetId: string, ids: readonly string[]) => {
    const queued = await store.enqueue(tenant, await idsOf(tenant, datasetId, ids));
    if (queued.length > 0) hub.wake();
    return queued;
  };
  const stop = async (tenant: string, datasetId: string, ids: readonly string[]) => {
    const stopped = await store.cancel(tenant, await idsOf(tenant, datasetId, ids));
    hub.stop({ tenant, datasetId, ids: stopped.map(({ id }) => id) });
    for (const document of stopped) hub.report(progressOfStopped(tenant, document));
    return stopped;
  };

  return {
    isReadable: (name) => isKnownEnding(endingOf(name)),
    find,
    parse,
    stop,
    async add(tenant, datasetId, given, { sameName = 'rename' } = {}) {
      const dataset = await requireDataset(tenant, datasetId);
      requireFitting('The metadata of the document', given.metadata);
      const received = await receive(parts, tenant, given);
      try {
        const before = sameName === 'replace' ? await named(parts, tenant, datasetId, given.name) : undefined;
        if (before !== undefined) return await replace(before, received);
        const document = await insertNamed(parts, tenant, await documentOf(parts, tenant, dataset, given, received));
        received.keep();
        return { document, outcome: 'new' };
      } finally {
        await received.discard();
      }
      async function replace(before: DocumentRecord, { facts, keep }: Received): Promise<AddedDocument> {
        if (before.sha256 === facts.sha256) return { document: before, outcome: 'unchanged' };
        if (before.run === 'RUNNING') await stop(tenant, datasetId, [before.id]);
        const change = { ...facts, ...(given.metadata && { metadata: given.metadata }), updatedAt: now() };
        const document = await store.updateDocument(tenant, before.id, change);
        if (document === undefined) throw new EngineError('NOT_FOUND', `The document "${before.id}" was deleted.`);
        keep();
        if (before.fileId !== null) await files.delete(tenant, before.fileId);
        await removeText(parts, tenant, before);
        if (before.run !== 'UNSTART') await parse(tenant, datasetId, [before.id]);
        return { document: (await store.findDocument(tenant, before.id)) ?? document, outcome: 'replaced' };
      }
    },
    list: (tenant, query) => store.listDocuments(tenant, query),
    async open(tenant, datasetId, id) {
      const { fileId } = await require(tenant, datasetId, id);
      return fileId === null ? undefined : files.open(tenant, fileId);
    },
    async update(tenant, datasetId, id, change) {
      const before = await require(tenant, datasetId, id);
      requireFitting('The settings of the document', change.parserConfig);
      requireFitting('The metadata of the document', change.metadata);
      const isMethod = change.chunkMethod !== undefined && change.chunkMethod !== before.chunkMethod;
      if (isMethod && before.run === 'RUNNING') {
        const message = `The document "${before.name}" is being parsed; wait until it is done, or stop it, before its method is changed.`;
        throw new EngineError('DATASET_BUSY', message, { retryable: true });
      }
      const named = change.name === undefined ? {} : { suffix: endingOf(change.name) };
      const after = await store.updateDocument(tenant, id, { ...change, ...named, updatedAt: now() });
      if (after === undefined) throw new EngineError('NOT_FOUND', `There is no document "${id}".`);
      if (after.isEnabled !== before.isEnabled) await showOrHide(parts, tenant, after);
      if (after.name !== before.name || change.metadata !== undefined) await indexAgain(parts, tenant, after);
      return after;
    },
    async delete(tenant, datasetId, ids) {
      const discarded = await store.discardDocuments(tenant, datasetId, ids);
      if (discarded.length === 0) return [];
      hub.stop({ tenant, datasetId, ids: discarded });
      await removeRemains(parts);
      return discarded;
    },
  };
}

/** Bytes that were received, and are discarded unless they are kept. */
interface Received {
  readonly facts: Pick<DocumentRecord, 'fileId' | 'sha256' | 'size' | 'mimeType'>;
  keep(): void;
  discard(): Promise<void>;
}

async function receive(parts: BaseParts, tenant: string, given: NewDocument): Promise<Received> {
  const { files, now } = parts;
  const { name, mimeType = '' } = given;
  const none: Received['facts'] = { fileId: null, sha256: '', size: 0, mimeType };
  const bytes = given.received ?? (await readContent(parts, tenant, given));
  if (bytes === undefined) return { facts: none, keep() {}, discard: async () => {} };
  const { draft, sha256 } = bytes;
  const { size } = draft;
  try {
    const fileId = newId();
    const about = { id: fileId, name, mimeType, createdAt: now(), isKept: true };
    await files.saveDrafts(tenant, [{ about, draft }]);
    let isKept = false;
    return {
      facts: { ...none, fileId, size, sha256 },
      keep: () => {
        isKept = true;
      },
      async discard() {
        if (!isKept) await files.delete(tenant, fileId);
      },
    };
  } finally {
    if (given.received === undefined) await draft.discard();
  }
}

async function readContent(
  { files }: BaseParts,
  tenant: string,
  { content, name, maxBytes = Number.MAX_SAFE_INTEGER }: NewDocument,
): Promise<ReceivedBytes | undefined> {
  if (content === undefined) return undefined;
  await files.requireRoom(tenant, usageOfFiles([{ size: 1 }]));
  const hash = createHash('sha256');
  const draft = files.draft();
  try {
    for await (const bytes of content) {
      if (draft.size + bytes.byteLength > maxBytes) throw tooLarge(name, maxBytes);
      hash.update(bytes);
      await draft.write(bytes);
    }
    return { draft, sha256: hash.digest('hex') };
  } catch (error) {
    await draft.discard();
    throw error;
  }
}

async function documentOf(
  { store, now }: BaseParts,
  tenant: string,
  dataset: DatasetRecord,
  { name, source = 'local', metadata = {} }: NewDocument,
  { facts }: Received,
): Promise<DocumentRecord> {
  const query = { datasetIds: [dataset.id], offset: 0, limit: 1, orderBy: 'createdAt', descending: false } as const;
  const { sha256 } = facts;
  const twins = sha256 === '' ? [] : (await store.listDocuments(tenant, { ...query, sha256 })).items;
  const time = now();
  return {
    ...facts,
    id: newId(),
    datasetId: dataset.id,
    name,
    type: typeOf(name, facts),
    suffix: endingOf(name),
    source,
    chunkMethod: dataset.chunkMethod,
    parserConfig: dataset.parserConfig,
    pipelineId: dataset.pipelineId,
    isEnabled: true,
    metadata,
    duplicateOf: twins[0]?.id ?? null,
    createdAt: time,
    updatedAt: time,
    run: 'UNSTART',
    progress: 0,
    progressMsg: '',
    beganAt: null,
    durationMs: 0,
    characters: 0,
    chunkCount: 0,
    tokenCount: 0,
    attempt: 0,
  };
}

/** RAGFlow's kinds of files, by their endings. */
const TYPES: readonly (readonly [pattern: RegExp, type: string])[] = [
  [/^pdf$/, 'pdf'],
  [/^(?:png|jpe?g|gif|bmp|tiff?|webp|svg|ico|avif|heic)$/, 'visual'],
  [/^(?:mp3|wav|flac|ogg|aac|m4a|wma|aiff?)$/, 'aural'],
];

function typeOf(name: string, { fileId }: Received['facts']): string {
  if (fileId === null) return 'virtual';
  return TYPES.find(([pattern]) => pattern.test(endingOf(name)))?.[1] ?? 'doc';
}

/** Inserts a document under its name, or one with a number behind it: `a.txt`, `a(1).txt`. */
async function insertNamed({ store }: BaseParts, tenant: string, document: DocumentRecord): Promise<DocumentRecord> {
  const { name, suffix } = document;
  const base = suffix === '' ? name : name.slice(0, -suffix.length - 1);
  const ending = name.slice(base.length);
  for (let number = 0; ; number += 1) {
    const named = number === 0 ? document : { ...document, name: `${base}(${number})${ending}` };
    try {
      await store.insertDocuments(tenant, [named]);
      return named;
    } catch (error) {
      if (!EngineError.is(error) || error.code !== 'CONFLICT' || number >= MAX_NAMES) throw error;
    }
  }
}

async function named({ store }: BaseParts, tenant: string, datasetId: string, name: string) {
  return (await store.listDocuments(tenant, queryByName(datasetId, name))).items[0];
}

/** Asks for the document of a name, which is unique in its dataset. */
export function queryByName(datasetId: string, name: string) {
  return {
    datasetIds: [datasetId],
    name,
    offset: 0,
    limit: 1,
    orderBy: 'createdAt',
    descending: false,
  } as const;
}

async function showOrHide({ store, indexes }: BaseParts, tenant: string, document: DocumentRecord): Promise<void> {
  const index = indexes.open(tenant, document.datasetId);
  for (let last: { index: number; id: string } | undefined; ; ) {
    const chunks = await store.chunksAfter(tenant, document.id, last, BATCH);
    last = chunks.at(-1);
    if (last === undefined) return;
    const ids = chunks.flatMap(({ id, isAvailable }) => (isAvailable ? [id] : []));
    await index.setAvailable(ids, document.isEnabled);
  }
}

/** Brings titles and metadata of passages that are in the index up to date. */
async function indexAgain({ store, indexes }: BaseParts, tenant: string, document: DocumentRecord): Promise<void> {
  const index = indexes.open(tenant, document.datasetId);
  for (let last: { index: number; id: string } | undefined; ; ) {
    const chunks = await store.chunksAfter(tenant, document.id, last, BATCH, true);
    last = chunks.at(-1);
    if (last === undefined) return;
    await index.add(chunks.map((chunk) => passageOf(document, chunk)));
  }
}

function progressOfStopped(tenant: string, { id, datasetId, run, chunkCount }: DocumentRecord) {
  const message = 'stopped';
  return { tenant, datasetId, documentId: id, run, progress: 0, step: '', message, chunks: chunkCount };
}

function tooLarge(name: string, most: number): EngineError {
  return new EngineError(
    'BODY_TOO_LARGE',
    `The file "${name}" has more than ${most} bytes, which is the most that is taken.`,
  );
}
