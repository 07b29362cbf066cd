/** Streams of a script, by their numbers. */
export const STDOUT = 1;
export const STDERR = 2;
export type OutputStream = typeof STDOUT | typeof STDERR;

const HEADER_BYTES = 8;

/**
 * Memory that both sides see: two counters and the bytes of both streams.
 *
 * Nothing is sent while a script prints, so a flood costs the host nothing, and what was printed survives the thread.
 */
export function createOutputBuffer(maxStreamBytes: number): SharedArrayBuffer {
  return new SharedArrayBuffer(HEADER_BYTES + 2 * maxStreamBytes);
}

/** Adds to a stream as much as there is room for; says whether everything was. */
export function writeOutput(output: SharedArrayBuffer, stream: OutputStream, bytes: Uint8Array): boolean {
  const counters = new Int32Array(output, 0, 2);
  const room = areaOf(output, stream);
  const used = counters[stream - 1] as number;
  const taken = bytes.subarray(0, room.byteLength - used);
  room.set(taken, used);
  Atomics.store(counters, stream - 1, used + taken.byteLength);
  return taken.byteLength === bytes.byteLength;
}

/** What a stream holds, as text. */
export function readOutput(output: SharedArrayBuffer, stream: OutputStream): string {
  const used = Atomics.load(new Int32Array(output, 0, 2), stream - 1);
  // A copy: decoders take no shared memory.
  return new TextDecoder().decode(areaOf(output, stream).slice(0, used));
}

/** Makes both streams empty. */
export function clearOutput(output: SharedArrayBuffer): void {
  new Int32Array(output, 0, 2).fill(0);
}

function areaOf(output: SharedArrayBuffer, stream: OutputStream): Uint8Array {
  const size = (output.byteLength - HEADER_BYTES) / 2;
  return new Uint8Array(output, HEADER_BYTES + (stream - 1) * size, size);
}
