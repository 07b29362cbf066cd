/** One research on a screen: followed from its first event to its last, and folded. */
import {
  auditTime,
  BehaviorSubject,
  distinctUntilChanged,
  map,
  type Observable,
  type SchedulerLike,
  Subject,
  type Subscription,
  share,
  startWith,
} from 'rxjs';
import type { FeedNews } from '../api/feed.js';
import type { Connection } from '../run/run-store.js';
import { foldShown, isOver, NOTHING_SHOWN, type ResearchShown } from './research-picture.js';

/** A screen is drawn at most once in so many milliseconds. */
const DRAW_MS = 100;

/** Follows from `open` to `close`. What it has seen stays readable after that. */
export class ResearchStore {
  /** What the research comes to: the present value at once, then at most ten a second, the last one always. */
  readonly shown$: Observable<ResearchShown>;
  /** How it stands with the server. */
  readonly connection$: Observable<Connection>;
  readonly #news$: Observable<FeedNews>;
  readonly #changes = new Subject<void>();
  readonly #connection = new BehaviorSubject<Connection>({ is: 'connecting' });
  #shown = NOTHING_SHOWN;
  #subscription: Subscription | undefined = undefined;

  /** @param scheduler @default RxJS's timers */
  constructor(news$: Observable<FeedNews>, scheduler?: SchedulerLike) {
    this.#news$ = news$;
    this.shown$ = this.#changes.pipe(
      auditTime(DRAW_MS, scheduler),
      share(),
      startWith(undefined),
      map(() => this.#shown),
      distinctUntilChanged(),
    );
    this.connection$ = this.#connection;
  }

  get shown(): ResearchShown {
    return this.#shown;
  }

  get connection(): Connection {
    return this.#connection.value;
  }

  /** Begins to follow. Does nothing when it follows already, or has seen the end. */
  open(): void {
    if (this.#subscription !== undefined || this.#connection.value.is === 'ended') return;
    this.#subscription = this.#news$.subscribe({
      next: (news) => this.#take(news),
      error: (error: unknown) => this.#connection.next({ is: 'refused', error }),
    });
  }

  /** Ends the following; the research goes on without this page. */
  close(): void {
    this.#subscription?.unsubscribe();
    this.#subscription = undefined;
  }

  /** Says whether a person has stopped it, which its last event will tell. */
  setStopping(isStopping: boolean): void {
    if (isOver(this.#shown)) return;
    this.#shown = { ...this.#shown, status: isStopping ? 'stopping' : 'running' };
    this.#changes.next();
  }

  #take(news: FeedNews): void {
    if (news.type === 'link') {
      this.#connection.next(news.link);
      return;
    }
    for (const event of news.events) this.#shown = foldShown(this.#shown, event);
    this.#changes.next();
  }
}
