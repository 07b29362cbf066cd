/** Jobs in worker threads: what a job is, what runs it, and the thread that does one after another. */
import type { MessagePort, Worker } from 'node:worker_threads';
import type { Observable } from 'rxjs';
import { EngineError, type ErrorCode } from '../errors.js';
import { fromAbortable } from '../operators/from-abortable.js';
import { startThread } from './start-thread.js';

/** What a message may move. Named here, as the types of Node call it differently from version to version. */
export type Transferred = ArrayBuffer | MessagePort;

/** A job for a thread. */
export interface ThreadJob {
  /** URL of the thread's module without its ending; the module calls `answerJobs`. */
  readonly file: URL;
  /**
   * What the work is given, as a structured clone, and what of it is moved instead of copied; called when a thread is free, so that a job
   * that waits holds no copy.
   */
  readonly message: () => { readonly data: unknown; readonly transfer?: readonly Transferred[] };
  /** Milliseconds that the work may take. @default those of the threads */
  readonly timeoutMs?: number;
  /** Whether it may take {@link LARGE} times the time and memory of others. @default false */
  readonly isLarge?: boolean;
  /** The error for a job that cannot be done, and why. */
  readonly unable: (why: string) => Error;
}

/** What runs jobs. */
export interface Threads {
  /**
   * Runs one job in a thread: it cannot block the event loop, has bounded time and memory, and sees nothing of this process.
   *
   * Cold: one subscription is one job; emits the answer once. Unsubscribing ends its thread. Errors: an EngineError of the work as it
   * is; what `unable` gives for any other error, and for work that needs too much time or memory.
   */
  run<T>(job: ThreadJob): Observable<T>;
  /** The same threads, with the share of one tenant. @default all tenants are one */
  readonly forTenant?: (tenant: string) => Threads;
}

/** What one job may take. */
export interface JobLimits {
  /** Milliseconds from when a thread begins with it. */
  readonly timeoutMs: number;
  /** Bytes of objects that live for long in its heap. */
  readonly heapBytes: number;
}

const MIB = 1_048_576;

/**
 * Most articles, documents and workbooks take a tenth of this. With its young objects and its program a thread takes at most 100 MB of the
 * process.
 */
export const JOB_LIMITS: JobLimits = { timeoutMs: 20_000, heapBytes: 64 * MIB };

/** What a large job may take of time and memory, as a multiple of the limits. */
export const LARGE = 4;

/** The limits of a job. */
export function limitsOf({ isLarge = false }: ThreadJob, { timeoutMs, heapBytes }: JobLimits): JobLimits {
  const times = isLarge ? LARGE : 1;
  return { timeoutMs: timeoutMs * times, heapBytes: heapBytes * times };
}

/** Megabytes of young objects, which are beside `heapBytes`, and of the stack. */
const YOUNG_MB = 16;
const STACK_MB = 4;

/** For processes that have no pool: a thread for each job, which ends with it. */
export const threadPerJob: Threads = {
  run: (job) =>
    fromAbortable(async (signal) => {
      const thread = startJobThread(job.file, limitsOf(job, JOB_LIMITS));
      try {
        return await thread.run(job, signal);
      } finally {
        await thread.end();
      }
    }),
};

/** A thread that does one job after another. */
export interface JobThread {
  readonly file: URL;
  readonly limits: JobLimits;
  /** Whether it can do another job. */
  readonly isUsable: boolean;
  /** Jobs that it was given. */
  readonly jobs: number;
  /** Rejects as `Threads.run`, and with the signal's reason; except after an error of the work the thread is not usable then. */
  run<T>(job: ThreadJob, signal: AbortSignal): Promise<T>;
  /** Ends it at once, whatever it does; resolves when it is gone. */
  end(): Promise<void>;
}

/** The answer of a thread. */
export type ThreadAnswer =
  | { readonly value: unknown }
  /** The last one comes from a thread that ends. */
  | { readonly problem: string; readonly isLast?: boolean }
  | {
      readonly error: {
        readonly code: ErrorCode;
        readonly message: string;
        readonly details: unknown;
        readonly retryable: boolean;
      };
    };

/** Starts a thread for jobs; it keeps the process alive only while it works. */
export function startJobThread(file: URL, limits: JobLimits): JobThread {
  const thread = startThread(file, {
    data: undefined,
    limits: {
      maxOldGenerationSizeMb: Math.ceil(limits.heapBytes / MIB),
      maxYoungGenerationSizeMb: YOUNG_MB,
      stackSizeMb: STACK_MB,
    },
  });
  // Parsers may write warnings, which nothing reads.
  thread.stdout.resume();
  thread.stderr.resume();
  thread.unref();
  const gone = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
  const state = { isUsable: true, jobs: 0 };
  const end = async (): Promise<void> => {
    state.isUsable = false;
    await thread.terminate();
    await gone;
  };
  // Of a thread that waits: it is not lent again.
  thread.on('error', () => {
    state.isUsable = false;
  });
  thread.once('exit', () => {
    state.isUsable = false;
  });
  return {
    file,
    limits,
    get isUsable() {
      return state.isUsable;
    },
    get jobs() {
      return state.jobs;
    },
    async run<T>(job: ThreadJob, signal: AbortSignal): Promise<T> {
      signal.throwIfAborted();
      state.jobs += 1;
      thread.ref();
      try {
        const answer = await answerOf(thread, job, limits, signal);
        if ('value' in answer) return answer.value as T;
        if ('problem' in answer) {
          if (answer.isLast === true) state.isUsable = false;
          throw job.unable(answer.problem);
        }
        const { code, message, details, retryable } = answer.error;
        throw new EngineError(code, message, { details, retryable });
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
        state.isUsable = false;
        throw error.thrown;
      } finally {
        thread.unref();
      }
    },
    end,
  };
}

/** A thread that is lost to its job, as opposed to a job that has failed. */
class NoAnswer {
  constructor(readonly thrown: unknown) {}
}

async function answerOf(thread: Worker, job: ThreadJob, limits: JobLimits, signal: AbortSignal): Promise<ThreadAnswer> {
  const { message, timeoutMs = limits.timeoutMs, unable } = job;
  const listening = new AbortController();
  const on = { once: true, signal: listening.signal };
  const { promise, resolve, reject } = deferred<ThreadAnswer>();
  const fail = (thrown: unknown): void => reject(new NoAnswer(thrown));
  const lost = (error: Error & { readonly code?: string }): void => {
    const isTooLarge = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    fail(unable(isTooLarge ? `it takes more than ${limits.heapBytes / MIB} MiB of memory` : error.message));
  };
  const gone = (): void => fail(unable('its thread ended early'));
  const timer = setTimeout(() => fail(unable(`it takes more than ${timeoutMs / 1000} s`)), timeoutMs);
  signal.addEventListener('abort', () => fail(signal.reason), on);
  thread.once('message', resolve).once('messageerror', fail).once('error', lost).once('exit', gone);
  try {
    const { data, transfer = [] } = message();
    thread.postMessage(data, transfer);
    return await promise;
  } finally {
    clearTimeout(timer);
    listening.abort();
    thread.off('message', resolve).off('messageerror', fail).off('error', lost).off('exit', gone);
  }
}

function deferred<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((take, refuse) => {
    resolve = take;
    reject = refuse;
  });
  return { promise, resolve, reject };
}
