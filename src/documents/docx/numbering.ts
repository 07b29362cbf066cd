import type { INumberingOptions } from 'docx';

/** Deepest level of lists in Word, counted from 0. */
export const MAX_LEVEL = 8;
/** How far each level of a list stands to the right, and its mark to the left of that; in twips (1/20 point). */
export const LIST_STEP = 420;

const BULLETS = ['•', '◦', '▪'];
/** Largest first number that Word takes. */
const MAX_START = 32_767;

/** How the paragraphs of one list refer to its numbering. */
export interface ListNumbering {
  readonly reference: string;
  /** Lists of one reference with different instances count apart. */
  readonly instance: number;
}

/** The numberings of one document: one kind for bullets, one for each first number. */
export class Numberings {
  readonly #starts = new Set<number>();
  #lists = 0;

  /** Starts a list; `start` is its first number, undefined for bullets. */
  open(start: number | undefined): ListNumbering {
    if (start === undefined) return { reference: 'bullets', instance: 0 };
    const first = Math.min(MAX_START, start);
    this.#starts.add(first);
    this.#lists += 1;
    return { reference: `numbers-${first}`, instance: this.#lists };
  }

  /** What all lists so far refer to. */
  get options(): INumberingOptions {
    const numbered = [...this.#starts].map((start) => ({
      reference: `numbers-${start}`,
      levels: levels('decimal', (level) => `%${level + 1}.`, start),
    }));
    const bullets = { reference: 'bullets', levels: levels('bullet', (level) => BULLETS[level % 3] ?? '•', 1) };
    return { config: [bullets, ...numbered] };
  }
}

function levels(format: 'decimal' | 'bullet', text: (level: number) => string, start: number) {
  return Array.from({ length: MAX_LEVEL + 1 }, (_, level) => ({
    level,
    format,
    start,
    text: text(level),
    alignment: 'left' as const,
    style: { paragraph: { indent: { left: LIST_STEP * (level + 1), hanging: LIST_STEP } } },
  }));
}
