import { Observable, type Subscriber } from 'rxjs';
import type { Log } from '../logger.js';
import { PassingMap } from '../passing-values.js';

export interface CancelWatchOptions {
  /** Which of these tasks a cancel is requested for. */
  readonly find: (tasks: readonly string[]) => Promise<readonly string[]>;
  /** How often all tasks are looked up while one is watched; undefined: a task is only looked up when that is asked for. */
  readonly pollMs: number | undefined;
  /** Called whenever a task is watched, and when none has been for a moment. @default nothing */
  readonly listen?: () => void;
  readonly unlisten?: () => void;
  readonly log: Log;
}

/** For how long it is still listened when no task is watched any more. */
const LINGER_MS = 1_000;

/** Tasks in one query. */
const MAX_BATCH = 1_000;

/**
 * Looks up requests to cancel for all tasks that are watched in this process, with one timer and one query at a time.
 *
 * A task is looked up as soon as it is watched, then every `pollMs`. An error is logged once per streak and changes nothing else.
 */
export class CancelWatch {
  readonly #options: CancelWatchOptions;
  readonly #watched = new PassingMap<Subscriber<void>[]>();
  /** Tasks to look up next. */
  readonly #due = new Set<string>();
  #timer: NodeJS.Timeout | undefined = undefined;
  #lingering: NodeJS.Timeout | undefined = undefined;
  #isClosed = false;
  #isLooking = false;
  #isFailing = false;

  constructor(options: CancelWatchOptions) {
    this.#options = options;
  }

  /** Emits once, when a request is found, and completes. @param isNew the task is not looked up at once */
  requestOf(task: string, isNew = false): Observable<void> {
    const { pollMs } = this.#options;
    return new Observable((subscriber) => {
      if (this.#isClosed) {
        subscriber.complete();
        return;
      }
      this.#options.listen?.();
      clearTimeout(this.#lingering);
      let watchers = this.#watched.get(task);
      if (watchers === undefined) {
        watchers = [];
        this.#watched.set(task, watchers);
      }
      watchers.push(subscriber);
      const own = watchers;
      if (!isNew) this.lookAt(task);
      if (pollMs !== undefined) this.#timer ??= setInterval(() => this.lookAtAll(), pollMs);
      return () => {
        own.splice(own.indexOf(subscriber), 1);
        if (own.length === 0 && this.#watched.get(task) === own) this.#watched.delete(task);
        if (this.#watched.size > 0) return;
        clearInterval(this.#timer);
        this.#timer = undefined;
        // The next run begins in a moment.
        this.#lingering = setTimeout(() => this.#options.unlisten?.(), LINGER_MS).unref();
      };
    });
  }

  /** A request was made for a task. */
  found(task: string): void {
    for (const watcher of [...(this.#watched.get(task) ?? [])]) emit(watcher);
  }

  /** Completes for all who watch, or will. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#lingering);
    this.#options.unlisten?.();
    for (const watchers of this.#watched.list()) for (const watcher of [...watchers]) watcher.complete();
  }

  /** Looks up a task now, if it is watched, or as soon as the query that is under way has ended. */
  lookAt(task: string): void {
    if (!this.#watched.has(task)) return;
    this.#due.add(task);
    if (!this.#isLooking) void this.#look();
  }

  /** Looks up every watched task, as `lookAt`. */
  lookAtAll(): void {
    for (const task of this.#watched.keys()) this.lookAt(task);
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    // Tasks that are watched in the same turn are looked up together.
    await Promise.resolve();
    while (this.#due.size > 0) {
      const tasks = [...this.#due];
      this.#due.clear();
      await this.#lookUp(tasks.filter((task) => this.#watched.has(task)));
    }
    this.#isLooking = false;
  }

  async #lookUp(tasks: readonly string[]): Promise<void> {
    try {
      for (let at = 0; at < tasks.length; at += MAX_BATCH) {
        const found = await this.#options.find(tasks.slice(at, at + MAX_BATCH));
        for (const task of found) this.found(task);
      }
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#options.log.warn({ err: error }, 'requests to cancel cannot be looked up');
      this.#isFailing = true;
    }
  }
}

function emit(watcher: Subscriber<void>): void {
  watcher.next();
  watcher.complete();
}
