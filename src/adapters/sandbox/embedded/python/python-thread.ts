/** The thread of a Python interpreter: starts it, waits for one script, runs it, says how it went. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { Ending, ThreadSetup } from '../messages.js';
import { STDERR, STDOUT } from '../output-buffer.js';
import { BROKEN_ENDING, maxEndingLength, readEnding } from '../read-ending.js';
import { createThreadSide } from '../thread-side.js';
import { type WasmMemory, webAssembly } from '../web-assembly.js';
import { createBoundedRoot } from './bounded-folder.js';
import { createWasi, JobInput, Sink, SinkFile } from './interpreter-io.js';

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
