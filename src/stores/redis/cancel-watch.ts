import type { Subscriber } from 'rxjs';
import type { Commands } from './commands.js';
import type { StoreLog } from './connection.js';
import { cancelKey } from './keys.js';

/** How often flags are looked at, as in RAGFlow. */
const POLL_MS = 500;

/** Flags asked for in one command. */
const ASKED_AT_ONCE = 1_000;

/**
 * Looks at the cancel flags of all tasks that are watched in this process, however many, with one timer.
 *
 * A task is looked at as soon as it is watched, then every 500 ms. An error is reported once per streak and changes nothing else.
 */
export class CancelWatch {
  readonly #commands: Commands;
  readonly #log: StoreLog;
  readonly #watchers = new Map<string, Set<Subscriber<void>>>();
  /** Tasks that were not looked at yet. */
  #fresh: string[] = [];
  #timer: NodeJS.Timeout | undefined = undefined;
  #isFailing = false;

  constructor(commands: Commands, log: StoreLog) {
    this.#commands = commands;
    this.#log = log;
  }

  get isIdle(): boolean {
    return this.#watchers.size === 0;
  }

  add(task: string, watcher: Subscriber<void>): void {
    const watchers = this.#watchers.get(task);
    if (watchers === undefined) this.#watchers.set(task, new Set([watcher]));
    else watchers.add(watcher);
    this.#fresh.push(task);
    // Runs that begin together are asked for together.
    if (this.#fresh.length === 1) queueMicrotask(() => void this.#lookAtFresh());
    this.#timer ??= setTimeout(() => void this.#tick(), POLL_MS);
  }

  remove(task: string, watcher: Subscriber<void>): void {
    const watchers = this.#watchers.get(task);
    if (!watchers?.delete(watcher) || watchers.size > 0) return;
    this.#watchers.delete(task);
    if (!this.isIdle) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Looks at the flag of a task now, if it is watched; never rejects. */
  async lookAt(task: string): Promise<void> {
    if (this.#watchers.has(task)) await this.#look([task]);
  }

  /** Looks at every flag now; never rejects. */
  async lookAtAll(): Promise<void> {
    await this.#look([...this.#watchers.keys()]);
  }

  async #lookAtFresh(): Promise<void> {
    const tasks = this.#fresh;
    this.#fresh = [];
    await this.#look(tasks.filter((task) => this.#watchers.has(task)));
  }

  async #tick(): Promise<void> {
    const startedAt = performance.now();
    const timer = this.#timer;
    await this.lookAtAll();
    // Meanwhile the last watcher may have gone, and another may have come and started anew.
    if (this.#timer !== timer) return;
    this.#timer = setTimeout(() => void this.#tick(), Math.max(0, POLL_MS - (performance.now() - startedAt)));
  }

  async #look(tasks: readonly string[]): Promise<void> {
    try {
      for (let at = 0; at < tasks.length; at += ASKED_AT_ONCE) {
        const some = tasks.slice(at, at + ASKED_AT_ONCE);
        const flags = (await this.#commands.send('MGET', some.map(cancelKey))) as readonly (string | null)[];
        for (const [index, task] of some.entries()) {
          if (flags[index]) this.#cancelled(task);
        }
      }
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#log.warn({ err: error }, 'requests to cancel cannot be looked at; trying again');
      this.#isFailing = true;
    }
  }

  #cancelled(task: string): void {
    for (const watcher of [...(this.#watchers.get(task) ?? [])]) {
      watcher.next();
      watcher.complete();
    }
  }
}
