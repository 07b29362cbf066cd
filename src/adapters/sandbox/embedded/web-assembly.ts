/** WebAssembly as far as it is used here: the types of Node 20 leave out how modules are made. */

/** A compiled module; nothing is ever read of it. */
// biome-ignore lint/complexity/noBannedTypes: the platform's own type has no members either
export type WasmModule = {};

export interface WasmMemory {
  readonly buffer: ArrayBuffer;
}

interface WebAssemblyApi {
  compile(bytes: Uint8Array): Promise<WasmModule>;
  instantiate(
    module: WasmModule,
    imports: Record<string, Record<string, unknown>>,
  ): Promise<{ readonly exports: Record<string, unknown> }>;
  readonly Memory: new (pages: { readonly initial: number; readonly maximum: number }) => WasmMemory;
}

export const webAssembly = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly;
