import { deflateRawSync } from 'node:zlib';

/** A file to put into an archive, and lies about it. */
export interface ZipPart {
  readonly path: string;
  readonly content: string | Uint8Array;
  /** Left as it is instead of deflated. */
  readonly isStored?: boolean;
  /** The unpacked size that the directory gives instead of the true one. */
  readonly declaredSize?: number;
  readonly isEncrypted?: boolean;
  readonly method?: number;
}

/** Writes an archive as other programs do: deflated, with sizes in the directory alone (bit 3 of the flags). */
export function zipOf(...parts: readonly ZipPart[]): Uint8Array {
  const chunks: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { path, content, isStored = false, isEncrypted = false, declaredSize, method } of parts) {
    const bytes = Buffer.from(content);
    const packed = isStored ? bytes : deflateRawSync(bytes);
    const name = Buffer.from(path);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50);
    local.writeUInt16LE(8, 6);
    local.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50);
    entry.writeUInt16LE(isEncrypted ? 9 : 8, 8);
    entry.writeUInt16LE(method ?? (isStored ? 0 : 8), 10);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt32LE(declaredSize ?? bytes.length, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(offset, 42);
    chunks.push(local, name, packed);
    directory.push(entry, name);
    offset += local.length + name.length + packed.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...chunks, central, end]);
}
