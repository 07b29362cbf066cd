/** One run on a screen: its events, what they come to at any of them, and what its user can do about it. */
import {
  audit,
  BehaviorSubject,
  distinctUntilChanged,
  filter,
  map,
  type Observable,
  race,
  type SchedulerLike,
  Subject,
  type Subscription,
  share,
  startWith,
  timer,
} from 'rxjs';
import type { DescribedNode, RunPicture } from '../../src/canvas/picture/picture.js';
import { stoppingPicture } from '../../src/canvas/picture/picture-fold.js';
import { PictureLog } from '../../src/canvas/picture/picture-log.js';
import type { RunEvent } from '../../src/graph/events.js';
import type { Client } from '../api/client.js';
import type { FeedNews, LinkState } from '../api/feed.js';
import { runFeed } from '../api/run-feed.js';
import type { RunPlace } from '../api/socket-link.js';
import { RunInputs } from './run-inputs.js';

/** How a run stands with the server; `refused` when its events cannot be had. */
export type Connection = LinkState | { readonly is: 'refused'; readonly error: unknown };

/** A screen is drawn at most once in so many milliseconds. */
const DRAW_MS = 100;

/** The same while more events come between two drawings than a person follows, such as those of a run that is read again: drawing takes longer than reading. */
const CATCH_UP_MS = 1_000;
const CATCH_UP_EVENTS = 400;

export interface RunStoreOptions {
  readonly client: Client;
  readonly place: RunPlace;
  /** Nodes of the document, which are shown before they run. @default none */
  readonly nodes?: Iterable<DescribedNode>;
  /** Where the events come from. @default the WebSocket, else the event stream of the client's server */
  readonly news$?: Observable<FeedNews>;
  /** @default RxJS's timers */
  readonly scheduler?: SchedulerLike;
}

/**
 * The owner of one run on a screen: follows it from its first event to its last, whether it is at work, waits or ended long ago.
 *
 * It follows from `open` to `close`. What it has seen stays readable after that.
 */
export class RunStore {
  /** Id of its agent; empty for a run of a chat. */
  readonly agent: string;
  readonly run: string;
  /** What the run comes to: the present value at once, then at most ten a second, the last one always. */
  readonly picture$: Observable<RunPicture>;
  /** How it stands with the server. */
  readonly connection$: Observable<Connection>;
  /** What is said to its agents while it works. */
  readonly inputs: RunInputs;
  readonly #client: Client;
  readonly #place: RunPlace;
  readonly #log: PictureLog;
  readonly #news$: Observable<FeedNews>;
  readonly #changes = new Subject<void>();
  /** Events since a drawing was waited for last. */
  #arrived = 0;
  readonly #connection = new BehaviorSubject<Connection>({ is: 'connecting' });
  #subscription: Subscription | undefined = undefined;
  #isStopping = false;
  #stopping: { readonly from: RunPicture; readonly picture: RunPicture } | undefined = undefined;

  constructor({ client, place, nodes = [], news$, scheduler }: RunStoreOptions) {
    this.agent = place.agent;
    this.run = place.run;
    this.#client = client;
    this.#place = place;
    this.inputs = new RunInputs(client, place.path);
    this.#log = new PictureLog({ nodes });
    this.#news$ = news$ ?? runFeed(client, place);
    this.picture$ = this.#changes.pipe(
      audit(() => this.#pause(scheduler)),
      share(),
      startWith(undefined),
      map(() => this.picture),
      distinctUntilChanged(),
    );
    this.connection$ = this.#connection;
  }

  /** What the run comes to now. */
  get picture(): RunPicture {
    const { picture } = this.#log;
    if (!this.#isStopping) return picture;
    // The same object as long as nothing changes.
    if (this.#stopping?.from !== picture) this.#stopping = { from: picture, picture: stoppingPicture(picture) };
    return this.#stopping.picture;
  }

  /** The events so far, in order; of very long runs the newest. */
  get events(): readonly RunEvent[] {
    return this.#log.events;
  }

  get connection(): Connection {
    return this.#connection.value;
  }

  /** What the run came to after its event `seq`: for the scrubber. */
  at(seq: number): RunPicture {
    return this.#log.at(seq);
  }

  /** Begins to follow. Does nothing when it follows already, or has seen the end. */
  open(): void {
    if (this.#subscription !== undefined || this.#connection.value.is === 'ended') return;
    this.#subscription = this.#news$.subscribe({
      next: (news) => this.#take(news),
      error: (error: unknown) => this.#connection.next({ is: 'refused', error }),
    });
  }

  /** Ends the following; the run goes on without this page. */
  close(): void {
    this.#subscription?.unsubscribe();
    this.#subscription = undefined;
  }

  /** Stops the run: `stopping` until its last event has come. @throws ApiError; the run is then shown as it was. */
  async stop(): Promise<void> {
    this.#setStopping(true);
    try {
      await this.#client.call(`${this.#place.path}/cancel`, { method: 'POST' });
    } catch (error) {
      this.#setStopping(false);
      throw error;
    }
  }

  /** Until the next drawing; the end of the run is drawn soon. */
  #pause(scheduler: SchedulerLike | undefined): Observable<unknown> {
    const isBehind = this.#arrived > CATCH_UP_EVENTS;
    this.#arrived = 0;
    if (!isBehind) return timer(DRAW_MS, scheduler);
    const ended$ = this.#connection.pipe(filter(({ is }) => is === 'ended'));
    return race(timer(CATCH_UP_MS, scheduler), ended$);
  }

  #setStopping(isStopping: boolean): void {
    this.#isStopping = isStopping;
    this.#changes.next();
  }

  #take(news: FeedNews): void {
    if (news.type === 'link') {
      this.#connection.next(news.link);
      return;
    }
    for (const event of news.events) this.#log.add(event);
    this.#arrived += news.events.length;
    this.#changes.next();
  }
}
