import { type Image, readImage } from './image.js';

/** Most bytes of pictures in one document, each counted wherever it stands. */
const MAX_IMAGE_BYTES = 16_777_216;
/** Most pictures in one document. */
const MAX_IMAGES = 500;

/** The pictures of one document: each `data:` URI is read once, and only as many are given as a file may hold. */
export class Images {
  readonly #read = new Map<string, Image | undefined>();
  #count = 0;
  #bytes = 0;

  /** The picture of a `data:` URI; undefined for any other address, a broken picture and one too many. */
  take(address: string): Image | undefined {
    if (!address.startsWith('data:')) return undefined;
    if (!this.#read.has(address)) this.#read.set(address, readImage(address));
    const image = this.#read.get(address);
    if (image === undefined) return undefined;
    const bytes = this.#bytes + image.bytes.length;
    if (this.#count >= MAX_IMAGES || bytes > MAX_IMAGE_BYTES) return undefined;
    this.#count += 1;
    this.#bytes = bytes;
    return image;
  }
}
