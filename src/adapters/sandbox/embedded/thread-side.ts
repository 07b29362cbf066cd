/** What the threads of all interpreters share: waiting for a job, printing, reporting the end. */
import { type MessagePort, receiveMessageOnPort, type TransferListItem } from 'node:worker_threads';
import { isJsonObject, parseJson } from '../../../json.js';
import { isArtifact, MAX_ARTIFACTS } from '../artifact-rules.js';
import type { CodeLimit } from '../code-runner.js';
import type { ArtifactFile, Ending, Job, Report, ThreadMessage, ThreadSetup } from './messages.js';

/** The thread's connection to the host. */
export interface ThreadSide {
  /** Reports that the interpreter is ready, and blocks until a job arrives. */
  waitForJob(): Job;
  /** Prints; ends the script when there is no room left. */
  print(stream: OutputStream, bytes: Uint8Array): void;
  /** Reports that a limit is exceeded and never returns: the host ends the thread, and no script can catch that. */
  exceed(limit: CodeLimit): never;
  end(ending: Ending, about: { readonly memoryBytes: number; readonly files: readonly ArtifactFile[] }): void;
}

export function createThreadSide(port: MessagePort, setup: ThreadSetup): ThreadSide {
  const signal = new Int32Array(setup.signal);
  const say = (message: ThreadMessage, transfer: readonly TransferListItem[] = []): void =>
    port.postMessage(message, transfer);

  const exceed = (limit: CodeLimit): never => {
    say({ type: 'ended', ending: { type: 'limit', limit }, memoryBytes: 0, artifacts: [] });
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  };

  return {
    waitForJob() {
      say({ type: 'ready' });
      for (;;) {
        Atomics.wait(signal, 0, 0);
        Atomics.store(signal, 0, 0);
        const received = receiveMessageOnPort(port) as { readonly message: Job } | undefined;
        if (received !== undefined) return received.message;
      }
    },
    print(stream, bytes) {
      if (!writeOutput(setup.output, stream, bytes)) exceed('output');
    },
    exceed,
    end(ending, { memoryBytes, files }) {
      const artifacts = files
        .filter(({ name, bytes }) => isArtifact(name, bytes.byteLength))
        .slice(0, MAX_ARTIFACTS)
        // Copies of their own length: what lies behind a file is larger, and is not the host's to have.
        .map(({ name, bytes }) => ({ name, bytes: bytes.slice() }));
      const report: Report = { type: 'ended', ending, memoryBytes, artifacts };
      say(
        report,
        artifacts.map(({ bytes }) => bytes.buffer as ArrayBuffer),
      );
    },
  };
}

/** Characters of a failure's text. */
const MAX_TEXT = 100_000;

/** What stands for an ending that cannot be read. */
export const BROKEN_ENDING: Ending = {
  type: 'raised',
  text: 'The script broke what reports its result.',
  isMemory: false,
};

/** Characters that an ending as JSON may have: escapes of JSON within JSON take up to twice the room. */
export function maxEndingLength(maxResultBytes: number): number {
  return 2 * maxResultBytes + 65_536;
}

/**
 * Reads what an interpreter reported about its end, as JSON; undefined for anything else than an ending.
 *
 * A script can change what makes that text, so it is not trusted.
 */
export function readEnding(report: string, maxResultBytes: number): Ending | undefined {
  const ending = parseJson(report);
  if (!isJsonObject(ending)) return undefined;
  const { type, json, text, code, isMemory, limit } = ending;
  if (type === 'returned' && typeof json === 'string') {
    return json.length > maxResultBytes ? { type: 'limit', limit: 'output' } : { type, json };
  }
  if (type === 'raised' && typeof text === 'string') {
    return { type, text: text.slice(0, MAX_TEXT), isMemory: isMemory === true };
  }
  if (type === 'exited' && typeof code === 'number') return { type, code };
  return type === 'limit' && limit === 'output' ? { type, limit } : undefined;
}

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
function writeOutput(output: SharedArrayBuffer, stream: OutputStream, bytes: Uint8Array): boolean {
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
