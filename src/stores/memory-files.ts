import { Readable } from 'node:stream';
import { EngineError } from '../errors.js';
import type { FileDraft, FileRecord, FileStore } from '../records/files.js';
import { DEFAULT_QUOTAS, type FileUsage, type Quotas, requireFileRoom, usageOfFiles } from '../records/quotas.js';
import { BoundedMap } from './bounded-map.js';
import { isExpired } from './file-expiry.js';

/** What files in memory may take. */
export interface MemoryFileLimits {
  /** @default 10,000 */
  readonly maxCount?: number;
  /** All files together. @default 512 MiB */
  readonly maxBytes?: number;
}

/** What a store of files in memory is made with. */
export interface MemoryFileOptions extends MemoryFileLimits {
  /** @default {@link DEFAULT_QUOTAS} */
  readonly quotas?: Quotas;
}

/** Files in memory, with what tenants have of them. */
export interface MemoryFiles extends FileStore {
  readonly usage: { of(tenant: string): FileUsage; most(): FileUsage };
}

const NOTHING: FileUsage = usageOfFiles([]);

/** Files in memory; the oldest are dropped when room is needed. */
export function createMemoryFiles(options: MemoryFileOptions = {}): MemoryFiles {
  const { maxCount = 10_000, maxBytes = 512 * 1024 * 1024, quotas = DEFAULT_QUOTAS } = options;
  const usage = new Map<string, FileUsage>();
  const usedBy = (tenant: string): FileUsage => usage.get(tenant) ?? NOTHING;
  const count = (tenant: string, file: FileRecord, times: 1 | -1): void => {
    const after = plus(usedBy(tenant), usageOfFiles([sizeOf(file)]), times);
    if (after.files === 0) usage.delete(tenant);
    else usage.set(tenant, after);
  };
  const stored = new BoundedMap<FileRecord>({
    what: 'files',
    maxCount,
    maxBytes,
    canDrop: ({ isKept }) => isKept !== true,
    onDrop: (tenant, _id, file) => count(tenant, file, -1),
  });
  const remove = (tenant: string, id: string): boolean => {
    const file = stored.get(tenant, id);
    if (file === undefined) return false;
    count(tenant, file, -1);
    return stored.delete(tenant, id);
  };

  /** @param ids of files that are to be replaced */
  const requireRoom = (tenant: string, added: FileUsage, ids: readonly string[] = []): void => {
    const check = (): void => {
      const before = ids.flatMap((id) => stored.get(tenant, id) ?? []);
      requireFileRoom(quotas, plus(usedBy(tenant), usageOfFiles(before.map(sizeOf)), -1), added);
    };
    try {
      check();
    } catch (error) {
      const expired = [...stored.values(tenant)].filter((file) => isExpired(file, Date.now()));
      if (expired.length === 0) throw error;
      for (const { id } of expired) remove(tenant, id);
      check();
    }
  };
  const put = (tenant: string, files: readonly FileRecord[]): void => {
    requireRoom(
      tenant,
      usageOfFiles(files.map(sizeOf)),
      files.map(({ id }) => id),
    );
    const bytes = files.reduce((sum, file) => sum + file.bytes.byteLength, 0);
    if (bytes > maxBytes) throw tooLarge(bytes, maxBytes);
    for (const file of files) {
      remove(tenant, file.id);
      stored.put(tenant, file.id, file, file.bytes.byteLength);
      count(tenant, file, 1);
    }
  };

  return {
    usage: {
      of: usedBy,
      most: () => [...usage.values()].reduce((most, one) => combine(most, one, Math.max), NOTHING),
    },
    requireRoom: async (tenant, added) => requireRoom(tenant, added),
    save: async (tenant, file) => put(tenant, [file]),
    draft: () => new MemoryDraft(maxBytes),
    async saveDrafts(tenant, files) {
      const drafts = files.map(({ draft }) => draft as MemoryDraft);
      put(
        tenant,
        files.map(({ about }, at) => ({ ...about, bytes: (drafts[at] as MemoryDraft).bytes() })),
      );
      for (const draft of drafts) draft.stored();
    },
    async find(tenant, id) {
      const file = stored.get(tenant, id);
      return file === undefined || isExpired(file, Date.now()) ? undefined : file;
    },
    async open(tenant, id) {
      const file = stored.get(tenant, id);
      if (file === undefined || isExpired(file, Date.now())) return undefined;
      const { bytes, ...about } = file;
      return { about, size: bytes.byteLength, read: () => Readable.from([bytes]) };
    },
    async delete(tenant, id) {
      const file = stored.get(tenant, id);
      return remove(tenant, id) && file !== undefined && !isExpired(file, Date.now());
    },
  };
}

/** Bytes that are being received. */
class MemoryDraft implements FileDraft {
  readonly #maxBytes: number;
  #parts: Uint8Array[] = [];
  #size = 0;
  #isStored = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#size;
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#size + bytes.byteLength > this.#maxBytes) throw tooLarge(this.#size + bytes.byteLength, this.#maxBytes);
    this.#size += bytes.byteLength;
    // Pieces of a socket are parts of larger buffers.
    this.#parts.push(Uint8Array.from(bytes));
  }

  async discard(): Promise<void> {
    if (this.#isStored) return;
    this.#parts = [];
    this.#size = 0;
  }

  bytes(): Uint8Array {
    const all = Buffer.concat(this.#parts);
    return new Uint8Array(all.buffer, all.byteOffset, all.byteLength);
  }

  /** From now on the bytes belong to a file. */
  stored(): void {
    this.#isStored = true;
    this.#parts = [];
  }
}

function sizeOf({ bytes, isFromPage }: FileRecord) {
  return { size: bytes.byteLength, isFromPage };
}

function plus(one: FileUsage, other: FileUsage, times: 1 | -1): FileUsage {
  return combine(one, other, (a, b) => a + times * b);
}

function combine(one: FileUsage, other: FileUsage, by: (a: number, b: number) => number): FileUsage {
  return {
    files: by(one.files, other.files),
    fileBytes: by(one.fileBytes, other.fileBytes),
    pageFiles: by(one.pageFiles, other.pageFiles),
    pageFileBytes: by(one.pageFileBytes, other.pageFileBytes),
  };
}

function tooLarge(bytes: number, most: number): EngineError {
  return new EngineError(
    'LIMIT_REACHED',
    `No room for ${bytes} bytes: this server stores at most ${most} bytes of files.`,
  );
}
