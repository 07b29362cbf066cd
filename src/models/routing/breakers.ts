/** The breakers of a process: local copies that decide at once, and that are shared with other processes in the background. */
import { map, type Observable, of, race, type SchedulerLike, type Subscription, timer } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { JsonObject } from '../../json.js';
import type { Log } from '../../logger.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import { type BreakerEvent, type BreakerState, breakerStateSchema, NEW_BREAKER, transition } from './breaker.js';
import type { BreakerStore, StoredBreaker } from './breaker-store.js';

/** A copy that is older is read anew before it decides, in milliseconds. */
const FRESH_MS = 1_000;
/** How long a call waits for that, or for the right to probe, in milliseconds; then the copy decides. */
const PATIENCE_MS = 100;
/** How long a store that failed is not asked, in milliseconds. */
const BROKEN_MS = 5_000;
/** Successes are shared together, after so many milliseconds; everything else at once. */
const BATCH_MS = 500;
/** Events that wait for a store, for each breaker; of more the oldest are forgotten. */
const MAX_PENDING = 200;
/** Attempts to store an event while other processes store theirs. */
const MAX_TRIES = 10;

/** What breakers are made with. */
export interface BreakersOptions {
  /** Milliseconds since 1970. @default the time of the scheduler */
  readonly scheduler: SchedulerLike;
  /** Receives when breakers are not shared any more, and when they are again. @default silent */
  readonly log?: Pick<Log, 'warn' | 'info'> | undefined;
  /** Called with the new state when a breaker changes between closed, half-open and open. */
  readonly onChange?: ((name: string, state: BreakerState) => void) | undefined;
}

/** An event without its time, which is that of its arrival. */
type Happened = BreakerEvent extends infer E ? (E extends unknown ? Omit<E, 'at'> : never) : never;

/** What this process knows of one breaker. */
interface Copy {
  readonly name: string;
  /** As the store has it, as far as known, and which version that is. */
  stored: BreakerState;
  version: number;
  /** That, and what the store does not have yet. */
  state: BreakerState;
  pending: BreakerEvent[];
  isSending: boolean;
}

/**
 * The breakers of a process by name. Without a store they are its own, and every function acts at once.
 *
 * With one, an event changes the copy at once and the store soon after; copies are read anew when they are older than a second. While the store
 * is broken each process goes by its own copies, and what happened meanwhile is added when the store is back.
 */
export class Breakers {
  readonly #options: BreakersOptions;
  readonly #copies = new Map<string, Copy>();
  #store: BreakerStore | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  #brokenUntil = 0;
  #isBroken = false;
  #batch: Subscription | undefined;

  constructor(options: BreakersOptions) {
    this.#options = options;
  }

  /** Shares the breakers from now on, over one store at most. */
  share(store: BreakerStore): void {
    this.#store = store;
    this.#readAt = Number.NEGATIVE_INFINITY;
  }

  /** A breaker as this process knows it. */
  of(name: string): BreakerState {
    return this.#copies.get(name)?.state ?? NEW_BREAKER;
  }

