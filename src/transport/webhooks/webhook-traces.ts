import { createHmac, randomBytes } from 'node:crypto';
import type { JsonObject } from '../../json.js';
import { sameSecret } from '../access/callers.js';

/** How long a trial call is remembered after it began. */
const KEPT_MS = 600_000;

const MAX_CALLS = 1_000;
const MAX_EVENTS = 1_000;

/** Characters of all events of one call, and of all calls; then calls are forgotten, the oldest first. */
const MAX_CALL_SIZE = 8 * 1024 * 1024;
const MAX_SIZE = 64 * 1024 * 1024;

/** The least that two times differ, in seconds; a double distinguishes them for centuries. */
const TICK = 0.000_001;

/** An event of a trial call; `ts` is when it came, in seconds since 1970. */
export type TracedEvent = JsonObject & { readonly ts: number };

/** A running trial call. */
export interface OpenTrace {
  add(event: JsonObject): void;
  /** Marks the end of the call. */
  end(success: boolean): void;
}

/** What a page that watches trial calls gets. */
export interface TracePage {
  readonly webhook_id: string | null;
  readonly events: readonly TracedEvent[];
  readonly next_since_ts: number;
  readonly finished: boolean;
}

interface Call {
  readonly owner: string;
  readonly id: string;
  /** Seconds since 1970, unlike that of any other call. */
  readonly startedAt: number;
  readonly events: TracedEvent[];
  /** Characters of the events. */
  size: number;
  hasEnded: boolean;
}

/** Trial calls of webhooks, for the page that their author watches: the newest, in this process alone. */
export class WebhookTraces {
  readonly #now: () => number;
  /** Makes the names of calls unguessable from their times. */
  readonly #secret = randomBytes(32);
  /** Oldest first. */
  #calls: Call[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  begin(owner: string): OpenTrace {
    const startedAt = this.#nextTime();
    const id = createHmac('sha256', this.#secret).update(String(startedAt)).digest('base64url');
    const call: Call = { owner, id, startedAt, events: [], size: 0, hasEnded: false };
    this.#forget();
    this.#calls.push(call);
    const add = (event: JsonObject): void => {
      if (!this.#calls.includes(call)) return;
      const size = JSON.stringify(event).length;
      const isFull = call.events.length >= MAX_EVENTS || call.size + size > MAX_CALL_SIZE;
      // The end is always stored: watching clients wait for it.
      if (isFull && event.event !== 'finished') return;
      call.size += size;
      // No two events at one time: a poll for what is newer than the last one would miss the other.
      const last = call.events.at(-1)?.ts ?? startedAt;
      call.events.push({ ts: Math.max(this.#seconds(), last + TICK), ...event });
      this.#forget();
    };
    return {
      add,
      end: (success) => {
        if (call.hasEnded) return;
        call.hasEnded = true;
        add({ event: 'finished', elapsed_time: this.#seconds() - startedAt, success });
      },
    };
  }

  /**
   * What is new: without `since` only the time to ask with; with it the first call that began later; with its id what came in
   * that call.
   */
  poll(owner: string, since: number | undefined, id: string | undefined): TracePage {
    this.#forget();
    if (since === undefined) return { webhook_id: null, events: [], next_since_ts: this.#seconds(), finished: false };
    const own = this.#calls.filter((call) => call.owner === owner);
    if (id === undefined) {
      const call = own.find(({ startedAt }) => startedAt > since);
      return { webhook_id: call?.id ?? null, events: [], next_since_ts: call?.startedAt ?? since, finished: false };
    }
    const call = own.find((candidate) => sameSecret(candidate.id, id));
    if (call === undefined) return { webhook_id: id, events: [], next_since_ts: since, finished: true };
    const events = call.events.filter(({ ts }) => ts > since);
    return { webhook_id: id, events, next_since_ts: events.at(-1)?.ts ?? since, finished: call.hasEnded };
  }

  #seconds(): number {
    return this.#now() / 1000;
  }

  /** Calls within one millisecond still differ. */
  #nextTime(): number {
    const last = this.#calls.at(-1)?.startedAt ?? 0;
    return Math.max(this.#seconds(), last) + TICK;
  }

  #forget(): void {
    const oldest = this.#seconds() - KEPT_MS / 1000;
    const young = this.#calls.filter(({ startedAt }) => startedAt > oldest).slice(-MAX_CALLS + 1);
    let size = 0;
    const tooMuch = young.findLastIndex((call) => {
      size += call.size;
      return size > MAX_SIZE;
    });
    this.#calls = young.slice(tooMuch + 1);
  }
}
