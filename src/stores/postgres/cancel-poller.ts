import { Observable } from 'rxjs';
import type { Database } from './database.js';
import type { DatabaseLog } from './database-log.js';

export interface CancelPollerOptions {
  /** Pause between looks; without it there is one look per subscription. */
  readonly pollMs: number | undefined;
  readonly log: DatabaseLog;
}

/** Looks for cancel requests of all watched tasks, with one query at a time. */
export class CancelPoller {
  readonly #database: Database;
  readonly #options: CancelPollerOptions;
  readonly #watched = new Map<string, Set<() => void>>();
  #timer: NodeJS.Timeout | undefined = undefined;
  #isLooking = false;
  #mustLookAgain = false;
  #hasFailed = false;

  constructor(database: Database, options: CancelPollerOptions) {
    this.#database = database;
    this.#options = options;
  }

  /** Emits when a request is found, perhaps more than once. */
  requestsOf(task: string): Observable<void> {
    return new Observable((subscriber) => {
      const found = () => subscriber.next();
      const watchers = this.#watched.get(task) ?? new Set();
      this.#watched.set(task, watchers.add(found));
      this.look();
      return () => {
        watchers.delete(found);
        if (watchers.size === 0 && this.#watched.get(task) === watchers) this.#watched.delete(task);
        if (this.#watched.size === 0) this.close();
      };
    });
  }

  /** Looks now, if this task is watched. */
  lookFor(task: string): void {
    if (this.#watched.has(task)) this.look();
  }

  /** Looks now, or as soon as the present look is over. */
  look(): void {
    this.#mustLookAgain = true;
    if (!this.#isLooking) void this.#lookWhileAsked();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #lookWhileAsked(): Promise<void> {
    this.#isLooking = true;
    this.close();
    while (this.#mustLookAgain) {
      this.#mustLookAgain = false;
      await this.#lookOnce();
    }
    this.#isLooking = false;
    const { pollMs } = this.#options;
    if (pollMs !== undefined && this.#watched.size > 0) this.#timer = setTimeout(() => this.look(), pollMs);
  }

  async #lookOnce(): Promise<void> {
    const tasks = JSON.stringify([...this.#watched.keys()]);
    if (tasks === '[]') return;
    try {
      const rows = await this.#database.repeat(
        (sql) => sql<{ task: string }[]>`
          select task from runnel.cancels
          where task in (select json_array_elements_text(${tasks}::json))
          and requested_at > clock_timestamp() - interval '24 hours'`,
      );
      this.#hasFailed = false;
      for (const { task } of rows) for (const found of [...(this.#watched.get(task) ?? [])]) found();
    } catch (error) {
      if (!this.#hasFailed) this.#options.log.warn({ err: error }, 'cancel requests could not be looked up');
      this.#hasFailed = true;
      // Without a next time, this one has to succeed.
      if (this.#options.pollMs === undefined) this.#mustLookAgain = false;
    }
  }
}
