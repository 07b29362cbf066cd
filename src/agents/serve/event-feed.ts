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

interface Frame {
  readonly number: number;
  readonly text: string;
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
  #frames: Frame[] = [];
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
    this.#add((number) => `id: ${number}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** The same without a number and a name, as protocols of others want it. */
  pushData(data: string): void {
    this.#add(() => `data: ${data}\n\n`);
  }

  #add(textOf: (number: number) => string): void {
    this.#newest += 1;
    const text = textOf(this.#newest);
    this.#frames.push({ number: this.#newest, text });
    this.#length += text.length;
    this.#drop();
    this.#tell();
  }

  /** No event follows; readers end behind the last one. */
  end(): void {
    this.#isOver = true;
    this.#alive.unsubscribe();
    this.#tell();
  }

  /** The events behind a number, as they come. A reader that is slow is not waited for. */
  read(after: number): ReadableStream<Uint8Array> {
    const encoder = new TextEncoder();
    let cursor = after;
    let hasLeft = false;
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const piece = this.#pieceBehind(cursor);
          if (piece !== undefined) {
            cursor = piece.to;
            controller.enqueue(encoder.encode(piece.text));
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

  #pieceBehind(cursor: number): { readonly text: string; readonly to: number } | undefined {
    const first = this.#frames[0];
    if (first === undefined || cursor >= this.#newest) return undefined;
    const from = Math.max(0, cursor + 1 - first.number);
    let text =
      cursor + 1 < first.number
        ? `event: gap\ndata: ${JSON.stringify({ from: cursor + 1, to: first.number - 1 })}\n\n`
        : '';
    let to = cursor;
    for (let at = from; at < this.#frames.length && text.length < PIECE; at += 1) {
      const frame = this.#frames[at] as Frame;
      text += frame.text;
      to = frame.number;
    }
    return { text, to };
  }

  /** Old events go a quarter at a time, so that each costs its share of one copy. */
  #drop(): void {
    const { maxEvents, maxLength } = this.#bounds;
    if (this.#frames.length <= maxEvents && this.#length <= maxLength) return;
    const gone = this.#frames.splice(0, Math.max(1, Math.floor(this.#frames.length / 4)));
    for (const { text } of gone) this.#length -= text.length;
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
