/** Builds the studio's page into `dist/studio`, each file also compressed, so that the server compresses nothing while it serves. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib';
import { build } from 'vite';
import { ROOT } from './support/files.js';

/** Where the page is built. */
export const STUDIO = path.join(ROOT, 'dist/studio');

const TEXT = /\.(?:html|js|css|svg|md)$/;
/** Compressing what is smaller saves no packet. */
const MIN_BYTES = 1_024;

export async function buildStudio(): Promise<void> {
  await build({ configFile: path.join(ROOT, 'web/vite.config.ts'), mode: 'production' });
  for (const name of readdirSync(STUDIO, { recursive: true, encoding: 'utf8' })) {
    if (TEXT.test(name)) compress(path.join(STUDIO, name));
  }
}

function compress(file: string): void {
  const bytes = readFileSync(file);
  if (bytes.length < MIN_BYTES) return;
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
  const params = { [zlib.BROTLI_PARAM_QUALITY]: 11, [zlib.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }));
}
