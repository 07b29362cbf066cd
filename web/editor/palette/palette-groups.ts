/** Which types a palette offers, and in which order. */
import type { Document } from '../../../src/dsl/document.js';
import { type Catalogue, type CatalogueEntry, entryOf } from '../model/catalogue.js';

export interface PaletteGroup {
  readonly group: string;
  readonly entries: readonly CatalogueEntry[];
}

/** Groups that come first; others behind them, as the server has them. */
const ORDER = ['model', 'conversation', 'flow', 'knowledge', 'data', 'web', 'tools'];

/** Types that can be added to a document: those of its kind of canvas, but for starts, of which each has its one. */
export function paletteEntries(
  entries: readonly CatalogueEntry[],
  catalogue: Catalogue,
  { components }: Document,
): readonly CatalogueEntry[] {
  const isPipeline = Object.values(components).some(({ type }) => {
    const entry = entryOf(catalogue, type);
    return entry?.is_entry === true && entry.canvas === 'pipeline';
  });
  const starts = new Set(entries.map(({ body_start: start }) => start));
  return entries.filter(
    ({ name, canvas, is_entry: isEntry }) => (canvas === 'pipeline') === isPipeline && !isEntry && !starts.has(name),
  );
}

/** Groups of the types that words fit: their names first, then what is said of them. */
export function groupsOf(entries: readonly CatalogueEntry[], search: string): readonly PaletteGroup[] {
  const wanted = search.trim().toLowerCase();
  const found = entries
    .map((entry) => ({ entry, rank: rankOf(entry, wanted) }))
    .filter(({ rank }) => rank < NOT_FOUND)
    .sort((one, other) => one.rank - other.rank);
  const groups = new Map<string, CatalogueEntry[]>();
  for (const { entry } of found) groups.set(entry.group, [...(groups.get(entry.group) ?? []), entry]);
  const all = [...groups].map(([group, members]): PaletteGroup => ({ group, entries: members }));
  return wanted === '' ? all.sort((one, other) => orderOf(one.group) - orderOf(other.group)) : all;
}

const NOT_FOUND = 4;

function rankOf({ name, aliases, summary }: CatalogueEntry, wanted: string): number {
  const own = name.toLowerCase();
  if (own.startsWith(wanted)) return 0;
  if (own.includes(wanted)) return 1;
  if (aliases.some((alias) => alias.toLowerCase().includes(wanted))) return 2;
  return summary.toLowerCase().includes(wanted) ? 3 : NOT_FOUND;
}

function orderOf(group: string): number {
  const at = ORDER.indexOf(group);
  return at === -1 ? ORDER.length : at;
}
