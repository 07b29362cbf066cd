/**
 * The thread of a Python interpreter: starts it, waits for one script, runs it, reports how it ended. Its descriptors all end
 * in this process, and its file system is in memory.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { Directory, Fd, File, Inode, OpenFile, PreopenDirectory, WASI, wasi } from '@bjorn3/browser_wasi_shim';
import { type ArtifactFile, type Ending, type ThreadSetup, type WasmMemory, webAssembly } from '../messages.js';
import { BROKEN_ENDING, createThreadSide, maxEndingLength, readEnding, STDERR, STDOUT } from '../thread-side.js';

/** Gives the job, once; `wait` blocks until it is there. */
class JobInput extends Fd {
  #bytes: Uint8Array | undefined = undefined;
  #at = 0;

  constructor(private readonly wait: () => Uint8Array) {
    super();
  }

  override fd_fdstat_get() {
    return describe(wasi.RIGHTS_FD_READ);
  }

  override fd_read(size: number) {
    this.#bytes ??= this.wait();
    const data = this.#bytes.slice(this.#at, this.#at + size);
    this.#at += data.byteLength;
    return { ret: wasi.ERRNO_SUCCESS, data };
  }
}

/** Hands over everything that is written to it. */
class Sink extends Fd {
  constructor(private readonly take: (bytes: Uint8Array) => void) {
    super();
  }

  override fd_fdstat_get() {
    return describe(wasi.RIGHTS_FD_WRITE);
  }

  override fd_write(data: Uint8Array) {
    this.take(data);
    return { ret: wasi.ERRNO_SUCCESS, nwritten: data.byteLength };
  }
}

/** A file that acts as a {@link Sink} when it is opened; the interpreter accepts no further descriptors. */
class SinkFile extends Inode {
  constructor(private readonly sink: Sink) {
    super();
  }

  override path_open() {
    return { ret: wasi.ERRNO_SUCCESS, fd_obj: this.sink };
  }

  override stat() {
    return new wasi.Filestat(this.ino, wasi.FILETYPE_REGULAR_FILE, 0n);
  }
}

/**
 * WASI that sleeps by the clock that is asked for, and in which sockets and signals are refused.
 *
 * The library's own sleep reads its flags from the wrong offset, spins, and throws where this one refuses.
 */
function createWasi(args: string[], descriptors: Fd[]): WASI {
  const host = new WASI(args, [], descriptors, { debug: false });
  const refuse = (): number => wasi.ERRNO_NOTSUP;
  Object.assign(host.wasiImport, {
    sock_accept: refuse,
    sock_recv: refuse,
    sock_send: refuse,
    sock_shutdown: refuse,
    proc_raise: refuse,
    sched_yield: () => wasi.ERRNO_SUCCESS,
    poll_oneoff: (input: number, output: number, count: number, ready: number) =>
      count === 1 ? sleep(new DataView(host.inst.exports.memory.buffer), { input, output, ready }) : refuse(),
  });
  return host;
}

