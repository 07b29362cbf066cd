import type { Pdf } from './pdf.js';

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
