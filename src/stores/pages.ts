import type { Page, PageRequest } from '../records/stores.js';

/** Sorts by a text or a number; equal values keep their order. */
export function sortBy<T>(items: readonly T[], key: (item: T) => string | number, descending: boolean): T[] {
  const sign = descending ? -1 : 1;
  return items.toSorted((a, b) => sign * compare(key(a), key(b)));
}

export function pageOf<T>(items: readonly T[], { offset, limit }: PageRequest): Page<T> {
  return { items: items.slice(offset, offset + limit), total: items.length };
}

/** Whether `text` contains `part`, without regard to case. */
export function contains(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}

function compare(a: string | number, b: string | number): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
