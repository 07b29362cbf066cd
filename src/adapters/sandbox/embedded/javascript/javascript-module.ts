import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type WasmModule, webAssembly } from '../web-assembly.js';

/** Compiles QuickJS; some 5 ms. Its memory comes from outside, so its bound does, too. */
export async function loadQuickJs(): Promise<WasmModule> {
  const own = createRequire(import.meta.url);
  // The binary belongs to a package that ours depends on, and is found from there.
  const { resolve } = createRequire(own.resolve('quickjs-emscripten'));
  return webAssembly.compile(await readFile(resolve('@jitl/quickjs-wasmfile-release-sync/wasm')));
}
