import type { Image } from '../image.js';
import type { Pdf } from './pdf.js';

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
