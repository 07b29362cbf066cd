/** As much of protobuf's wire format as OTLP needs. */

/** A field of a message: its number, and its value as it lies on the wire. */
interface Field {
  readonly number: number;
  readonly bytes: Buffer;
  readonly integer: bigint;
}

/** One message, read by the numbers of its fields. */
export class Message {
  readonly #fields: readonly Field[];

  constructor(bytes: Buffer) {
    this.#fields = [...fieldsOf(bytes)];
  }

  messages(number: number): Message[] {
    return this.#all(number).map(({ bytes }) => new Message(bytes));
  }
  message(number: number): Message | undefined {
    return this.messages(number).at(-1);
  }
  text(number: number): string {
    return this.#last(number)?.bytes.toString('utf8') ?? '';
  }
  hex(number: number): string {
    return this.#last(number)?.bytes.toString('hex') ?? '';
  }
  integer(number: number): number {
    return Number(this.#last(number)?.integer ?? 0n);
  }
  big(number: number): bigint {
    return this.#last(number)?.integer ?? 0n;
  }
  double(number: number): number {
    return this.#last(number)?.bytes.readDoubleLE(0) ?? 0;
  }
  has(number: number): boolean {
    return this.#last(number) !== undefined;
  }

  #all(number: number): Field[] {
    return this.#fields.filter((field) => field.number === number);
  }
  #last(number: number): Field | undefined {
    return this.#all(number).at(-1);
  }
}

function* fieldsOf(bytes: Buffer): Generator<Field> {
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at] as number;
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const number = tag >> 3;
    const kind = tag & 7;
    if (kind === 0) {
      yield { number, integer: varint(), bytes: Buffer.alloc(0) };
      continue;
    }
    const length = kind === 1 ? 8 : kind === 5 ? 4 : Number(varint());
    const value = bytes.subarray(at, at + length);
    at += length;
    yield { number, integer: kind === 1 ? value.readBigUInt64LE(0) : 0n, bytes: value };
  }
}