/** Waits for one clock; the numbers are offsets in WASI's `subscription` and `event`. */
function sleep(memory: DataView, at: { readonly input: number; readonly output: number; readonly ready: number }) {
  const { input, output, ready } = at;
  if (memory.getUint8(input + 8) !== wasi.EVENTTYPE_CLOCK) return wasi.ERRNO_NOTSUP;
  const now = memory.getUint32(input + 16, true) === wasi.CLOCKID_REALTIME ? Date.now() : performance.now();
  const isAbsolute = (memory.getUint16(input + 40, true) & wasi.SUBCLOCKFLAGS_SUBSCRIPTION_CLOCK_ABSTIME) !== 0;
  const ms = Number(memory.getBigUint64(input + 24, true)) / 1e6 - (isAbsolute ? now : 0);
  if (ms > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  memory.setBigUint64(output, memory.getBigUint64(input, true), true);
  memory.setUint16(output + 8, wasi.ERRNO_SUCCESS, true);
  memory.setUint8(output + 10, wasi.EVENTTYPE_CLOCK);
  memory.setUint32(ready, 1, true);
  return wasi.ERRNO_SUCCESS;
}

function describe(rights: number) {
  const fdstat = new wasi.Fdstat(wasi.FILETYPE_CHARACTER_DEVICE, 0);
  fdstat.fs_rights_base = BigInt(rights);
  return { ret: wasi.ERRNO_SUCCESS, fdstat };
}

// The file system that a script sees: folders and files in memory, with a bound on all of them together.

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
function createBoundedRoot(maxBytes: number): { readonly root: PreopenDirectory; files(): ArtifactFile[] } {
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
  constructor(
    contents: Map<string, Inode>,
    private readonly budget: Budget,
  ) {
    super(contents);
  }

  override create_entry_for_path(text: string, isFolder: boolean): { ret: number; entry: Inode | null } {
    if (this.budget.entries <= 0) return { ret: wasi.ERRNO_NOSPC, entry: null };
    const made = super.create_entry_for_path(text, isFolder);
    if (made.entry === null) return made;
    this.budget.entries -= 1;
    const entry = isFolder ? new BoundedDirectory(new Map(), this.budget) : new BoundedFile(this.budget);
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
  constructor(private readonly budget: Budget) {
    super(new ArrayBuffer(0));
  }

  /** Makes the file that long; false when there is no room. */
  resize(size: number): boolean {
    const capacity = this.data.buffer.byteLength;
    if (size > capacity) {
      const wanted = Math.min(Math.max(size, 2 * capacity, FIRST_BYTES), capacity + this.budget.bytes);
      if (wanted < size) return false;
      this.budget.bytes -= wanted - capacity;
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
  constructor(
    override readonly file: BoundedFile,
    private readonly isAppending: boolean,
  ) {
    super(file);
    if (isAppending) this.file_pos = file.size;
  }

  override fd_allocate(offset: bigint, length: bigint): number {
    return this.#reach(Number(offset + length)) ? wasi.ERRNO_SUCCESS : wasi.ERRNO_NOSPC;
  }

  override fd_filestat_set_size(size: bigint): number {
    return this.file.resize(Number(size)) ? wasi.ERRNO_SUCCESS : wasi.ERRNO_NOSPC;
  }

  override fd_write(data: Uint8Array): { ret: number; nwritten: number } {
    if (this.isAppending) this.file_pos = this.file.size;
    const written = this.fd_pwrite(data, this.file_pos);
    this.file_pos += BigInt(written.nwritten);
    return written;
  }

  override fd_pwrite(data: Uint8Array, offset: bigint): { ret: number; nwritten: number } {
    const start = Number(offset);
    if (!this.#reach(start + data.byteLength)) return { ret: wasi.ERRNO_NOSPC, nwritten: 0 };
    this.file.data.set(data, start);
    return { ret: wasi.ERRNO_SUCCESS, nwritten: data.byteLength };
  }

  /** Makes the file at least that long. */
  #reach(size: number): boolean {
    return size <= this.file.data.byteLength || this.file.resize(size);
  }
}

/** Bytes of all files of a script together. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

const setup = workerData as ThreadSetup;
const side = createThreadSide(parentPort as MessagePort, setup);
const { root, files } = createBoundedRoot(MAX_FILE_BYTES);

const parts: Uint8Array[] = [];
const report = { bytes: 0 };
const sink = new Sink((bytes) => {
  report.bytes += bytes.byteLength;
  if (report.bytes > maxEndingLength(setup.maxResultBytes)) side.exceed('output');
  parts.push(bytes);
});
// `boot.py` opens it and takes it away before any script is there.
root.dir.contents.set('report', new SinkFile(sink));
const wasiHost = createWasi(
  ['python', '-I', '-B', '-X', 'utf8', '-c', setup.boot],
  [
    new JobInput(() => {
      const { source, argsJson } = side.waitForJob();
      return new TextEncoder().encode(`{"source":${JSON.stringify(source)},"args":${argsJson}}`);
    }),
    new Sink((bytes) => side.print(STDOUT, bytes)),
    new Sink((bytes) => side.print(STDERR, bytes)),
    root,
  ],
);

const instance = await webAssembly.instantiate(setup.module, {
  wasi_snapshot_preview1: wasiHost.wasiImport,
});
const exports = instance.exports as unknown as { readonly memory: WasmMemory; readonly _start: () => unknown };
const ending = start();
side.end(ending, { memoryBytes: exports.memory.buffer.byteLength, files: files() });

function start(): Ending {
  try {
    const code = wasiHost.start({ exports: exports as never });
    if (parts.length === 0) return { type: 'exited', code };
    return readEnding(Buffer.concat(parts).toString('utf8'), setup.maxResultBytes) ?? BROKEN_ENDING;
  } catch (error) {
    // A trap: the stack or the memory of the interpreter is used up, or it has a bug.
    return { type: 'crashed', text: error instanceof Error ? error.message : String(error) };
  }
}