  /** Emits once when the copies of these breakers are fresh enough, 100 ms later at the latest; undefined: they are. */
  refreshed(names: readonly string[]): Observable<void> | undefined {
    if (this.#usable() === undefined || this.#now() - this.#readAt < FRESH_MS) return undefined;
    this.#reading ??= this.#read(names).finally(() => {
      this.#reading = undefined;
    });
    return this.#soon(this.#reading, undefined);
  }

  /** Notes what happened now. */
  record(name: string, happened: Happened): void {
    const copy = this.#copyOf(name);
    const event = { ...happened, at: this.#now() } as BreakerEvent;
    const { state } = copy;
    this.#change(copy, transition(state, event));
    if (this.#store === undefined || copy.state === state) return;
    copy.pending.push(event);
    if (copy.pending.length > MAX_PENDING) copy.pending.splice(0, copy.pending.length - MAX_PENDING);
    if (event.type === 'succeeded') this.#sendSoon();
    else void this.#send(copy);
  }

  /** Emits once whether this process may make the probe that is due; of several that ask, one may. */
  claimProbe(name: string): Observable<boolean> {
    const copy = this.#copyOf(name);
    const before = copy.state;
    const event: BreakerEvent = { type: 'probe-begun', at: this.#now() };
    const claimed = transition(before, event);
    const isMine = claimed.phase === 'half-open' && before.phase !== 'half-open';
    if (!isMine) return of(false);
    this.#change(copy, claimed);
    const store = this.#usable();
    if (store === undefined) return of(true);
    return this.#soon(this.#claim(store, copy, claimed), true);
  }

  /** Opens or closes a breaker whatever it is; resolves when that is shared. @throws EngineError STORE_UNAVAILABLE */
  async force(name: string, phase: 'open' | 'closed'): Promise<BreakerState> {
    const event: BreakerEvent = { type: phase === 'open' ? 'forced-open' : 'forced-closed', at: this.#now() };
    const copy = this.#copyOf(name);
    // What was counted before has no say any more.
    copy.pending = [];
    if (this.#store !== undefined) await this.#replace(this.#store, copy, (state) => transition(state, event));
    else this.#change(copy, transition(copy.state, event));
    return copy.state;
  }

  /** Shares nothing any more. */
  close(): void {
    this.#batch?.unsubscribe();
    this.#store = undefined;
  }

  #now(): number {
    return this.#options.scheduler.now();
  }

  #usable(): BreakerStore | undefined {
    return this.#now() < this.#brokenUntil ? undefined : this.#store;
  }

  #copyOf(name: string): Copy {
    let copy = this.#copies.get(name);
    if (copy === undefined) {
      copy = { name, stored: NEW_BREAKER, version: 0, state: NEW_BREAKER, pending: [], isSending: false };
      this.#copies.set(name, copy);
    }
    return copy;
  }

  #change(copy: Copy, state: BreakerState): void {
    const hasMoved = state.phase !== copy.state.phase;
    copy.state = state;
    if (hasMoved) this.#options.onChange?.(copy.name, state);
  }

  /** Goes by what the store has, and by the events that it does not have yet. */
  #follow(copy: Copy): void {
    this.#change(copy, copy.pending.reduce(transition, copy.stored));
  }

  async #read(names: readonly string[]): Promise<void> {
    const store = this.#store;
    if (store === undefined) return;
    try {
      const found = await store.read([...new Set([...names, ...this.#copies.keys()])]);
      this.#readAt = this.#now();
      this.#mended();
      for (const [name, stored] of found) {
        const copy = this.#copyOf(name);
        if (!copy.isSending) {
          take(copy, stored);
          this.#follow(copy);
        }
      }
      for (const copy of this.#copies.values()) void this.#send(copy);
    } catch (error) {
      this.#broken(error);
    }
  }

  #sendSoon(): void {
    if (this.#batch !== undefined && !this.#batch.closed) return;
    this.#batch = timer(BATCH_MS, this.#options.scheduler).subscribe(() => {
      for (const copy of this.#copies.values()) void this.#send(copy);
    });
  }

  async #send(copy: Copy): Promise<void> {
    const store = this.#usable();
    if (copy.isSending || copy.pending.length === 0 || store === undefined) return;
    copy.isSending = true;
    try {
      for (let tries = 0; copy.pending.length > 0 && tries < MAX_TRIES && this.#store === store; tries += 1) {
        const events = [...copy.pending];
        const sent = await this.#tryReplace(store, copy, events.reduce(transition, copy.stored));
        if (!sent) continue;
        copy.pending = copy.pending.filter((event) => !events.includes(event));
        this.#follow(copy);
      }
    } catch (error) {
      this.#broken(error);
    } finally {
      copy.isSending = false;
    }
  }

  async #claim(store: BreakerStore, copy: Copy, claimed: BreakerState): Promise<boolean> {
    try {
      if (await this.#tryReplace(store, copy, claimed)) return true;
      // Another process wrote meanwhile, most likely the same claim.
      this.#follow(copy);
      return false;
    } catch (error) {
      this.#broken(error);
      return true;
    }
  }

  async #replace(store: BreakerStore, copy: Copy, change: (state: BreakerState) => BreakerState): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      if (!(await this.#tryReplace(store, copy, change(copy.stored)))) continue;
      this.#follow(copy);
      return;
    }
  }

  /** Whether it was stored; either way the copy then knows what is. */
  async #tryReplace(store: BreakerStore, copy: Copy, state: BreakerState): Promise<boolean> {
    const json = state as unknown as JsonObject;
    const { isMine, stored } = await store.replace(copy.name, copy.version, json);
    if (isMine) {
      copy.stored = state;
      copy.version = stored.version;
    } else take(copy, stored);
    return isMine;
  }

  #soon<T>(work: Promise<T>, late: T): Observable<T> {
    const late$ = timer(PATIENCE_MS, this.#options.scheduler).pipe(
      map(() => {
        // The next requests do not wait as long again.
        this.#broken(new EngineError('STORE_UNAVAILABLE', `There was no answer within ${PATIENCE_MS} ms.`));
        return late;
      }),
    );
    return race(
      fromAbortable(() => work),
      late$,
    );
  }

  #broken(error: unknown): void {
    this.#brokenUntil = this.#now() + BROKEN_MS;
    if (!this.#isBroken) this.#options.log?.warn({ err: error }, 'breakers of models are not shared for now');
    this.#isBroken = true;
  }

  #mended(): void {
    if (this.#isBroken) this.#options.log?.info({}, 'breakers of models are shared again');
    this.#isBroken = false;
  }
}

function take(copy: Copy, { version, state }: StoredBreaker): void {
  const parsed = breakerStateSchema.safeParse(state);
  copy.version = version;
  copy.stored = parsed.success ? parsed.data : NEW_BREAKER;
}
