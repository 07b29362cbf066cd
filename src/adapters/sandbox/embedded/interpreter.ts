/** The host's side of interpreters: one in its thread, and spares that are kept ready. */
import type { Worker } from 'node:worker_threads';
import { noop } from 'rxjs';
import { EngineError } from '../../../errors.js';
import { within } from '../../../operators/within.js';
import { startThread } from '../../../threads/start-thread.js';
import type { Job, Report, ThreadMessage, ThreadSetup } from './messages.js';
import { clearOutput, createOutputBuffer, readOutput, STDERR, STDOUT } from './thread-side.js';

/** What came of a job. */
export interface JobEnd {
  /** Absent when the time was up. */
  readonly report: Report | undefined;
  readonly stdout: string;
  readonly stderr: string;
  readonly timeUsedMs: number;
}

/** An interpreter in a thread of its own. */
export interface Interpreter {
  /**
   * Runs a job as soon as the interpreter is up; the time counts from there.
   *
   * @throws EngineError SANDBOX_FAILED when the thread cannot start, or was ended by {@link Interpreter.kill}.
   */
  run(job: Job, timeoutMs: number): Promise<JobEnd>;
  /** Resolves when it waits for a job; rejects like `run`. */
  readonly ready: Promise<void>;
  /** Number of jobs that it was given. */
  readonly jobs: number;
  readonly isDead: boolean;
  /** Ends the thread at once, whatever it does; resolves when it is gone. */
  kill(): Promise<void>;
}

export interface InterpreterOptions extends Omit<ThreadSetup, 'output' | 'signal'> {
  /** URL of the thread's module without its ending. */
  readonly file: URL;
  /** Bytes that a script may print to each stream. */
  readonly maxOutputBytes: number;
}

/** Milliseconds in which an interpreter has to be up; it takes less than one second of a quiet machine. */
const START_MS = 60_000;

/** Megabytes of JavaScript heap of a thread; the interpreter's memory is beside it and bounded by itself. */
const HEAP = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };

/** Starts an interpreter; it keeps the process alive only while it works. */
export function startInterpreter({ file, maxOutputBytes, ...rest }: InterpreterOptions): Interpreter {
  const output = createOutputBuffer(maxOutputBytes);
  const signal = new Int32Array(new SharedArrayBuffer(4));
  const setup: ThreadSetup = { ...rest, output, signal: signal.buffer as SharedArrayBuffer };
  const worker = startThread(file, { data: setup, limits: HEAP });
  worker.unref();
  const death = deathOf(worker);
  const state = { jobs: 0, isDead: false };
  const gone = death.then(() => {
    state.isDead = true;
  });
  const next = (type: ThreadMessage['type']): Promise<ThreadMessage> => nextMessage(worker, type, death);
  const ready = next('ready').then(noop);
  // A caller gets the rejection; that of an unused spare must not end the process.
  ready.catch(noop);

  return {
    ready,
    get jobs() {
      return state.jobs;
    },
    get isDead() {
      return state.isDead;
    },
    async run(job, timeoutMs) {
      state.jobs += 1;
      worker.ref();
      if (state.jobs === 1) await inTime(ready);
      clearOutput(output);
      const ended = next('ended') as Promise<Report>;
      const startedAt = performance.now();
      worker.postMessage(job);
      Atomics.store(signal, 0, 1);
      Atomics.notify(signal, 0);
      const report = await within(timeoutMs, ended, undefined);
      const timeUsedMs = performance.now() - startedAt;
      worker.unref();
      return { report, timeUsedMs, stdout: readOutput(output, STDOUT), stderr: readOutput(output, STDERR) };
    },
    async kill() {
      state.isDead = true;
      await worker.terminate();
      await gone;
    },
  };
}

/** Resolves with why, when the thread has ended. */
function deathOf(worker: Worker): Promise<unknown> {
  return new Promise((resolve) => {
    worker.once('error', resolve);
    worker.once('exit', (code) => resolve(new Error(`its thread ended with ${code}`)));
  });
}

