/** Bytes of a file on disk, from the first one that arrives to the name that they keep. */
import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { EngineError } from '../errors.js';
import type { FileDraft } from '../records/files.js';
import { makeFolder } from './make-folder.js';

/** What the disk answers when it takes no more. */
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** The part of a file system that drafts are written with. */
export interface DraftFiles {
  /** Opens a new file for writing. */
  open(file: string): Promise<Pick<FileHandle, 'write' | 'sync' | 'close'>>;
}

const NODE_FILES: DraftFiles = { open: (file) => open(file, 'wx', 0o600) };

/** Where a draft is written, and how much of it. */
export interface DiskDraftOptions {
  /** The folder of all files. */
  readonly folder: string;
  readonly maxBytes: number;
  /** @default those of Node */
  readonly files?: DraftFiles | undefined;
}

/** What became of a draft. */
export interface FinishedDraft {
  /** Where the bytes are, below the folder of files. */
  readonly path: string;
  readonly size: number;
  /** SHA-256 of the bytes, in hexadecimal. */
  readonly sha256: string;
}

/** A file that is written piece by piece beside its later name, hashed on the way. Opened by the first bytes. */
export class DiskDraft implements FileDraft {
  readonly #options: DiskDraftOptions;
  readonly #hash = createHash('sha256');
  /** Chosen at random, so no name of a user reaches the file system; spread over 256 folders: some file systems dislike large ones. */
  readonly #path: string;
  #handle: ReturnType<DraftFiles['open']> | undefined;
  #size = 0;
  #finished: Promise<FinishedDraft> | undefined;
  #isStored = false;

  constructor(options: DiskDraftOptions) {
    this.#options = options;
    const id = randomUUID();
    this.#path = `${id.slice(0, 2)}/${id}`;
  }

  get size(): number {
    return this.#size;
  }

  async write(bytes: Uint8Array): Promise<void> {
    const { maxBytes } = this.#options;
    if (this.#size + bytes.byteLength > maxBytes) throw tooLarge(this.#size + bytes.byteLength, maxBytes);
    this.#size += bytes.byteLength;
    this.#hash.update(bytes);
    await orFull(async () => {
      const handle = await this.#open();
      for (let at = 0; at < bytes.byteLength; ) at += (await handle.write(bytes, at)).bytesWritten;
    });
  }

  /** Makes the bytes last and gives them their name; the same again when it is called again. */
  finish(): Promise<FinishedDraft> {
    this.#finished ??= orFull(async () => {
      const handle = await this.#open();
      await handle.sync();
      await this.#close();
      const target = path.join(this.#options.folder, this.#path);
      await rename(`${target}.draft`, target);
      return { path: this.#path, size: this.#size, sha256: this.#hash.digest('hex') };
    });
    return this.#finished;
  }

  /** From now on the bytes belong to a file. */
  stored(): void {
    this.#isStored = true;
  }

  async discard(): Promise<void> {
    if (this.#isStored) return;
    await this.#close();
    const target = path.join(this.#options.folder, this.#path);
    for (const name of [`${target}.draft`, target]) await rm(name, { force: true });
  }

  #open(): ReturnType<DraftFiles['open']> {
    this.#handle ??= (async () => {
      const { folder, files = NODE_FILES } = this.#options;
      const draft = `${path.join(folder, this.#path)}.draft`;
      await makeFolder(path.dirname(draft));
      return files.open(draft);
    })();
    return this.#handle;
  }

  /** Closing twice does nothing. */
  async #close(): Promise<void> {
    const handle = await this.#handle?.catch(() => undefined);
    this.#handle = undefined;
    await handle?.close();
  }
}

/** @throws EngineError LIMIT_REACHED (HTTP 507) when the disk takes no more. */
async function orFull<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined || !FULL.has(code)) throw error;
    const message = `The disk of this server takes no more files (${code}); nothing of this file was stored. Its operator has to make room.`;
    throw new EngineError('LIMIT_REACHED', message, { details: { httpStatus: 507 }, cause: error });
  }
}

function tooLarge(bytes: number, most: number): EngineError {
  return new EngineError('LIMIT_REACHED', `A file has ${bytes} bytes or more, of at most ${most}.`);
}
