import { concatMap, from, of } from 'rxjs';
import { requireWhole } from '../../../operators/invalid-option.js';
import { definePostProcessor, type FoundPassage, type PostProcessor } from './post-processor.js';

/** Gives the passages of a document whose places are from `first` to `last`, in order; those that are not there are left out. */
export type LoadNeighbours = (documentId: string, first: number, last: number) => Promise<readonly FoundPassage[]>;

/** How far a window reaches. */
export interface WindowOptions {
  readonly load: LoadNeighbours;
  /** Neighbours on each side. @default 1 */
  readonly size?: number;
}

/**
 * Gives each hit the text of its neighbours in the document, without doubling what overlaps; a hit that is in the window of an earlier one is left out.
 *
 * ```text
 * hits     ---(c d)---------|       c and d are neighbours; b and e are beside them
 * load(b-d)   -----(bcd)
 * result   --------(bcd)----|
 * ```
 *
 * Hits without a place in their document stay as they are. @throws EngineError OPTION_INVALID
 */
export function windowOf({ load, size = 1 }: WindowOptions): PostProcessor {
  requireWhole('windowOf', 'size', size, 0);
  return definePostProcessor('window', (hits$) =>
    hits$.pipe(concatMap((hits) => (size === 0 ? of(hits) : from(widened(hits, size, load))))),
  );
}

async function widened(hits: readonly FoundPassage[], size: number, load: LoadNeighbours): Promise<FoundPassage[]> {
  const result: FoundPassage[] = [];
  const covered = new Set<string>();
  for (const hit of hits) {
    if (covered.has(hit.id)) continue;
    if (hit.index === undefined) {
      result.push(hit);
      continue;
    }
    const near = await load(hit.documentId, Math.max(0, hit.index - size), hit.index + size);
    const free = near.filter(({ id }) => id === hit.id || !covered.has(id));
    const part = aroundHit(free, hit);
    for (const { id } of part) covered.add(id);
    result.push(joined(part, hit));
  }
  return result;
}

/** The passages that follow on one another without a gap, with the hit among them. */
function aroundHit(near: readonly FoundPassage[], hit: FoundPassage): readonly FoundPassage[] {
  const own = near.findIndex(({ id }) => id === hit.id);
  if (own < 0) return [hit];
  let first = own;
  let last = own;
  const placeOf = (at: number): number => near[at]?.index ?? Number.NaN;
  while (placeOf(first - 1) === placeOf(first) - 1) first -= 1;
  while (placeOf(last + 1) === placeOf(last) + 1) last += 1;
  return near.slice(first, last + 1);
}

function joined(parts: readonly FoundPassage[], hit: FoundPassage): FoundPassage {
  if (parts.length < 2) return hit;
  let { text = '', start, end } = parts[0] as FoundPassage;
  for (const part of parts.slice(1)) {
    const overlap = overlapOf(text, end, part);
    const isTouching = end !== undefined && part.start !== undefined && part.start <= end;
    text += `${overlap > 0 || isTouching ? '' : '\n'}${part.text.slice(overlap)}`;
    end = part.end;
  }
  const ids = parts.map(({ id }) => id);
  const pages = [...new Set(parts.flatMap((part) => part.pages ?? []))].sort((a, b) => a - b);
  const pageStarts = pageStartsOf(parts);
  const { pageStarts: _, ...about } = hit;
  return {
    ...about,
    text,
    ids,
    ...(pages.length > 0 && { pages }),
    ...(pageStarts !== undefined && { pageStarts }),
    ...(start !== undefined && { start }),
    ...(end !== undefined && { end }),
  };
}

/** Where each page begins in passages that follow on one another; undefined when it is not known of one. */
function pageStartsOf(parts: readonly FoundPassage[]): FoundPassage['pageStarts'] {
  const starts = new Map<number, number>();
  for (const { pageStarts, pages = [], start } of parts) {
    const known =
      pageStarts ?? (pages.length === 1 && start !== undefined ? [[pages[0] as number, start] as const] : undefined);
    if (known === undefined) return undefined;
    for (const [page, at] of known) starts.set(page, Math.min(at, starts.get(page) ?? at));
  }
  return [...starts].toSorted(([left], [right]) => left - right);
}

/** Longest end of a text that is looked for at the beginning of the next one. */
const MAX_OVERLAP = 2_000;

/** How much of a passage the text before it holds already: by their places where these are known, else by their letters. */
function overlapOf(text: string, end: number | undefined, part: FoundPassage): number {
  if (end !== undefined && part.start !== undefined) return Math.min(part.text.length, Math.max(0, end - part.start));
  for (let size = Math.min(MAX_OVERLAP, text.length, part.text.length); size > 0; size -= 1) {
    if (text.endsWith(part.text.slice(0, size))) return size;
  }
  return 0;
}
