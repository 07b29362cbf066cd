/** When lists of runs are out of date: one stream for all lists of the page. */
import {
  concat,
  connect,
  defer,
  filter,
  merge,
  NEVER,
  type Observable,
  race,
  retry,
  Subject,
  scan,
  take,
  throttle,
  throwError,
  timer,
} from 'rxjs';
import { coalesce } from '../../src/operators/coalesce.js';

/** What a connection says: that it stands, and that runs may have changed. */
export type ListNews = 'live' | 'changed';

/** How lists of runs stand. */
export interface RunNews {
  /** Whether changes are told; otherwise a list asks by itself. */
  readonly isLive: boolean;
  /** Counts the changes: with another number a list is out of date. */
  readonly changes: number;
}

/** Before anything was told. */
export const NO_NEWS: RunNews = { isLive: false, changes: 0 };

/** Settings of {@link runNews}. */
export interface RunNewsOptions {
  /** Whether the page is looked at: while it is not, changes wait, and are one when it is again. */
  readonly isVisible$: Observable<boolean>;
  /** Emits when it is worth connecting at once. @default never */
  readonly wake$?: Observable<unknown>;
  /** Gives numbers from 0 to 1, which spread the tries of many pages. @default Math.random */
  readonly random?: () => number;
}

/** Lists are asked for again at most so often, in milliseconds. */
const PACE_MS = 2_000;

/** The first pause, which doubles with each try, and the longest, in milliseconds. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/**
 * Follows the changes of runs over one connection, which is opened again whenever it is lost.
 *
 * ```text
 * link        -lccc--------#            (live, changed)
 * isVisible$  t------------f-------t
 * result      -LC----C-----X            (live; a change; those within 2 s together; not live)
 * ```
 */
export function runNews(open: () => Observable<ListNews>, options: RunNewsOptions): Observable<RunNews> {
  const { isVisible$, wake$ = NEVER, random = Math.random } = options;
  return defer(() => {
    const lost$ = new Subject<'lost'>();
    const again = (_: unknown, tries: number): Observable<unknown> => {
      lost$.next('lost');
      return race(timer(pauseMs(tries, random)), wake$.pipe(take(1)));
    };
    const link$ = concat(
      defer(open),
      throwError(() => new Error('the connection has ended')),
    ).pipe(retry({ delay: again, resetOnSuccess: true }));
    const news$ = link$.pipe(
      connect((said$) => merge(said$.pipe(filter((news) => news === 'live')), changesOf(said$, isVisible$))),
    );
    return merge(lost$, news$).pipe(scan(next, NO_NEWS));
  });
}

/** Changes at the pace of lists that are looked at. */
function changesOf(said$: Observable<ListNews>, isVisible$: Observable<boolean>): Observable<ListNews> {
  return said$.pipe(
    filter((news) => news === 'changed'),
    throttle(() => timer(PACE_MS), { leading: true, trailing: true }),
    coalesce({ ready$: isVisible$, merge: (older) => older, maxSize: 1 }),
  );
}

function next({ isLive, changes }: RunNews, news: ListNews | 'lost'): RunNews {
  if (news === 'changed') return { isLive, changes: changes + 1 };
  return { isLive: news === 'live', changes };
}

function pauseMs(tries: number, random: () => number): number {
  const most = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(tries - 1, 10));
  return Math.round(most * (0.5 + random() / 2));
}
