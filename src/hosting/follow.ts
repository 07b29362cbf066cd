/** How one client follows a run: from the log until it is up to date, then live at its own pace. */
import {
  filter,
  firstValueFrom,
  type MonoTypeOperatorFunction,
  Observable,
  Subject,
  type Subscriber,
  takeUntil,
} from 'rxjs';
import type { RagflowProjection } from '../canvas/ragflow-events.js';
import { EngineError } from '../errors.js';
import { coalesce } from '../operators/coalesce.js';
import type { PassingValues } from '../passing-values.js';
import type { LoggedEvent, RunLog } from '../records/run-log.js';
import type { RunRecord } from '../records/runs.js';
import { type EventFrame, isLastEvent, mergeFrames, storedFrame } from './event-frame.js';
import type { LiveRun } from './live-run.js';

/** Bounds of one reading from the log. */
const PAGE = { maxEvents: 2_048, maxBytes: 512 * 1024 };

export interface FollowOptions {
  readonly log: RunLog;
  readonly tenant: string;
  readonly run: string;
  /** The run, if it runs in this process. */
  readonly findLive: () => LiveRun | undefined;
  /** How events of the log are projected into RAGFlow's format. */
  readonly findProjection: () => Promise<RagflowProjection>;
  /** Whether the client gets every event by itself, however slow it is. @default false */
  readonly isExact?: boolean | undefined;
  /** What is known about the run. */
  readonly findRecord: () => Promise<RunRecord | undefined>;
  /** Emits when there may be something new of a run of another process; an error ends the following. */
  readonly openNotifications: () => Observable<unknown>;
  /** Number of the last event that the client has. */
  readonly after: number;
  /** Whether the client takes frames, its present state first. */
  readonly ready$: Observable<boolean>;
  /** Bytes that may wait for the client once it is up to date. */
  readonly maxQueueBytes: number;
  /** Holds the client for as long as it follows. */
  readonly followers: PassingValues<Following>;
}

/** A client that follows a run. */
export interface Following {
  /** Events of a run of this process that were delivered and not yet sent to it. */
  readonly behind: number;
}

/**
 * The events of a run after a given one: from the log what was, then live what comes, none lost and none twice.
 *
 * ```text
 * log       1 2 3 4
 * live      ----------5-6-|
 * after 1   --2-3-4---5-6-|
 * ```
 *
 * The log is read at the client's pace, a page at a time, so that nothing piles up while it catches up; only then is the client
 * let in among the live ones. A run of another process is followed in its log. Completes with the run. Errors: NOT_FOUND when the log
 * is not stored any more; LIMIT_REACHED when a client that was up to date falls too far behind.
 */
export function follow(options: FollowOptions): Observable<EventFrame> {
  return new Observable((subscriber) => {
    new Follower(options, subscriber).start();
  });
}

class Follower implements Following {
  readonly #options: FollowOptions;
  readonly #subscriber: Subscriber<EventFrame>;
  readonly #gone = new Subject<void>();
  readonly #notifications = new Subject<void>();
  #isListening = false;
  #projection: RagflowProjection | undefined = undefined;
  /** Number of the last event that was sent. */
  #sent: number;

  constructor(options: FollowOptions, subscriber: Subscriber<EventFrame>) {
    this.#options = options;
    this.#subscriber = subscriber;
    this.#sent = options.after;
  }