function nextMessage(worker: Worker, type: ThreadMessage['type'], death: Promise<unknown>): Promise<ThreadMessage> {
  return new Promise((resolve, reject) => {
    const take = (message: ThreadMessage): void => {
      if (message.type !== type) return;
      worker.off('message', take);
      resolve(message);
    };
    worker.on('message', take);
    death.then((why) => {
      worker.off('message', take);
      if (isOutOfMemory(why)) resolve(OUT_OF_MEMORY);
      else reject(lost(why));
    }, reject);
  });
}

/** The thread's own heap, which holds what a script makes the host keep for it, such as names of files. */
const OUT_OF_MEMORY: Report = {
  type: 'ended',
  ending: { type: 'limit', limit: 'memory' },
  memoryBytes: 0,
  artifacts: [],
};

function isOutOfMemory(why: unknown): boolean {
  return why instanceof Error && 'code' in why && why.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

function lost(why: unknown): EngineError {
  const message = why instanceof Error ? why.message : String(why);
  return new EngineError('SANDBOX_FAILED', `The sandbox could not run the script: ${message}.`, { cause: why });
}

/** An interpreter that does not start is a fault of this program or an overloaded machine, never of the script. */
async function inTime(ready: Promise<void>): Promise<void> {
  const late = await within(START_MS, ready, 'late');
  if (late === 'late') throw lost(new Error(`its interpreter did not start within ${START_MS / 1000} seconds`));
}

export interface InterpreterPoolOptions {
  readonly start: () => Promise<Interpreter>;
  /** Interpreters that are kept ready for the next script; none before the first one. */
  readonly maxSpares: number;
  /** Scripts that one interpreter may run. */
  readonly maxJobs: number;
  /** Milliseconds after which unused spares are closed. */
  readonly idleMs: number;
}

/** Interpreters of one language, some of them ready before they are needed. */
export type InterpreterPool = ReturnType<typeof createInterpreterPool>;

/** Keeps interpreters; every one that it ever started is either lent, a spare, or ended. */
export function createInterpreterPool(options: InterpreterPoolOptions) {
  const { start, maxSpares, maxJobs, idleMs } = options;
  const alive = new Set<Interpreter>();
  const spares: Interpreter[] = [];
  const state = { isClosed: false, starting: 0, idle: undefined as NodeJS.Timeout | undefined };

  const launch = async (): Promise<Interpreter> => {
    const interpreter = await start();
    alive.add(interpreter);
    if (state.isClosed) await discard(interpreter);
    return interpreter;
  };

  const discard = async (interpreter: Interpreter): Promise<void> => {
    alive.delete(interpreter);
    await interpreter.kill();
  };

  const addSpare = (interpreter: Interpreter): void => {
    if (state.isClosed || interpreter.isDead || interpreter.jobs >= maxJobs || spares.length >= maxSpares) {
      void discard(interpreter);
    } else {
      spares.push(interpreter);
    }
  };

  const refill = async (): Promise<void> => {
    if (state.isClosed || spares.length + state.starting >= maxSpares) return;
    state.starting += 1;
    try {
      addSpare(await launch());
    } catch {
      // The next script finds no spare, starts one itself, and gets the error.
    } finally {
      state.starting -= 1;
    }
  };

  const expire = (): void => {
    for (const spare of spares.splice(0)) void discard(spare);
  };

  const touch = (): void => {
    clearTimeout(state.idle);
    state.idle = setTimeout(expire, idleMs);
    state.idle.unref();
  };

  return {
    /** A fresh one or a spare; it belongs to the caller until it is given back or killed. */
    async take(): Promise<Interpreter> {
      touch();
      for (let spare = spares.pop(); spare !== undefined; spare = spares.pop()) {
        if (spare.isDead) {
          alive.delete(spare);
          continue;
        }
        // A returned interpreter would find its place taken.
        if (maxJobs === 1) void refill();
        return spare;
      }
      return launch();
    },
    /** Takes back one whose script ended by itself, or ends it. */
    giveBack(interpreter: Interpreter): void {
      touch();
      addSpare(interpreter);
      void refill();
    },
    /** Ends one that must not run again. */
    async discard(interpreter: Interpreter): Promise<void> {
      touch();
      void refill();
      await discard(interpreter);
    },
    async close(): Promise<void> {
      state.isClosed = true;
      clearTimeout(state.idle);
      spares.length = 0;
      await Promise.all([...alive].map(discard));
    },
  };
}
