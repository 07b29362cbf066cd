import type { Log } from '../../../src/logger.js';

/** A log that remembers what it was told. */
export function createLog(): Log & { readonly lines: string[] } {
  const lines: string[] = [];
  const note = (_fields: object, message: string) => {
    lines.push(message);
  };
  return { lines, info: note, warn: note, error: note };
}
