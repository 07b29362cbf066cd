/** The pictures of a run at any of its events. */
import type { RunEvent } from '../../graph/events.js';
import { requireWhole } from '../../operators/invalid-option.js';
import type { RunPicture } from './picture.js';
import { PictureFold, type PictureOptions } from './picture-fold.js';

/** What a {@link PictureLog} holds. All are optional. */
export interface PictureLogOptions extends PictureOptions {
  /** Events that are held, a whole number of at least 1. @default 200_000 */
  readonly maxEvents?: number;
  /** Events between two pictures that are held, a whole number of at least 1. @default 500 */
  readonly every?: number;
}

/** Pictures that are held; of more, every second one that lies before the events that are held is let go. */
const MAX_PICTURES = 1_000;

/**
 * The events of a run with a picture every now and then, so that the picture at any event is there at once: from the picture before it and
 * fewer than `every` events.
 *
 * Beyond `maxEvents` the oldest events are let go and their pictures stay: at a number among them `at` gives the last picture that is not
 * behind it. `exactFrom` says where that ends.
 */
export class PictureLog {
  readonly #options: PictureOptions;
  readonly #maxEvents: number;
  readonly #every: number;
  readonly #fold: PictureFold;
  /** In order of their numbers. */
  #events: RunEvent[] = [];
  /** In order of their numbers; the first is the empty one. */
  #pictures: RunPicture[];
  /** Events since the last of the pictures. */
  #since = 0;
  #exactFrom = 0;

  /** @throws EngineError OPTION_INVALID. */
  constructor({ maxEvents = 200_000, every = 500, ...options }: PictureLogOptions = {}) {
    requireWhole('PictureLog', 'maxEvents', maxEvents, 1);
    requireWhole('PictureLog', 'every', every, 1);
    // Read again for each picture in between.
    this.#options = { ...options, nodes: [...(options.nodes ?? [])] };
    this.#maxEvents = maxEvents;
    this.#every = every;
    this.#fold = new PictureFold(this.#options);
    this.#pictures = [this.#fold.picture];
  }

  /** The newest picture. */
  get picture(): RunPicture {
    return this.#fold.picture;
  }

  /** Events that are held, in order. */
  get events(): readonly RunEvent[] {
    return this.#events;
  }

  /** Number of the first event from which on `at` is exact; 0 while all events are held. */
  get exactFrom(): number {
    return this.#exactFrom;
  }

  /** Gives whether the event counts: one that came before does not. */
  add(event: RunEvent): boolean {
    if (!this.#fold.add(event)) return false;
    this.#events.push(event);
    this.#since += 1;
    if (this.#since < this.#every) return true;
    this.#since = 0;
    this.#pictures.push(this.#fold.picture);
    if (this.#events.length > this.#maxEvents) this.#letGo();
    return true;
  }

  /** The picture after the event `seq`: the newest one for a number behind the last event, the empty one for 0. */
  at(seq: number): RunPicture {
    if (seq >= this.#fold.lastSeq) return this.#fold.picture;
    const before = firstWhere(this.#pictures, ({ lastSeq }) => lastSeq > seq) - 1;
    const picture = this.#pictures[Math.max(0, before)] as RunPicture;
    if (picture.lastSeq === seq || picture.lastSeq < this.#exactFrom) return picture;
    const fold = new PictureFold(this.#options, picture);
    for (let at = this.#after(picture.lastSeq); at < this.#events.length; at += 1) {
      const event = this.#events[at] as RunEvent;
      if (event.seq > seq) break;
      fold.add(event);
    }
    return fold.picture;
  }

  /** Lets events go up to a picture, so that those that are held follow one. */
  #letGo(): void {
    const tooMany = this.#events[this.#events.length - this.#maxEvents - 1] as RunEvent;
    const first = this.#pictures.find(({ lastSeq }) => lastSeq >= tooMany.seq) as RunPicture;
    this.#exactFrom = first.lastSeq;
    this.#events = this.#events.slice(this.#after(first.lastSeq));
    if (this.#pictures.length <= MAX_PICTURES) return;
    this.#pictures = this.#pictures.filter(({ lastSeq }, at) => at % 2 === 0 || lastSeq >= this.#exactFrom);
  }

  /** Where the first event behind a number lies. */
  #after(seq: number): number {
    return firstWhere(this.#events, (event) => event.seq > seq);
  }
}

/** Index of the first item that fits, where all behind it fit too; the length where none does. */
function firstWhere<T>(items: readonly T[], fits: (item: T) => boolean): number {
  let [from, to] = [0, items.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (fits(items[middle] as T)) to = middle;
    else from = middle + 1;
  }
  return from;
}
