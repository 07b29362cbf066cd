import { EngineError } from '../errors.js';
import { fromAbortable } from '../operators/from-abortable.js';
import { invalidOption, requireObject } from '../operators/invalid-option.js';
import { createSlots } from './slots.js';
import {
  JOB_LIMITS,
  type JobLimits,
  type JobThread,
  limitsOf,
  startJobThread,
  type ThreadJob,
  type Threads,
} from './threads.js';

/** How many threads there are, and what each job may take. */
export interface ThreadPoolOptions extends Partial<JobLimits> {
  /** Threads at once, of all tenants together; at least 1. @default 2 */
  readonly maxThreads?: number;
  /** Threads of one tenant at once; at least 1. @default 1 */
  readonly maxThreadsPerTenant?: number;
  /** Jobs that may wait for a thread. @default 512 */
  readonly maxWaiting?: number;
  /** Jobs of one tenant that may wait. @default 64 */
  readonly maxWaitingPerTenant?: number;
  /** Milliseconds after which a thread without a job is ended. @default 10,000 */
  readonly idleMs?: number;
  /** Jobs that one thread does. @default 200 */
  readonly maxJobs?: number;
}

/** Threads of a process, which its owner closes. */
export interface ThreadPool extends Threads {
  readonly forTenant: (tenant: string) => Threads;
  /** Ends all threads; jobs that run, wait or come later are refused. */
  close(): Promise<void>;
}

/**
 * Makes a pool of threads for jobs. None is started before the first job; one that has done its job waits a while for the next one, as
 * starting a thread and its libraries takes longer than most jobs. Tenants take turns.
 *
 * Errors of its jobs are also LIMIT_REACHED (retryable) when too many wait.
 *
 * @throws EngineError OPTION_INVALID.
 */
export function createThreadPool(options: ThreadPoolOptions = {}): ThreadPool {
  requireObject('createThreadPool', 'options', options, 'an object');
  const { maxThreads = 2, maxThreadsPerTenant = 1, maxWaiting = 512, maxWaitingPerTenant = 64 } = options;
  const { idleMs = 10_000, maxJobs = 200, timeoutMs, heapBytes } = { ...JOB_LIMITS, ...options };
  for (const [name, value] of Object.entries({ maxThreads, maxThreadsPerTenant, maxJobs, timeoutMs, heapBytes })) {
    if (!(value >= 1)) throw invalidOption('createThreadPool', name, 'at least 1', value);
  }
  const limits = { timeoutMs, heapBytes };
  const slots = createSlots({
    maxActive: maxThreads,
    maxActivePerTenant: maxThreadsPerTenant,
    maxWaiting,
    maxWaitingPerTenant,
    waiting: (isTenant) => `files and documents ${isTenant ? 'of this tenant ' : ''}wait to be read or written`,
    closed,
  });
  /** The one that waits for the shortest time is the last. */
  const idle: JobThread[] = [];
  const alive = new Set<JobThread>();
  const state = { isClosed: false, timer: undefined as NodeJS.Timeout | undefined };

  const endOf = async (thread: JobThread): Promise<void> => {
    await thread.end();
    alive.delete(thread);
  };
  const take = async (job: ThreadJob): Promise<JobThread> => {
    const own = limitsOf(job, limits);
    clearTimeout(state.timer);
    for (let found = idle.pop(); found !== undefined; found = idle.pop()) {
      if (found.isUsable && found.file.href === job.file.href && found.limits.heapBytes === own.heapBytes) return found;
      await endOf(found);
    }
    if (state.isClosed) throw closed();
    const thread = startJobThread(job.file, own);
    alive.add(thread);
    return thread;
  };
  const giveBack = async (thread: JobThread): Promise<void> => {
    if (thread.isUsable && thread.jobs < maxJobs && !state.isClosed) idle.push(thread);
    else await endOf(thread);
    clearTimeout(state.timer);
    state.timer = setTimeout(expire, idleMs);
    state.timer.unref();
  };
  const expire = (): void => {
    for (const thread of idle.splice(0)) void endOf(thread);
  };

  const threadsOf = (tenant: string) => ({
    run: <T>(job: ThreadJob) =>
      fromAbortable(async (signal): Promise<T> => {
        const release = await slots.take(signal, tenant);
        try {
          const thread = await take(job);
          try {
            return await thread.run<T>(job, signal);
          } finally {
            // Before the slot is free: what a thread holds counts until it is gone.
            await giveBack(thread);
          }
        } finally {
          release();
        }
      }),
    forTenant: threadsOf,
  });
  return {
    ...threadsOf(''),
    async close() {
      state.isClosed = true;
      clearTimeout(state.timer);
      slots.close();
      idle.length = 0;
      await Promise.all([...alive].map(endOf));
    },
  };
}

function closed(): EngineError {
  return new EngineError('LIMIT_REACHED', 'This process is closing; it reads and writes no more files.', {
    retryable: true,
  });
}
