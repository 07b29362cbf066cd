/** What the threads of all interpreters share: waiting for a job, printing, saying how it went. */
import { type MessagePort, receiveMessageOnPort, type TransferListItem } from 'node:worker_threads';
import { isArtifact, MAX_ARTIFACTS } from '../artifact-rules.js';
import type { CodeLimit } from '../code-runner.js';
import type { ArtifactFile, Ending, Job, Report, ThreadMessage, ThreadSetup } from './messages.js';
import { type OutputStream, writeOutput } from './output-buffer.js';

/** One thread's way to the host. */
export interface ThreadSide {
  /** Says that the interpreter is up, and blocks until a job comes. */
  waitForJob(): Job;
  /** Prints; ends the script when there is no room left. */
  print(stream: OutputStream, bytes: Uint8Array): void;
  /** Says that a limit is exceeded and never returns: the host ends the thread, and no script can catch that. */
  exceed(limit: CodeLimit): never;
  end(ending: Ending, about: { readonly memoryBytes: number; readonly files: readonly ArtifactFile[] }): void;
}

export function createThreadSide(port: MessagePort, setup: ThreadSetup): ThreadSide {
  const wake = new Int32Array(setup.wake);
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
        Atomics.wait(wake, 0, 0);
        Atomics.store(wake, 0, 0);
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
