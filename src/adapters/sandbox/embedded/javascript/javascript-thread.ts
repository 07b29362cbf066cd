/** The thread of JavaScript: one fresh interpreter per script, until the host ends the thread. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import releaseSync from '@jitl/quickjs-wasmfile-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
} from 'quickjs-emscripten-core';
import { isArtifact, MAX_ARTIFACTS } from '../../artifact-rules.js';
import { type ArtifactFile, type Ending, type Job, type ThreadSetup, webAssembly } from '../messages.js';
import {
  BROKEN_ENDING,
  createThreadSide,
  maxEndingLength,
  type OutputStream,
  readEnding,
  STDERR,
  STDOUT,
  type ThreadSide,
} from '../thread-side.js';

/** The package is a module, and its types are those of CommonJS. */
const RELEASE_SYNC = releaseSync as unknown as QuickJSSyncVariant;
const PAGE_BYTES = 65_536;
/** The least that the module asks for. */
const MIN_PAGES = 256;
const STACK_BYTES = 512 * 1024;
/** Longest piece of text that the prelude prints at once, and then some. */
const MAX_PIECE = 65_536;
/** The ending of a script whose ending is longer than any may be. */
const TOO_LONG = '{"type":"limit","limit":"output"}';
/** A script with an `export` of its own is a module; only that can be looked at from outside. */
const IS_MODULE = /^[ \t]*export\s/m;

export interface ScriptRun {
  readonly ending: Ending;
  readonly memoryBytes: number;
  readonly files: readonly ArtifactFile[];
}

/** Runs a script until `main` has settled or nothing is left to do. Waits by blocking: the thread has nothing else to do. */
async function runScript({ source, argsJson }: Job, setup: ThreadSetup, side: ThreadSide): Promise<ScriptRun> {
  const memory = new webAssembly.Memory({
    initial: MIN_PAGES,
    maximum: Math.max(MIN_PAGES, Math.floor(setup.maxMemoryBytes / PAGE_BYTES)),
  });
  const variant = newVariant(RELEASE_SYNC, { wasmModule: setup.module, wasmMemory: memory });
  const runtime = (await newQuickJSWASMModuleFromVariant(variant)).newRuntime();
  // Somewhat less than there is, so that the engine throws before its host has to give up.
  runtime.setMemoryLimit(Math.floor(0.95 * setup.maxMemoryBytes));
  runtime.setMaxStackSize(STACK_BYTES);
  const context = runtime.newContext();
  // Never disposed of: the whole instance is dropped, and taking it apart would trust what the script left behind.
  const api = openPrelude(context, setup, side);
  const report = settle(context, runtime, api, { source, argsJson });
  const ending = typeof report === 'string' ? endingOf(report, setup.maxResultBytes) : report;
  return { ending, memoryBytes: memory.buffer.byteLength, files: filesOf(context, api) };
}

/** The way to the prelude. */
interface Api {
  /** Calls one of its functions. */
  call(name: string, ...args: QuickJSHandle[]): QuickJSHandle;
  /** A text of its; empty for anything else. */
  text(handle: QuickJSHandle): string;
}

/** What the interpreter threw; the message is an {@link Ending} as JSON. */
class ScriptError extends Error {}

function openPrelude(context: QuickJSContext, setup: ThreadSetup, side: ThreadSide): Api {
  const encoder = new TextEncoder();
  const host = context.newObject();
  const write = context.newFunction('write', (stream, text) => {
    if (lengthOf(context, text) > MAX_PIECE) side.exceed('output');
    const to: OutputStream = context.getNumber(stream) === STDERR ? STDERR : STDOUT;
    side.print(to, encoder.encode(context.getString(text)));
  });
  context.setProp(host, 'write', write);
  context.setProp(host, 'maxResultLength', context.newNumber(setup.maxResultBytes));
  const start = context.unwrapResult(context.evalCode(setup.boot, '<sandbox>'));
  const functions = context.unwrapResult(context.callFunction(start, context.undefined, host));
  const call = (name: string, args: readonly QuickJSHandle[]) =>
    context.callFunction(context.getProp(functions, name), context.undefined, ...args);
  const text = (handle: QuickJSHandle): string => {
    const length = lengthOf(context, handle);
    if (length > maxEndingLength(setup.maxResultBytes)) return length === Number.POSITIVE_INFINITY ? '' : TOO_LONG;
    return context.getString(handle);
  };
  return {
    text,
    call(name, ...args) {
      const result = call(name, args);
      if (result.error === undefined) return result.value;
      const failed = call('failed', [result.error]);
      throw new ScriptError(failed.error === undefined ? text(failed.value) : '');
    },
  };
}

