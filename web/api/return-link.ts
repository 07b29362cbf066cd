/** A way to a run's events that makes room for a better one. */
import {
  defer,
  filter,
  merge,
  retry,
  type SchedulerLike,
  Subject,
  switchMap,
  takeUntil,
  tap,
  throwError,
  timer,
} from 'rxjs';
import type { LinkNews, OpenLink } from './feed.js';

/** The first pause before the better link is tried, which doubles with each try, and the longest, in milliseconds. */
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 300_000;

/**
 * The link `other` until `better` stands, which is tried beside it: an event stream holds one of the six connections that a browser keeps to a
 * server, so a page that came to one, such as while its server started again, must not stay there.
 *
 * What comes over both ways comes twice. `better` may fail before it stands, and is tried again; from then on it counts as `other` did.
 *
 * ```text
 * other    -o12--------3------!
 * better    5 s #10 s         -o4|
 * result   -o12--------3-------4|
 * ```
 */
export function returning(better: OpenLink, other: OpenLink, scheduler?: SchedulerLike): OpenLink {
  return (after, seen$) =>
    defer(() => {
      let last = after;
      let isOpen = false;
      let hasLeft = false;
      const left$ = new Subject<void>();
      const ended$ = new Subject<void>();
      const note = (news: LinkNews): void => {
        if (news.type === 'open') isOpen = true;
        else last = news.events.at(-1)?.seq ?? last;
      };
      const leave = ({ type }: LinkNews): void => {
        if (type !== 'open' || hasLeft) return;
        hasLeft = true;
        left$.next();
      };
      const other$ = other(after, seen$).pipe(tap({ next: note, complete: () => ended$.next() }), takeUntil(left$));
      const better$ = defer(() => better(last, seen$)).pipe(
        tap(leave),
        // To its reader it is one link, which stands already.
        filter(({ type }) => type === 'events' || !isOpen),
        retry({ delay: (error: unknown, tries) => (hasLeft ? throwError(() => error) : pause(tries, scheduler)) }),
      );
      const later$ = pause(0, scheduler).pipe(
        switchMap(() => better$),
        takeUntil(ended$),
      );
      return merge(other$, later$);
    });
}

function pause(tries: number, scheduler: SchedulerLike | undefined) {
  return timer(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(tries, 10)), scheduler);
}
