/** What an interpreter reads and writes through: descriptors that lead nowhere but to us. */
import { Fd, Inode, WASI, wasi } from '@bjorn3/browser_wasi_shim';

/** Gives the job, once; `wait` blocks until it is there. */
export class JobInput extends Fd {
  readonly #wait: () => Uint8Array;
  #bytes: Uint8Array | undefined = undefined;
  #at = 0;

  constructor(wait: () => Uint8Array) {
    super();
    this.#wait = wait;
  }

  override fd_fdstat_get() {
    return describe(wasi.RIGHTS_FD_READ);
  }

  override fd_read(size: number) {
    this.#bytes ??= this.#wait();
    const data = this.#bytes.slice(this.#at, this.#at + size);
    this.#at += data.byteLength;
    return { ret: wasi.ERRNO_SUCCESS, data };
  }
}

/** Hands over everything that is written to it. */
export class Sink extends Fd {
  readonly #take: (bytes: Uint8Array) => void;

  constructor(take: (bytes: Uint8Array) => void) {
    super();
    this.#take = take;
  }

  override fd_fdstat_get() {
    return describe(wasi.RIGHTS_FD_WRITE);
  }

  override fd_write(data: Uint8Array) {
    this.#take(data);
    return { ret: wasi.ERRNO_SUCCESS, nwritten: data.byteLength };
  }
}

/** A file that is a {@link Sink} to whoever opens it; the interpreter can be given no more descriptors than it knows of. */
export class SinkFile extends Inode {
  readonly #sink: Sink;

  constructor(sink: Sink) {
    super();
    this.#sink = sink;
  }

  override path_open() {
    return { ret: wasi.ERRNO_SUCCESS, fd_obj: this.#sink };
  }

  override stat() {
    return new wasi.Filestat(this.ino, wasi.FILETYPE_REGULAR_FILE, 0n);
  }
}

/**
 * WASI that sleeps by the clock that is asked for, and in which sockets and signals are refused.
 *
 * The library's own sleeping reads its flags from the wrong place, burns time in a loop, and throws where we refuse.
 */
export function createWasi(args: string[], descriptors: Fd[]): WASI {
  const host = new WASI(args, [], descriptors, { debug: false });
  const refuse = (): number => wasi.ERRNO_NOTSUP;
  Object.assign(host.wasiImport, {
    sock_accept: refuse,
    sock_recv: refuse,
    sock_send: refuse,
    sock_shutdown: refuse,
    proc_raise: refuse,
    sched_yield: () => wasi.ERRNO_SUCCESS,
    poll_oneoff: (input: number, output: number, count: number, told: number) =>
      count === 1 ? sleep(new DataView(host.inst.exports.memory.buffer), { input, output, told }) : refuse(),
  });
  return host;
}

/** Waits for one clock; the numbers are offsets in WASI's `subscription` and `event`. */
function sleep(memory: DataView, at: { readonly input: number; readonly output: number; readonly told: number }) {
  const { input, output, told } = at;
  if (memory.getUint8(input + 8) !== wasi.EVENTTYPE_CLOCK) return wasi.ERRNO_NOTSUP;
  const now = memory.getUint32(input + 16, true) === wasi.CLOCKID_REALTIME ? Date.now() : performance.now();
  const isAbsolute = (memory.getUint16(input + 40, true) & wasi.SUBCLOCKFLAGS_SUBSCRIPTION_CLOCK_ABSTIME) !== 0;
  const ms = Number(memory.getBigUint64(input + 24, true)) / 1e6 - (isAbsolute ? now : 0);
  if (ms > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  memory.setBigUint64(output, memory.getBigUint64(input, true), true);
  memory.setUint16(output + 8, wasi.ERRNO_SUCCESS, true);
  memory.setUint8(output + 10, wasi.EVENTTYPE_CLOCK);
  memory.setUint32(told, 1, true);
  return wasi.ERRNO_SUCCESS;
}

function describe(rights: number) {
  const fdstat = new wasi.Fdstat(wasi.FILETYPE_CHARACTER_DEVICE, 0);
  fdstat.fs_rights_base = BigInt(rights);
  return { ret: wasi.ERRNO_SUCCESS, fdstat };
}
