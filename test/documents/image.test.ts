import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Images, readImage } from '../../src/documents/image.js';

/** A PNG of that size in one colour: `shade` makes it another picture. */
function pngOf(width: number, height: number, shade = 0): string {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 6], 8);
  const pixels = deflateSync(
    Buffer.alloc(height * (1 + width * 4))
      .fill(0)
      .fill(shade, 1, 5),
    { level: 1 },
  );
  const parts = [chunkOf('IHDR', header), chunkOf('IDAT', pixels), chunkOf('IEND', Buffer.alloc(0))];
  const bytes = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...parts]);
  return `data:image/png;base64,${bytes.toString('base64')}`;
}

function chunkOf(name: string, data: Buffer): Buffer {
  const chunk = Buffer.alloc(12 + data.length);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write(name, 4, 'latin1');
  chunk.set(data, 8);
  chunk.writeUInt32BE(crcOf(chunk.subarray(4, 8 + data.length)), 8 + data.length);
  return chunk;
}

/** The checksum of PNG, bit by bit. */
function crcOf(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 1) === 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}

describe('pictures', () => {
  it('are taken as long as their pixels fit', () => {
    expect(readImage(pngOf(2_000, 2_000))).toMatchObject({ width: 2_000, height: 2_000, unpackedBytes: 16_002_000 });
    expect(readImage(pngOf(3_000, 3_000))).toBeUndefined();
  });

  it('are no more in one document than are unpacked at once', () => {
    const images = new Images();
    const addresses = [1, 2, 3].map((shade) => pngOf(2_000, 2_000, shade));
    expect(addresses.map((address) => images.take(address) !== undefined)).toEqual([true, true, false]);
    // The same one again is unpacked once.
    expect(images.take(addresses[0] ?? '')).toBeDefined();
  });
});
