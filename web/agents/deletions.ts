/** Deletions that can still be taken back: each is made after some seconds, or when the page is left. */
import { asyncScheduler, BehaviorSubject, type Observable, type SchedulerLike, type Subscription, timer } from 'rxjs';

/** How long a deletion can be taken back. */
export const UNDO_MS = 8_000;

/** An agent that is to be deleted. */
export interface Deletion {
  readonly id: string;
  readonly title: string;
}

/** A deletion that the server refused. */
export interface FailedDeletion extends Deletion {
  readonly error: unknown;
}

export interface DeletionsOptions {
  /** Carries a deletion out. */
  readonly remove: (id: string) => Promise<unknown>;
  /** @default the time of the browser */
  readonly scheduler?: SchedulerLike;
}

/** Owned by the page of agents, which flushes it when it is left. */
export class Deletions {
  readonly #options: DeletionsOptions;
  readonly #pending$ = new BehaviorSubject<readonly Deletion[]>([]);
  readonly #failures$ = new BehaviorSubject<readonly FailedDeletion[]>([]);
  readonly #timers = new Map<string, Subscription>();

  constructor(options: DeletionsOptions) {
    this.#options = options;
  }

  /** What is shown as deleted and not deleted yet; the newest last. */
  get pending$(): Observable<readonly Deletion[]> {
    return this.#pending$;
  }

  get pending(): readonly Deletion[] {
    return this.#pending$.value;
  }

  /** What could not be deleted, until it is closed. */
  get failures$(): Observable<readonly FailedDeletion[]> {
    return this.#failures$;
  }

  get failures(): readonly FailedDeletion[] {
    return this.#failures$.value;
  }

  add({ id, title }: Deletion): void {
    if (this.pending.some((one) => one.id === id)) return;
    const deletion = { id, title };
    this.#close(id);
    this.#pending$.next([...this.pending, deletion]);
    this.#timers.set(
      id,
      timer(UNDO_MS, this.#options.scheduler ?? asyncScheduler).subscribe(() => void this.#carryOut(deletion)),
    );
  }

  /** Takes back a deletion that is not made yet, and closes the note of one that failed. */
  undo(id: string): void {
    if (this.#timers.has(id)) this.#pending$.next(this.pending.filter((one) => one.id !== id));
    this.#forget(id);
    this.#close(id);
  }

  /** Carries out at once what is pending. */
  flush(): void {
    for (const deletion of this.pending) if (this.#timers.has(deletion.id)) void this.#carryOut(deletion);
  }

  async #carryOut(deletion: Deletion): Promise<void> {
    this.#forget(deletion.id);
    try {
      await this.#options.remove(deletion.id);
    } catch (error) {
      this.#failures$.next([...this.failures, { ...deletion, error }]);
    } finally {
      this.#pending$.next(this.pending.filter((one) => one !== deletion));
    }
  }

  #close(id: string): void {
    this.#failures$.next(this.failures.filter((one) => one.id !== id));
  }

  #forget(id: string): void {
    this.#timers.get(id)?.unsubscribe();
    this.#timers.delete(id);
  }
}
