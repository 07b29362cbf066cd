/** A connection that is opened before there is a reader for it. */
import {
  materialize,
  Observable,
  type ObservableNotification,
  type SchedulerLike,
  Subject,
  type Subscriber,
  Subscription,
  timer,
} from 'rxjs';
import type { LinkNews, OpenLink } from './feed.js';

/** How long a connection is kept for a reader, in milliseconds: a screen that is loaded over a slow network comes within it. */
const KEPT_MS = 20_000;

/** What is kept of one, in frames: more than a server sends before it is told that something was taken. */
const MAX_FRAMES = 10_000;

/**
 * The link `open`, whose first connection is opened at once, from the first event: what it says is kept for the first reader that asks for all
 * events, which goes on with it. So a server reads and sends while a page is still being loaded.
 *
 * Later readers, those behind an event, and all after 20 s without a reader get connections of their own, and the kept one is closed; so do
 * those after it failed without a reader, such as for lack of a key that was given meanwhile. What is kept is bounded by what the server sends
 * without an acknowledgement, for there is none before it is read.
 *
 * ```text
 * first    -o1-2-----3-4|
 * reader        ^
 * result        (o12)3-4|
 * ```
 */
export function openAhead(open: OpenLink, scheduler?: SchedulerLike): OpenLink {
  const kept = new KeptConnection(open, scheduler);
  return (after, seen$) =>
    new Observable<LinkNews>((reader) => {
      if (after === 0 && kept.isFree) kept.handOver(reader, seen$);
      else reader.add(open(after, seen$).subscribe(reader));
    });
}

class KeptConnection {
  /** What it said so far; undefined once it was handed over, or left. */
  #said: ObservableNotification<LinkNews>[] | undefined = [];
  #reader: Subscriber<LinkNews> | undefined = undefined;
  readonly #seen = new Subject<number>();
  readonly #connection = new Subscription();
  readonly #waiting: Subscription;

  constructor(open: OpenLink, scheduler: SchedulerLike | undefined) {
    this.#waiting = timer(KEPT_MS, scheduler).subscribe(() => this.#leave());
    this.#connection.add(
      open(0, this.#seen)
        .pipe(materialize())
        .subscribe((said) => this.#take(said)),
    );
  }

  /** Whether a reader can have it. */
  get isFree(): boolean {
    return this.#said !== undefined;
  }

  handOver(reader: Subscriber<LinkNews>, seen$: Observable<number>): void {
    const said = this.#said ?? [];
    this.#said = undefined;
    this.#waiting.unsubscribe();
    this.#reader = reader;
    reader.add(this.#connection);
    reader.add(seen$.subscribe((seq) => this.#seen.next(seq)));
    for (const one of said) tell(one, reader);
  }

  #take(said: ObservableNotification<LinkNews>): void {
    if (this.#reader !== undefined) tell(said, this.#reader);
    else if (said.kind !== 'E' && this.#said !== undefined && this.#said.length < MAX_FRAMES) this.#said.push(said);
    else this.#leave();
  }

  #leave(): void {
    this.#said = undefined;
    this.#waiting.unsubscribe();
    this.#connection.unsubscribe();
  }
}

function tell(said: ObservableNotification<LinkNews>, reader: Subscriber<LinkNews>): void {
  if (said.kind === 'N') reader.next(said.value);
  else if (said.kind === 'E') reader.error(said.error);
  else reader.complete();
}