  get behind(): number {
    const live = this.#options.findLive();
    return live === undefined ? 0 : Math.max(0, live.lastSeq - this.#sent);
  }

  start(): void {
    const { findLive, followers } = this.#options;
    const place = followers.add(this);
    this.#subscriber.add(() => followers.remove(place, this));
    // From the beginning: a client that reads what was is there as well.
    this.#subscriber.add(findLive()?.clients.attach());
    this.#subscriber.add(() => this.#gone.next());
    this.#run().catch((error: unknown) => this.#subscriber.error(error));
  }

  async #run(): Promise<void> {
    const { findLive, ready$ } = this.#options;
    while (!this.#subscriber.closed) {
      const live = findLive();
      // Between this look and the subscription nothing can happen: no event falls in between.
      const missed = live?.publishedAfter(this.#sent);
      if (live !== undefined && missed !== undefined) {
        await this.#joinLive(live, missed);
        if (live.hasEnded) {
          this.#subscriber.complete();
          return;
        }
        // Another process resumes it.
        continue;
      }
      await firstOf(ready$.pipe(filter((isReady) => isReady)), this.#gone);
      if (this.#subscriber.closed) return;
      if (await this.#readPage()) {
        this.#subscriber.complete();
        return;
      }
    }
  }

  /** Sends a page of the log, or waits for more; gives whether that was the end of the run. */
  async #readPage(): Promise<boolean> {
    const { log, tenant, run, findLive, findRecord } = this.#options;
    const live = findLive();
    this.#projection ??= await this.#options.findProjection();
    const page = await log.read(tenant, run, this.#sent, PAGE);
    const last = this.#sendAllButLast(page ?? []);
    if (last === undefined && page !== undefined && page.length > 0) return false;
    // What a live run has delivered was in its log before.
    if (live !== undefined && last === undefined) throw notStored(run);
    if (findLive() !== undefined) return false;
    if ((await findRecord())?.status === 'running') {
      await this.#untilNotified();
      return false;
    }
    return this.#sendEnd();
  }

  /** The last event of a run is delivered once its end is stored, so that a client that answers at once finds it. */
  #sendAllButLast(page: readonly LoggedEvent[]): LoggedEvent | undefined {
    for (const frame of page) {
      if (isLastEvent(frame.event)) return frame;
      this.#subscriber.next(storedFrame(frame, this.#projection as RagflowProjection));
      this.#sent = frame.seq;
    }
    return undefined;
  }

  /** Sends what there is of a run that is over, also what came between the last two looks; gives whether that was all. */
  async #sendEnd(): Promise<boolean> {
    const { log, tenant, run } = this.#options;
    const page = await log.read(tenant, run, this.#sent, PAGE);
    if (page === undefined) throw notStored(run);
    for (const frame of page) {
      this.#subscriber.next(storedFrame(frame, this.#projection as RagflowProjection));
      this.#sent = frame.seq;
    }
    const last = page.at(-1);
    return last === undefined || isLastEvent(last.event);
  }

  /** Resolves when the live run completes, and when the client is gone. */
  #joinLive(live: LiveRun, missed: readonly EventFrame[]): Promise<void> {
    const { ready$, maxQueueBytes: maxBytes, isExact } = this.#options;
    const after = this.#sent;
    // A log may show a page more than was delivered live so far.
    const unseen$ = after > live.lastSeq ? live.frames$.pipe(filter((frame) => frame.seq > after)) : live.frames$;
    return new Promise((resolve) => {
      const presence = live.clients.attach();
      presence.add(
        (missed.length === 0 ? unseen$ : behind(missed, unseen$))
          .pipe(coalesceFrames({ ready$, maxBytes, isExact }))
          .subscribe({
            next: (frame) => {
              this.#sent = frame.seq;
              this.#subscriber.next(frame);
            },
            error: (error: unknown) => this.#subscriber.error(error),
            complete: () => presence.unsubscribe(),
          }),
      );
      presence.add(resolve);
      this.#subscriber.add(presence);
    });
  }

  /** Resolves when there may be something new, and when the client is gone. */
  async #untilNotified(): Promise<void> {
    const next = firstOf(this.#notifications, this.#gone);
    if (!this.#isListening) {
      this.#isListening = true;
      this.#subscriber.add(
        this.#options.openNotifications().subscribe({
          next: () => this.#notifications.next(),
          error: (error: unknown) => this.#subscriber.error(error),
        }),
      );
    }
    await next;
  }
}

/** Given frames, then others; by hand, because there is one for each client, and `concat` makes ten objects. */
function behind(missed: readonly EventFrame[], frames$: Observable<EventFrame>): Observable<EventFrame> {
  return new Observable((subscriber) => {
    for (let at = 0; at < missed.length; at += 1) subscriber.next(missed[at] as EventFrame);
    return frames$.subscribe(subscriber);
  });
}

/** Resolves with the first value, with the end, or when `until$` emits. */
async function firstOf(values$: Observable<unknown>, until$: Observable<void>): Promise<void> {
  await firstValueFrom(values$.pipe(takeUntil(until$)), { defaultValue: undefined });
}

function notStored(run: string): EngineError {
  return new EngineError('NOT_FOUND', `The events of run "${run}" are not stored any more.`);
}

/** How {@link coalesceFrames} waits for one client. */
export interface CoalesceFramesOptions {
  /** Whether the client takes frames. */
  readonly ready$: Observable<boolean>;
  /** The most that may wait for it. */
  readonly maxBytes: number;
  /** Whether the client gets every event by itself. @default false */
  readonly isExact?: boolean | undefined;
}

/**
 * Holds frames back while a client does not take them; neighbouring pieces of one text become one frame.
 *
 * ```text
 * source    --a--b--c--X-----|      (a, b, c: pieces of text; X: anything else)
 * ready$    t---f--------t----
 * result    --a----------(BX)-|     (B: b and c in one frame, numbered as c)
 * ```
 *
 * Errors: LIMIT_REACHED when more than `maxBytes` would wait.
 */
export function coalesceFrames({
  ready$,
  maxBytes,
  isExact = false,
}: CoalesceFramesOptions): MonoTypeOperatorFunction<EventFrame> {
  const merge = isExact ? () => undefined : mergeFrames;
  return coalesce<EventFrame>({ ready$, maxSize: maxBytes, merge, size: sizeOf, overflow: tooSlow });
}

function sizeOf(frame: EventFrame): number {
  return frame.bytes;
}

function tooSlow(waitingBytes: number, maxBytes: number): EngineError {
  return new EngineError(
    'LIMIT_REACHED',
    `The client reads too slowly: ${waitingBytes} bytes would wait for it, at most ${maxBytes} may.`,
  );
}
