/** The pages of a PDF while they are filled: free space, pictures, outline, and yielding to the event loop. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MARGIN, PAPER, type Page } from '../content.js';
import type { Image } from '../image.js';
import type { Line } from './lines.js';
import type { Pdf, Typeface } from './typeface.js';

/** Where blocks stand on the page: from `left` on, `width` wide, in points. */
export interface Place {
  readonly left: number;
  readonly width: number;
  /** Where the bars of quotes stand, from the left of the page. */
  readonly bars: readonly number[];
  /** The mark of a list item, which waits for its first line; drawn once, to the left of the place. */
  readonly mark?: { readonly line: Line; isDrawn: boolean };
}

const BAR = { width: 2, colour: '#d9d9d9' } as const;

/** Distance of the mark of a list item from its text. */
const MARK_GAP = 5;

/** The pages of a document, filled from the top; all measures in points. */
export class PageFlow {
  /** Height of the text on a page. */
  readonly height: number;
  /** The top of what is free on the page. */
  #y: number = MARGIN.top;
  readonly #bottom: number;
  #isFresh = true;
  #pages = 1;

  constructor(
    readonly pdf: Pdf,
    readonly typeface: Typeface,
    readonly pictures: Pictures,
    { size }: Page,
  ) {
    this.#bottom = PAPER[size].height - MARGIN.bottom;
    this.height = this.#bottom - MARGIN.top;
  }

  /** Number of pages so far. */
  get pages(): number {
    return this.#pages;
  }

  /** What is left of the page. */
  get rest(): number {
    return this.#bottom - this.#y;
  }

  /** Starts a page. */
  newPage(): void {
    this.pdf.addPage();
    this.#pages += 1;
    this.#y = MARGIN.top;
    this.#isFresh = true;
  }

  /** Starts a page when `height` does not fit on this one, and could on a whole one. */
  reserve(height: number): void {
    if (!this.#isFresh && height > this.rest && height <= this.height) this.newPage();
  }

  /** Leaves space, but not at the top of a page. */
  gap(height: number, place: Place): void {
    if (this.#isFresh) return;
    const used = Math.min(height, this.rest);
    this.#drawBars(place, used);
    this.#y += used;
  }

  /** Gives `draw` a strip of the page, of this one or the next. */
  strip(height: number, place: Place, draw: (top: number) => void): void {
    if (height > this.rest && !this.#isFresh) this.newPage();
    this.#drawBars(place, height);
    // Before its line, so that text extracted from the file is in order.
    this.#drawMark(place);
    draw(this.#y);
    this.#y += height;
    this.#isFresh = false;
  }

  /** Draws a line in a place. */
  line(line: Line, place: Place): void {
    this.strip(line.height, place, (top) => this.drawLine(line, place.left, top));
  }

  /** Draws a line anywhere. */
  drawLine(line: Line, left: number, top: number): void {
    const y = top + line.baseline;
    let x = left;
    for (const piece of line.pieces) {
      if (piece.kind === 'text') this.typeface.draw(piece, x, y);
      else this.pictures.draw(piece.picture, x, y - piece.height, piece.width, piece.height);
      x += piece.width;
    }
  }

  #drawBars({ bars }: Place, height: number): void {
    for (const x of bars) this.pdf.rect(x, this.#y, BAR.width, height).fill(BAR.colour);
  }

  #drawMark({ mark, left }: Place): void {
    if (mark === undefined || mark.isDrawn) return;
    mark.isDrawn = true;
    this.drawLine(mark.line, left - MARK_GAP - mark.line.width, this.#y);
  }
}

/** The pictures of one document; each is put into the file once. */
export class Pictures {
  readonly #indexes = new Map<Image, number | undefined>();
  readonly #opened: object[] = [];

  constructor(private readonly pdf: Pdf) {}

  /** The index of a picture; undefined for a kind that PDF does not know. */
  open(image: Image): number | undefined {
    if (!this.#indexes.has(image)) this.#indexes.set(image, this.#open(image));
    return this.#indexes.get(image);
  }

  /** Draws the picture of an index. */
  draw(index: number, x: number, y: number, width: number, height: number): void {
    // pdfkit draws what `openImage` gave, which its types do not say.
    this.pdf.image(this.#opened[index] as unknown as string, x, y, { width, height });
  }

  #open({ type, bytes }: Image): number | undefined {
    if (type === 'gif') return undefined;
    const { openImage } = this.pdf as unknown as { openImage(source: Uint8Array): object };
    try {
      return this.#opened.push(openImage.call(this.pdf, bytes)) - 1;
    } catch {
      return undefined;
    }
  }
}

/** Longest entry, in UTF-16 units. */
const MAX_TITLE = 200;
/** Most entries; readers list them all at once. */
const MAX_ENTRIES = 1000;

type Entry = Pdf['outline'];

/** The table of contents that readers of PDF show beside the pages. */
export class Outline {
  /** The last entry of each level, from the outside in. */
  readonly #open: { readonly level: number; readonly entry: Entry }[];
  #count = 0;

  constructor(pdf: Pdf) {
    this.#open = [{ level: 0, entry: pdf.outline }];
  }

  /** Adds a heading that stands on the current page. */
  add(level: number, title: string): void {
    if (title === '' || this.#count >= MAX_ENTRIES) return;
    this.#count += 1;
    while ((this.#open.at(-1)?.level ?? 0) >= level) this.#open.pop();
    const entry = this.#open.at(-1)?.entry.addItem(title.slice(0, MAX_TITLE));
    if (entry !== undefined) this.#open.push({ level, entry });
  }
}

/** Longest work without yielding, in milliseconds. */
const STRETCH_MS = 12;

/** Lets long work yield to the event loop, and end when its signal is aborted. */
export interface Yielder {
  /** Whether it is time to {@link Yielder.yield}. */
  isDue(): boolean;
  /** Yields once to the event loop. Errors: the reason of the signal. */
  yield(): Promise<void>;
}

/** Makes the yielder of one piece of work. */
export function createYielder(signal?: AbortSignal): Yielder {
  let since = performance.now();
  return {
    isDue: () => performance.now() - since > STRETCH_MS,
    async yield() {
      await nextTurn();
      signal?.throwIfAborted();
      since = performance.now();
    },
  };
}
