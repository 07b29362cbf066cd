/** The file system that a script sees: folders and files in memory, with a bound on all of them together. */
import { Directory, type Fd, File, type Inode, OpenFile, PreopenDirectory, wasi } from '@bjorn3/browser_wasi_shim';
import type { ArtifactFile } from '../messages.js';

/** Files and folders that a script may make. */
const MAX_ENTRIES = 1_000;
/** First room of a file; it doubles as the file grows, so that writing piece by piece stays linear. */
const FIRST_BYTES = 4_096;

/** What is left; shared by everything below one root. */
interface Budget {
  bytes: number;
  entries: number;
}

/** A root with an empty folder `artifacts`. What is deleted does not make room for more. */
export function createBoundedRoot(maxBytes: number): { readonly root: PreopenDirectory; files(): ArtifactFile[] } {
  const budget: Budget = { bytes: maxBytes, entries: MAX_ENTRIES };
  const artifacts = new BoundedDirectory(new Map(), budget);
  const root = new PreopenDirectory('/', new Map());
  root.dir = new BoundedDirectory(new Map([['artifacts', artifacts]]), budget);
  return {
    root,
    files() {
      // Looked up by name: a script may have put another folder in its place.
      const folder = root.dir.contents.get('artifacts');
      if (!(folder instanceof Directory)) return [];
      return [...folder.contents].flatMap(([name, entry]) =>
        entry instanceof File ? [{ name, bytes: entry.data }] : [],
      );
    },
  };
}

class BoundedDirectory extends Directory {
  readonly #budget: Budget;

  constructor(contents: Map<string, Inode>, budget: Budget) {
    super(contents);
    this.#budget = budget;
  }

  override create_entry_for_path(text: string, isFolder: boolean): { ret: number; entry: Inode | null } {
    if (this.#budget.entries <= 0) return { ret: wasi.ERRNO_NOSPC, entry: null };
    const made = super.create_entry_for_path(text, isFolder);
    if (made.entry === null) return made;
    this.#budget.entries -= 1;
    const entry = isFolder ? new BoundedDirectory(new Map(), this.#budget) : new BoundedFile(this.#budget);
    return replaceEntry(this, made.entry, entry) ? { ret: made.ret, entry } : { ret: wasi.ERRNO_IO, entry: null };
  }
}

/** Puts our entry where the library made one of its own. */
function replaceEntry(root: Directory, old: Inode, entry: BoundedFile | BoundedDirectory): boolean {
  for (const [name, found] of root.contents) {
    if (found === old) {
      root.contents.set(name, entry);
      if (entry instanceof BoundedDirectory) Object.assign(entry, { parent: root });
      return true;
    }
    if (found instanceof Directory && replaceEntry(found, old, entry)) return true;
  }
  return false;
}

class BoundedFile extends File {
  readonly #budget: Budget;

  constructor(budget: Budget) {
    super(new ArrayBuffer(0));
    this.#budget = budget;
  }

  /** Makes the file that long; false when there is no room. */
  resize(size: number): boolean {
    const capacity = this.data.buffer.byteLength;
    if (size > capacity) {
      const wanted = Math.min(Math.max(size, 2 * capacity, FIRST_BYTES), capacity + this.#budget.bytes);
      if (wanted < size) return false;
      this.#budget.bytes -= wanted - capacity;
      const grown = new Uint8Array(wanted);
      grown.set(this.data);
      this.data = grown.subarray(0, size);
      return true;
    }
    const before = this.data.byteLength;
    this.data = new Uint8Array(this.data.buffer, 0, size);
    // Bytes of an earlier, longer content must not show again.
    if (size > before) this.data.fill(0, before);
    return true;
  }

  override path_open(oflags: number, _rights: bigint, flags: number): { ret: number; fd_obj: OpenFile } {
    if ((oflags & wasi.OFLAGS_TRUNC) !== 0) this.resize(0);
    return { ret: wasi.ERRNO_SUCCESS, fd_obj: new OpenBoundedFile(this, (flags & wasi.FDFLAGS_APPEND) !== 0) };
  }
}

class OpenBoundedFile extends OpenFile implements Fd {
  readonly #file: BoundedFile;
  readonly #isAppending: boolean;

  constructor(file: BoundedFile, isAppending: boolean) {
    super(file);
    this.#file = file;
    this.#isAppending = isAppending;
    if (isAppending) this.file_pos = file.size;
  }

  override fd_allocate(offset: bigint, length: bigint): number {
    return this.#reach(Number(offset + length)) ? wasi.ERRNO_SUCCESS : wasi.ERRNO_NOSPC;
  }

  override fd_filestat_set_size(size: bigint): number {
    return this.#file.resize(Number(size)) ? wasi.ERRNO_SUCCESS : wasi.ERRNO_NOSPC;
  }

  override fd_write(data: Uint8Array): { ret: number; nwritten: number } {
    if (this.#isAppending) this.file_pos = this.#file.size;
    const written = this.fd_pwrite(data, this.file_pos);
    this.file_pos += BigInt(written.nwritten);
    return written;
  }

  override fd_pwrite(data: Uint8Array, offset: bigint): { ret: number; nwritten: number } {
    const start = Number(offset);
    if (!this.#reach(start + data.byteLength)) return { ret: wasi.ERRNO_NOSPC, nwritten: 0 };
    this.#file.data.set(data, start);
    return { ret: wasi.ERRNO_SUCCESS, nwritten: data.byteLength };
  }

  /** Makes the file at least that long. */
  #reach(size: number): boolean {
    return size <= this.#file.data.byteLength || this.#file.resize(size);
  }
}
