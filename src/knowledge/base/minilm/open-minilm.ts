import { from } from 'rxjs';
import { EngineError } from '../../../errors.js';
import type { CallOptions } from '../../../models/define-provider.js';
import type { Embedder } from '../../../models/single-answer.js';
import { firstValue } from '../../../operators/from-abortable.js';
import { requireOptions } from '../../../operators/invalid-option.js';
import { type JobThread, startJobThread, type ThreadJob } from '../../../threads/threads.js';
import type { LocalModel } from './local-model.js';
import { loadMiniLm, MINILM_PACKAGES, type MiniLmPackages } from './minilm-packages.js';
import type { MiniLmRequest } from './minilm-thread.js';

/** How MiniLM is opened. */
export interface MiniLmOptions {
  /** Other modules with the same surface. @default those at npm */
  readonly packages?: MiniLmPackages | undefined;
}

/** MiniLM in threads of this process. */
export interface MiniLm extends LocalModel {
  /** Ends its threads; texts that wait are refused. */
  close(): Promise<void>;
}

/** What each kind of text may wait and take, in milliseconds. */
const QUESTION = { timeoutMs: 30_000, idleMs: 10 * 60_000, givesWay: false };
/** A passage takes a second of the processor, which on a machine at work can be minutes. */
const PASSAGE = { timeoutMs: 10 * 60_000, idleMs: 60_000, givesWay: true };

/** Texts that wait for one thread. */
const MAX_WAITING = 256;
/** Of the thread's JavaScript; the model lies beside it, 270 MB while a thread has it. */
const HEAP_BYTES = 128 * 1_048_576;

/**
 * Opens all-MiniLM-L6-v2 from packages that the operator installs: 384 dimensions, 256 tokens, English. It runs in WebAssembly in two threads: one for
 * questions, and one of the lowest priority for passages, so that a question waits for no passage. Each is started by its first text, which takes a
 * second more, and ended when it was idle for 10 minutes, or for one.
 *
 * Gives undefined where the packages are not installed. Errors of its embedders: MODEL_UNAVAILABLE.
 *
 * @throws EngineError CONFIG_INVALID for packages that cannot be loaded.
 */
export async function openMiniLm(options: MiniLmOptions = {}): Promise<MiniLm | undefined> {
  requireOptions('openMiniLm', options, ['packages']);
  const { packages = MINILM_PACKAGES } = options;
  const loaded = await loadMiniLm(packages);
  if (loaded === undefined) return undefined;
  const questions = new ThreadEmbedder(packages, QUESTION);
  const passages = new ThreadEmbedder(packages, PASSAGE);
  return {
    name: `${loaded.weights.id}@local`,
    questions,
    passages,
    async close() {
      await Promise.all([questions.close(), passages.close()]);
    },
  };
}

/** One thread that is given one text at a time. */
class ThreadEmbedder implements Embedder {
  readonly #packages: MiniLmPackages;
  readonly #limits: typeof QUESTION;
  #thread: JobThread | undefined;
  /** Texts, one after the other. */
  #line: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #isClosed = false;
  #idle: NodeJS.Timeout | undefined;

  constructor(packages: MiniLmPackages, limits: typeof QUESTION) {
    this.#packages = packages;
    this.#limits = limits;
  }

  async embed(texts: readonly string[], { signal }: CallOptions = {}): Promise<number[][]> {
    const vectors: number[][] = [];
    for (const text of texts) {
      signal?.throwIfAborted();
      if (this.#waiting >= MAX_WAITING) throw unavailable(`${MAX_WAITING} texts wait for it already`);
      // A text that is not wanted any more is passed over in its turn; one that is at work ends, for its thread takes a second to start.
      vectors.push(await firstValue(from(this.#inTurn(text, signal)), signal));
    }
    return vectors;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#end();
  }

  #inTurn(text: string, signal: AbortSignal | undefined): Promise<number[]> {
    this.#waiting += 1;
    const vector = this.#line.then(async () => {
      try {
        signal?.throwIfAborted();
        return await this.#make(text);
      } finally {
        this.#waiting -= 1;
      }
    });
    this.#line = vector.catch(() => undefined);
    return vector;
  }

  async #make(text: string): Promise<number[]> {
    if (this.#isClosed) throw unavailable('it is closed');
    clearTimeout(this.#idle);
    this.#thread ??= startJobThread(THREAD, { timeoutMs: this.#limits.timeoutMs, heapBytes: HEAP_BYTES });
    const { givesWay } = this.#limits;
    const data: MiniLmRequest = { packages: this.#packages, text, givesWay };
    const job: ThreadJob = { file: THREAD, message: () => ({ data }), unable: unavailable };
    try {
      return await this.#thread.run<number[]>(job, NEVER);
    } finally {
      if (this.#thread?.isUsable === false) await this.#end();
      if (this.#waiting === 1) this.#endWhenIdle();
    }
  }

  #endWhenIdle(): void {
    this.#idle = setTimeout(() => void this.#end(), this.#limits.idleMs);
    this.#idle.unref();
  }

  async #end(): Promise<void> {
    clearTimeout(this.#idle);
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.end();
  }
}

const THREAD = new URL('./minilm-thread', import.meta.url);
const NEVER = new AbortController().signal;

function unavailable(why: string): EngineError {
  return new EngineError('MODEL_UNAVAILABLE', `MiniLM, which runs in this process, gives no vector: ${why}.`, {
    retryable: true,
  });
}
