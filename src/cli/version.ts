import { readFile } from 'node:fs/promises';

/** The version of this package. */
export async function readVersion(): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
  return String((manifest as { readonly version: unknown }).version);
}
