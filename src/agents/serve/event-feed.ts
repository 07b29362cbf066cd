/** Events of a conversation for readers that come, leave and come back: numbered, bounded, as server-sent events. */
import { interval, type Subscription } from 'rxjs';

/** Bounds of a feed. */
export interface FeedBounds {
  /** Events that a reader who comes back finds. */
  readonly maxEvents: number;
  /** Characters of those events. */
  readonly maxLength: number;
  /** Milliseconds between two signs of life to readers. */
  readonly aliveMs: number;
}

/** One event. */
export interface FeedFrame {
  readonly number: number;
  /** Absent for events of protocols of others, which have no names. */
  readonly name: string | undefined;
  /** JSON, or a text of such a protocol. */
  readonly data: string;
}

/** Events that were kept together, and the numbers of those before them that are gone. */
interface Piece {
  readonly frames: readonly FeedFrame[];
  readonly gap: { readonly from: number; readonly to: number } | undefined;
}

/** Characters that a reader gets at once. */
const PIECE = 65_536;

const ALIVE = ': alive\n\n';

/**
 * Keeps the newest events for any number of readers, each at its own pace. What a reader missed is told by an event `gap` with the numbers of the first
 * and the last event that are gone.
 */
export class EventFeed {
  readonly #bounds: FeedBounds;
  readonly #alive: Subscription;
  #frames: FeedFrame[] = [];
  #length = 0;
  #newest = 0;
  #isOver = false;
  #wake: () => void = () => {};
  #changed: Promise<void>;

  constructor(bounds: FeedBounds) {
    this.#bounds = bounds;
    this.#changed = this.#next();
    this.#alive = interval(bounds.aliveMs).subscribe(() => this.#tell());
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  push(type: string, data: unknown): void {
    this.#add(type, JSON.stringify(data));
  }

  /** The same without a number and a name, as protocols of others want it. */
  pushData(data: string): void {
    this.#add(undefined, data);
  }

  #add(name: string | undefined, data: string): void {
    this.#newest += 1;
    this.#frames.push({ number: this.#newest, name, data });
    this.#length += data.length;
    this.#drop();
    this.#tell();
  }

  /** No event follows; readers end behind the last one. */
  end(): void {
    this.#isOver = true;
    this.#alive.unsubscribe();
    this.#tell();
  }

  /** The same in pieces, for readers that write them in their own way; ends behind the last event. */
  async *pieces(after: number): AsyncGenerator<Piece> {
    for (let cursor = after; ; ) {
      const piece = this.#pieceBehind(cursor);
      if (piece !== undefined) {
        cursor = piece.frames.at(-1)?.number ?? cursor;
        yield piece;
      } else if (this.#isOver) return;
      else await this.#changed;
    }
  }

  /** The events behind a number, as server-sent events, as they come. A reader that is slow is not waited for. */
  read(after: number): ReadableStream<Uint8Array> {
    const encoder = new TextEncoder();
    let cursor = after;
    let hasLeft = false;
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const piece = this.#pieceBehind(cursor);
          if (piece !== undefined) {
            cursor = piece.frames.at(-1)?.number ?? cursor;
            controller.enqueue(encoder.encode(textOf(piece)));
          } else if (this.#isOver) controller.close();
          else {
            await this.#changed;
            if (!hasLeft) controller.enqueue(encoder.encode(this.#pieceBehind(cursor) === undefined ? ALIVE : ':\n\n'));
          }
        },
        cancel: () => {
          hasLeft = true;
        },
      },
      { highWaterMark: 0 },
    );
  }

  #pieceBehind(cursor: number): Piece | undefined {
    const first = this.#frames[0];
    if (first === undefined || cursor >= this.#newest) return undefined;
    const from = Math.max(0, cursor + 1 - first.number);
    const gap = cursor + 1 < first.number ? { from: cursor + 1, to: first.number - 1 } : undefined;
    let to = from;
    for (let length = 0; to < this.#frames.length && length < PIECE; to += 1) {
      length += (this.#frames[to] as FeedFrame).data.length;
    }
    return { frames: this.#frames.slice(from, to), gap };
  }

  /** Old events go a quarter at a time, so that each costs its share of one copy. */
  #drop(): void {
    const { maxEvents, maxLength } = this.#bounds;
    if (this.#frames.length <= maxEvents && this.#length <= maxLength) return;
    const gone = this.#frames.splice(0, Math.max(1, Math.floor(this.#frames.length / 4)));
    for (const { data } of gone) this.#length -= data.length;
    this.#drop();
  }

  #tell(): void {
    const wake = this.#wake;
    this.#changed = this.#next();
    wake();
  }

  #next(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

function textOf({ frames, gap }: Piece): string {
  let text = gap === undefined ? '' : `event: gap\ndata: ${JSON.stringify(gap)}\n\n`;
  for (const { number, name, data } of frames) {
    text += name === undefined ? `data: ${data}\n\n` : `id: ${number}\nevent: ${name}\ndata: ${data}\n\n`;
  }
  return text;
}
