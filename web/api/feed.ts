/** The events of one run as a stream that outlives its connections. */
import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  ignoreElements,
  NEVER,
  type Observable,
  of,
  race,
  retry,
  type SchedulerLike,
  Subject,
  take,
  takeWhile,
  throwError,
  timer,
} from 'rxjs';
import type { RunEvent } from '../../src/graph/events.js';

/** How a feed stands with the server. `lost`: the connection broke, and the next one is tried after `pauseMs`. */
export type LinkState =
  | { readonly is: 'connecting' }
  | { readonly is: 'live' }
  | { readonly is: 'lost'; readonly tries: number; readonly pauseMs: number }
  /** The last event came. */
  | { readonly is: 'ended' };

/** What a feed says: events that came together, each once and in order, or how it stands with the server. */
export type FeedNews =
  | { readonly type: 'events'; readonly events: readonly RunEvent[] }
  | { readonly type: 'link'; readonly link: LinkState };

/** What a connection says: that it stands, or events that came together. */
export type LinkNews = { readonly type: 'open' } | Extract<FeedNews, { readonly type: 'events' }>;

/**
 * Opens a connection that gives the events behind `after`; unsubscribing closes it. `seen$` are numbers of events that were taken.
 *
 * It completes when the server has nothing more to say, fails with {@link Refusal} when asking again is of no use, and with anything else
 * when it was lost.
 */
export type OpenLink = (after: number, seen$: Observable<number>) => Observable<LinkNews>;

/** The server will not give these events, whenever it is asked. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** Settings of {@link feed}. */
export interface FeedOptions {
  /** Number of the last event that is known. @default 0 */
  readonly after?: number;
  /** Emits when it is worth trying at once, such as when the device is online again. @default never */
  readonly wake$?: Observable<unknown>;
  /** Gives numbers from 0 to 1, which spread the tries of many pages. @default Math.random */
  readonly random?: () => number;
  /** @default RxJS's timers */
  readonly scheduler?: SchedulerLike;
}

/** The first pause, which doubles with each try, and the longest, in milliseconds. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;

/** How often a missing number is asked for again before what comes behind it is taken without it. */
const MAX_ASKED_AGAIN = 3;

/** Asks at once again: the numbers say that something is missing. */
class Missing extends Error {}

/** Says that the next connection is to be opened. */
class Again extends Error {}

/**
 * Events of a run from the first link that works, each once and in order, to the last of the run.
 *
 * What came before is dropped, what is missing is asked for again. A lost connection is said, and tried again from the last number seen,
 * after pauses that grow to 10 s and vary by half. A link that breaks before it stands leaves the next try to the other ones.
 *
 * @throws Refusal as an error of the stream.
 */
export function feed(links: readonly OpenLink[], options: FeedOptions = {}): Observable<FeedNews> {
  return defer(() => new FeedState(links, options).news$);
}

const says = (link: LinkState): FeedNews => ({ type: 'link', link });

/** One subscription of a feed. */
class FeedState {
  readonly #links: readonly OpenLink[];
  readonly #options: FeedOptions;
  readonly #seen = new Subject<number>();
  #last: number;
  #link = 0;
  #tries = 0;
  #isOpen = false;
  /** How often something was missing behind the last event. */
  #asked = 0;
  #isOver = false;

  constructor(links: readonly OpenLink[], options: FeedOptions) {
    this.#links = links;
    this.#options = options;
    this.#last = options.after ?? 0;
  }

  /** One connection after another. */
  get news$(): Observable<FeedNews> {
    const connection$ = defer(() => this.#connect());
    return connection$.pipe(
      retry({ delay: (error: unknown) => (error instanceof Again ? of(true) : throwError(() => error)) }),
    );
  }

  #connect(): Observable<FeedNews> {
    this.#isOpen = false;
    const open = this.#links[this.#link % this.#links.length] as OpenLink;
    const news$ = concat(
      defer(() => open(this.#last, this.#seen)),
      defer(() => this.#endedEarly()),
    );
    const taken$ = news$.pipe(
      concatMap((news) => this.#take(news)),
      takeWhile(() => !this.#isOver, true),
      catchError((error: unknown) => this.#lost(error)),
    );
    const hello$ = this.#tries === 0 && this.#asked === 0 ? of(says({ is: 'connecting' })) : EMPTY;
    return concat(hello$, taken$);
  }

  #take(news: LinkNews): Observable<FeedNews> {
    if (news.type === 'open') {
      this.#isOpen = true;
      return of(says({ is: 'live' }));
    }
    const { taken, isMissing } = this.#next(news.events);
    const missing$ = isMissing ? throwError(() => new Missing()) : EMPTY;
    if (taken.length === 0) return missing$;
    // Said after the events were taken, since what follows `concat`'s first part runs when they have been delivered.
    const said$ = defer(() => this.#taken(taken));
    return concat(of<FeedNews>({ type: 'events', events: taken }), said$, missing$);
  }

  /** Those that follow, as many as there are without a gap. */
  #next(events: readonly RunEvent[]): { readonly taken: readonly RunEvent[]; readonly isMissing: boolean } {
    const taken: RunEvent[] = [];
    for (const event of events) {
      if (event.seq <= this.#last) continue;
      if (event.seq > this.#last + 1 && this.#asked < MAX_ASKED_AGAIN) return { taken, isMissing: true };
      this.#last = event.seq;
      [this.#tries, this.#asked] = [0, 0];
      taken.push(event);
      if (isLast(event)) break;
    }
    return { taken, isMissing: false };
  }

  #taken(events: readonly RunEvent[]): Observable<FeedNews> {
    for (const { seq } of events) this.#seen.next(seq);
    if (!isLast(events.at(-1) as RunEvent)) return EMPTY;
    this.#isOver = true;
    return of(says({ is: 'ended' }));
  }

  /** A server that has no more events of a run which has not ended may have them a little later. */
  #endedEarly(): Observable<never> {
    return this.#isOver ? EMPTY : throwError(() => new Error('the events ended before the run'));
  }

  #lost(error: unknown): Observable<FeedNews> {
    if (error instanceof Refusal) return throwError(() => error);
    if (error instanceof Missing) {
      this.#asked += 1;
      return throwError(() => new Again());
    }
    if (!this.#isOpen) this.#link += 1;
    this.#tries += 1;
    const { wake$ = NEVER, scheduler } = this.#options;
    const pauseMs = this.#pauseMs();
    const pause$ = race(timer(pauseMs, scheduler), wake$.pipe(take(1))).pipe(ignoreElements());
    return concat(
      of(says({ is: 'lost', tries: this.#tries, pauseMs })),
      pause$,
      throwError(() => new Again()),
    );
  }

  #pauseMs(): number {
    const { random = Math.random } = this.#options;
    const most = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(this.#tries - 1, 10));
    return Math.round(most * (0.5 + random() / 2));
  }
}

function isLast({ type }: RunEvent): boolean {
  return type === 'run-settled' || type === 'run-failed' || type === 'run-cancelled' || type === 'run-interrupted';
}
