import { filter, firstValueFrom, Observable, Subject, type Subscriber, takeUntil } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { RunLog } from '../../graph/service-ports.js';
import { coalesceFrames } from './coalesce-frames.js';
import type { EventFrame } from './event-frame.js';
import type { LiveRun } from './live-run.js';

/** Bounds of one reading from the log. */
const PAGE = { maxEvents: 512, maxBytes: 512 * 1024 };

export interface FollowOptions {
  readonly log: RunLog;
  readonly tenant: string;
  readonly run: string;
  /** The run, if it is still going on. */
  readonly live: LiveRun | undefined;
  /** Number of the last event that the client has. */
  readonly after: number;
  /** Whether the client takes frames, its present state first. */
  readonly ready$: Observable<boolean>;
  /** Bytes that may wait for the client once it is up to date. */
  readonly maxQueueBytes: number;
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
 * let in among the live ones. Completes with the run. Errors: NOT_FOUND when the log is not kept any more; LIMIT_REACHED
 * when a client that was up to date falls too far behind.
 */
export function follow(options: FollowOptions): Observable<EventFrame> {
  return new Observable((subscriber) => {
    const gone$ = new Subject<void>();
    subscriber.add(options.live?.attach());
    subscriber.add(() => gone$.next());
    catchUp(options, subscriber, gone$).catch((error: unknown) => subscriber.error(error));
  });
}

async function catchUp(
  options: FollowOptions,
  subscriber: Subscriber<EventFrame>,
  gone$: Observable<void>,
): Promise<void> {
  const { log, tenant, run, live } = options;
  let sent = options.after;
  while (!subscriber.closed) {
    // Between this look and the subscription nothing can happen: no event falls in between.
    if (live !== undefined && sent >= live.lastSeq) {
      joinLive(options, live, sent, subscriber);
      return;
    }
    await untilReady(options.ready$, gone$);
    if (subscriber.closed) return;
    const page = await log.read(tenant, run, sent, PAGE);
    if (page === undefined) throw notKept(run);
    if (page.length === 0) {
      subscriber.complete();
      return;
    }
    for (const frame of page) {
      subscriber.next(frame);
      sent = frame.seq;
    }
  }
}

function joinLive(
  { ready$, maxQueueBytes }: FollowOptions,
  live: LiveRun,
  sent: number,
  subscriber: Subscriber<EventFrame>,
): void {
  // A log may show a page more than was shown live so far.
  const unseen$ = sent > live.lastSeq ? live.frames$.pipe(filter((frame) => frame.seq > sent)) : live.frames$;
  subscriber.add(unseen$.pipe(coalesceFrames({ ready$, maxBytes: maxQueueBytes })).subscribe(subscriber));
}

/** Resolves when the client takes frames, and when it is gone. */
async function untilReady(ready$: Observable<boolean>, gone$: Observable<void>): Promise<void> {
  const taken$ = ready$.pipe(
    filter((isReady) => isReady),
    takeUntil(gone$),
  );
  await firstValueFrom(taken$, { defaultValue: false });
}

function notKept(run: string): EngineError {
  return new EngineError('NOT_FOUND', `The events of run "${run}" are not kept any more.`);
}
