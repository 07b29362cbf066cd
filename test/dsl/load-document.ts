import { readFileSync } from 'node:fs';

/** Reads one of the documents beside this file, as text. */
export function documentText(name: string): string {
  return readFileSync(new URL(`./documents/${name}`, import.meta.url), 'utf8');
}
