/** What searches inside of a graph give: ids of chunks with scores, and why. */
import type { GraphReason, GraphStep } from '../graph-search.js';

/** A passage before its text is read. */
export interface FoundPassageOfGraph {
  readonly chunkId: string;
  /** 0 to 1, falling. */
  readonly score: number;
  readonly why: GraphReason;
}

/** A way between two entities. */
export interface FoundPath {
  readonly steps: readonly GraphStep[];
  /** Of each step a chunk that shows it; undefined where it was given without one. */
  readonly chunks: readonly (string | undefined)[];
}

/** Passages in the order of their scores, which become 0 to 1; equal ones by id. */
export function rankedPassages(
  scores: ReadonlyMap<string, number>,
  limit: number,
  why: (chunkId: string) => GraphReason,
): FoundPassageOfGraph[] {
  const sorted = [...scores].sort(([left, one], [right, other]) => other - one || (left < right ? -1 : 1));
  const most = sorted[0]?.[1] ?? 0;
  return sorted
    .slice(0, limit)
    .map(([chunkId, score]) => ({ chunkId, score: most === 0 ? 0 : score / most, why: why(chunkId) }));
}