/** Gives an {@link Ending}, or the JSON of one that the prelude made. */
function settle(context: QuickJSContext, runtime: QuickJSRuntime, api: Api, job: Job): Ending | string {
  try {
    const script = evaluate(context, api, job.source);
    api.call('start', context.newString(job.argsJson), script);
    for (;;) {
      const stopped = runtime.executePendingJobs();
      if (stopped.error !== undefined) return api.text(api.call('failed', stopped.error));
      const outcome = api.call('outcome');
      if (context.typeof(outcome) === 'string') return api.text(outcome);
      const dueMs = context.getNumber(api.call('due'));
      if (!(dueMs >= 0)) return raised('main() returned a promise that never settles.');
      if (dueMs > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, dueMs);
      api.call('fire');
    }
  } catch (error) {
    if (error instanceof ScriptError) return error.message;
    return { type: 'crashed', text: error instanceof Error ? error.message : String(error) };
  }
}

/** Runs the script itself and gives what it exports or declares. */
function evaluate(context: QuickJSContext, api: Api, source: string): QuickJSHandle {
  const isModule = IS_MODULE.test(source);
  const result = context.evalCode(source, 'main.js', { type: isModule ? 'module' : 'global' });
  if (result.error !== undefined) throw new ScriptError(api.text(api.call('failed', result.error)));
  if (isModule) return result.value;
  // Also a `const main` is seen by a script that comes after.
  const main = context.evalCode("typeof main === 'function' ? main : undefined", '<sandbox>');
  return main.error === undefined ? main.value : context.undefined;
}

/** Files of the right place, as many and as large as may come back. */
function filesOf(context: QuickJSContext, api: Api): ArtifactFile[] {
  const files: ArtifactFile[] = [];
  try {
    const names = api.call('fileNames');
    const count = Math.min(context.getNumber(context.getProp(names, 'length')), 1_000);
    for (let at = 0; at < count && files.length < MAX_ARTIFACTS; at += 1) {
      const path = context.getProp(names, at);
      if (lengthOf(context, path) > 300) continue;
      const { value } = context.getArrayBuffer(api.call('fileBytes', path));
      const name = context.getString(path).slice('artifacts/'.length);
      if (isArtifact(name, value.byteLength)) files.push({ name, bytes: value.slice() });
    }
  } catch {
    // The script broke what lists them, or its memory is used up: then there are none.
  }
  return files;
}

/** Length of a string; infinite for anything else. */
function lengthOf(context: QuickJSContext, handle: QuickJSHandle): number {
  if (context.typeof(handle) !== 'string') return Number.POSITIVE_INFINITY;
  return context.getNumber(context.getProp(handle, 'length'));
}

function endingOf(report: string, maxResultBytes: number): Ending {
  if (report === '') return { type: 'raised', text: 'out of memory', isMemory: true };
  return readEnding(report, maxResultBytes) ?? BROKEN_ENDING;
}

function raised(text: string): Ending {
  return { type: 'raised', text, isMemory: false };
}

const setup = workerData as ThreadSetup;
const side = createThreadSide(parentPort as MessagePort, setup);

for (;;) {
  const job = side.waitForJob();
  const { ending, ...about } = await runScript(job, setup, side);
  side.end(ending, about);
}
