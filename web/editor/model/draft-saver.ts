/** Saves a draft by itself, a moment behind each edit: never over what others saved, and kept in the tab until the server has it. */
import {
  BehaviorSubject,
  concatMap,
  debounceTime,
  EMPTY,
  filter,
  firstValueFrom,
  from,
  merge,
  type Observable,
  type SchedulerLike,
  Subject,
  type Subscription,
  switchMap,
  timer,
} from 'rxjs';
import { sortKeys } from '../../../src/dsl/json-copy.js';
import type { JsonObject } from '../../../src/json.js';
import { ApiError, type Client } from '../../api/client.js';
import { agentPath } from '../../run/paths.js';
import { forgetDraft, keepDraft } from './kept-draft.js';

/**
 * How a draft stands with the server. `away`: it does not answer; `isKept`: the draft outlives a reload. `conflict`: another one saved
 * meanwhile. `refused`: the server does not take it.
 */
export type SaveState =
  | { readonly is: 'saved'; readonly atMs?: number }
  | { readonly is: 'unsaved' | 'saving' | 'conflict' }
  | { readonly is: 'away'; readonly isKept: boolean }
  | { readonly is: 'refused'; readonly error: unknown };

export interface DraftSaverOptions {
  readonly client: Client;
  readonly agent: string;
  /** `update_time` of what was loaded. */
  readonly updateTime: number;
  readonly storage: Storage;
  /** What is to be stored, as it is now. */
  readonly dsl: () => JsonObject;
  /** Emits when the server may be reached again. @default never */
  readonly wake$?: Observable<unknown>;
  /** @default RxJS's timers */
  readonly scheduler?: SchedulerLike;
  readonly now?: () => number;
}

/** Behind the last edit. */
const SAVE_MS = 800;
/** Behind an edit; a reload within it loses nothing, for the page keeps it when it goes. */
const KEEP_MS = 150;
const RETRY_MS = 3_000;
/** Browsers let a page that goes send 64 KB; a character may be three bytes. */
const MAX_LAST_CHARACTERS = 20_000;

export class DraftSaver {
  readonly #options: DraftSaverOptions;
  readonly #state = new BehaviorSubject<SaveState>({ is: 'saved' });
  readonly #edits = new Subject<void>();
  readonly #now = new Subject<void>();
  #updateTime: number;
  /** Numbers of edits: of the newest one, and of the one that the server has. */
  #edited = 0;
  #stored = 0;
  #subscription: Subscription | undefined = undefined;

  constructor(options: DraftSaverOptions) {
    this.#options = options;
    this.#updateTime = options.updateTime;
  }

  get state$(): Observable<SaveState> {
    return this.#state;
  }

  get state(): SaveState {
    return this.#state.value;
  }

  get updateTime(): number {
    return this.#updateTime;
  }

