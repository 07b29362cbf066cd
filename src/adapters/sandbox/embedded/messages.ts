/** The messages between the host and the thread of an interpreter. */
import type { CodeLimit } from '../code-runner.js';

/** What a thread gets when it starts. */
export interface ThreadSetup {
  /** The interpreter, compiled once for all threads. */
  readonly module: WasmModule;
  /** What the interpreter runs before any script. */
  readonly boot: string;
  /** Bytes that the interpreter may have. */
  readonly maxMemoryBytes: number;
  /** Bytes that the result may have as JSON. */
  readonly maxResultBytes: number;
  /** What the script prints; see {@link createOutputBuffer}. */
  readonly output: SharedArrayBuffer;
  /** An Int32 that becomes 1 when a job was sent; it unblocks the thread. */
  readonly signal: SharedArrayBuffer;
}

/** A script for a thread. */
export interface Job {
  readonly source: string;
  readonly argsJson: string;
}

export interface ArtifactFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** How a script ended, as the thread saw it. */
export type Ending =
  | { readonly type: 'returned'; readonly json: string }
  /** It threw; `text` is for its author. `isMemory` when memory ran out. */
  | { readonly type: 'raised'; readonly text: string; readonly isMemory: boolean }
  | { readonly type: 'exited'; readonly code: number }
  | { readonly type: 'limit'; readonly limit: CodeLimit }
  /** The interpreter itself broke down. */
  | { readonly type: 'crashed'; readonly text: string };

/** The last message of a thread about a job. */
export interface Report {
  readonly type: 'ended';
  readonly ending: Ending;
  readonly memoryBytes: number;
  readonly artifacts: readonly ArtifactFile[];
}

export type ThreadMessage = { readonly type: 'ready' } | Report;

// WebAssembly as far as it is used here: the types of Node 20 leave out how modules are made.

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
