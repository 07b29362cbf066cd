import type { DatabaseLog } from '../../../src/stores/postgres/index.js';

/** A log that remembers what it was told. */
export function createLog(): DatabaseLog & { readonly lines: string[] } {
  const lines: string[] = [];
  const note = (_fields: object, message: string) => {
    lines.push(message);
  };
  return { lines, info: note, warn: note, error: note };
}