  /** Begins to save; the function that it gives ends it, when what was typed last is saved or kept. */
  open(): () => Promise<void> {
    const { wake$ = EMPTY, scheduler } = this.#options;
    const again$ = this.#state.pipe(switchMap(({ is }) => (is === 'away' ? timer(RETRY_MS, scheduler) : EMPTY)));
    const wanted$ = merge(this.#edits.pipe(debounceTime(SAVE_MS, scheduler)), this.#now, again$, wake$);
    const subscription = wanted$.pipe(concatMap(() => from(this.#save()))).subscribe();
    subscription.add(this.#edits.pipe(debounceTime(KEEP_MS, scheduler)).subscribe(() => this.keep()));
    this.#subscription = subscription;
    return () => {
      this.keep();
      return this.#save().finally(() => subscription.unsubscribe());
    };
  }

  /** There is something to save. */
  edited(): void {
    this.#edited += 1;
    const { is } = this.state;
    if (is !== 'conflict' && is !== 'away' && is !== 'saving') this.#state.next({ is: 'unsaved' });
    this.#edits.next();
  }

  /** Saves at once; resolves when the server has it, or does not take it. Never rejects. */
  async flush(): Promise<void> {
    if (this.#edited === this.#stored) return;
    const ended = firstValueFrom(this.#state.pipe(filter(({ is }) => is !== 'saving' && is !== 'unsaved')));
    this.#now.next();
    await ended;
  }

  /** Keeps in the tab what the server does not have. */
  keep(): boolean {
    const { storage, agent, dsl } = this.#options;
    if (this.#edited === this.#stored) return true;
    try {
      return keepDraft(storage, agent, { dsl: dsl(), updateTime: this.#updateTime });
    } catch {
      // What cannot be written cannot be kept; saving says why.
      return false;
    }
  }

  /** The page goes: what is not saved is kept, and sent where it is short enough to outlive the page. */
  leave(): void {
    const { client, agent, dsl } = this.#options;
    if (this.#edited === this.#stored || this.state.is === 'conflict' || !this.keep()) return;
    const body = { dsl: dsl(), if_update_time: this.#updateTime };
    if (JSON.stringify(body).length > MAX_LAST_CHARACTERS) return;
    client.call(agentPath(agent), { method: 'PATCH', body, outlivesPage: true }).catch(() => {});
  }

  /** Out of a conflict: what is here takes the place of what was saved elsewhere. */
  async keepMine(): Promise<void> {
    const stored = await this.#read();
    if (stored === undefined) return;
    this.#updateTime = stored.update_time;
    this.#state.next({ is: 'unsaved' });
    this.#now.next();
  }

  /** Out of a conflict: what was typed here is forgotten. The screen has to load the agent anew. */
  giveUp(): void {
    this.#stored = this.#edited;
    forgetDraft(this.#options.storage, this.#options.agent);
  }

  async #save(): Promise<void> {
    const number = this.#edited;
    if (number === this.#stored || this.state.is === 'conflict' || this.#subscription?.closed === true) return;
    const { client, agent, dsl, now = Date.now } = this.#options;
    // An unanswered server is not said to be at work each time it is tried again.
    if (this.state.is !== 'away') this.#state.next({ is: 'saving' });
    try {
      const body = { dsl: dsl(), if_update_time: this.#updateTime };
      const stored = await client.call<{ update_time: number }>(agentPath(agent), { method: 'PATCH', body });
      this.#took(number, stored.update_time);
      this.#state.next(this.#edited === number ? { is: 'saved', atMs: now() } : { is: 'unsaved' });
    } catch (error) {
      await this.#failed(error, number);
    }
  }

  #took(number: number, updateTime: number): void {
    this.#stored = number;
    this.#updateTime = updateTime;
    if (this.#edited === number) forgetDraft(this.#options.storage, this.#options.agent);
  }

  async #failed(error: unknown, number: number): Promise<void> {
    const { status = 0 } = error instanceof ApiError ? error : {};
    if (status === 409 && (await this.#isStoredAlready(number))) return;
    const isKept = this.keep();
    if (status === 409) this.#state.next({ is: 'conflict' });
    else if (status === 0 || status >= 500) this.#state.next({ is: 'away', isKept });
    else this.#state.next({ is: 'refused', error });
  }

  /** The answer to an earlier attempt may have been lost. */
  async #isStoredAlready(number: number): Promise<boolean> {
    const stored = await this.#read();
    if (stored === undefined || !isSameJson(stored.dsl, this.#options.dsl())) return false;
    this.#took(number, stored.update_time);
    this.#state.next({ is: 'saved', atMs: (this.#options.now ?? Date.now)() });
    return true;
  }

  async #read(): Promise<{ readonly dsl: JsonObject; readonly update_time: number } | undefined> {
    const { client, agent } = this.#options;
    return client.call<{ dsl: JsonObject; update_time: number }>(agentPath(agent)).catch((): undefined => undefined);
  }
}

/** Stores may bring keys into another order. */
export function isSameJson(one: JsonObject, other: JsonObject): boolean {
  return JSON.stringify(sortKeys(one)) === JSON.stringify(sortKeys(other));
}
