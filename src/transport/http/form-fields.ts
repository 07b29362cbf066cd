import { badArgument } from '../../hosting/refusals.js';

/** The fields of a form that are no files; of several with one name the last one counts. */
export class FormFields {
  readonly #maxBytes: number;
  readonly #pieces = new Map<string, Buffer[]>();
  #bytes = 0;

  /** @param maxBytes of all fields together */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Takes the bytes of a field. @throws EngineError BAD_REQUEST from what takes them, when all fields have too many */
  open(field: string): (bytes: Buffer) => void {
    const pieces: Buffer[] = [];
    this.#pieces.set(field, pieces);
    return (bytes) => {
      this.#bytes += bytes.length;
      if (this.#bytes > this.#maxBytes) {
        throw badArgument(`The fields of the form have more than ${this.#maxBytes} bytes.`);
      }
      pieces.push(bytes);
    };
  }

  /** The fields as texts, decoded as wholes: a piece may end within a character. */
  texts(): ReadonlyMap<string, string> {
    return new Map([...this.#pieces].map(([field, pieces]) => [field, Buffer.concat(pieces).toString('utf8')]));
  }
}
