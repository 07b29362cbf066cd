/** Sizes of paper in points (1/72 inch), upright. */
export const PAPER = {
  A3: { width: 841.89, height: 1190.55 },
  A4: { width: 595.28, height: 841.89 },
  A5: { width: 419.53, height: 595.28 },
  Letter: { width: 612, height: 792 },
  Legal: { width: 612, height: 1008 },
} as const;

/** A size of paper. */
export type PageSize = keyof typeof PAPER;

/** Distance of the text from the edges of the paper, in points. */
export const MARGIN = { top: 72, bottom: 72, left: 60, right: 60 } as const;

/** Distance of header and footer from the edges of the paper, and the size of their text, in points. */
export const EDGE = { margin: 36, fontSize: 9 } as const;

/** How the pages of a document look; texts are single lines that every format can hold. */
export interface Page {
  readonly title: string;
  /** Size of the text in points. */
  readonly fontSize: number;
  readonly size: PageSize;
  readonly header: string;
  readonly footer: string;
  readonly watermark: string;
  readonly hasNumbers: boolean;
  /** When the document was made, in words; empty when that is not to be shown. */
  readonly generated: string;
  /** Written into the properties of the file. */
  readonly created: Date;
}

/** Size of a heading in points. */
export function headingSize(level: number, fontSize: number): number {
  return fontSize + Math.max(0, 8 - 2 * level);
}
