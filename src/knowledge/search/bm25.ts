/**
 * How well passages hold some weighted terms.
 *
 * Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009; the rarity of a term is that of Lucene, which
 * never is below 0.
 */
import type { IndexView, TermMatches } from './index-view.js';
import { decodePostings, type PostingNumbers, postingNumbers } from './postings.js';

/** Constants of BM25. */
export interface Bm25Options {
  /** How soon more occurrences of a term count no more; at least 0. @default 1.2 */
  readonly k1: number;
  /** How much long passages are held back, 0 to 1. @default 0.6 */
  readonly b: number;
}

/** How rare a term is, given in how many of `all` passages it is. */
export function rarity(passages: number, all: number): number {
  return Math.log(1 + (all - passages + 0.5) / (passages + 0.5));
}

/**
 * Scores of all passages, by their numbers; 0 for those without any of the terms and those that do not count. Terms are added in the order of their
 * code units, so that the same terms always give the same sums.
 */
export function scorePassages(
  view: IndexView,
  matches: ReadonlyMap<string, TermMatches>,
  weights: ReadonlyMap<string, number>,
  { k1, b }: Bm25Options,
): Float64Array {
  const scores = new Float64Array(view.size);
  const norms = view.lengthNorms(k1, b);
  const room = postingNumbers(largestOf(matches));
  for (const term of [...weights.keys()].sort()) {
    const found = matches.get(term);
    if (found === undefined) continue;
    const weight = (weights.get(term) ?? 0) * rarity(found.passages, view.live) * (k1 + 1);
    for (const { base, postings } of found.parts) {
      decodePostings(postings, room);
      addScores(scores, view.counts, norms, { ...{ base, count: postings.count, weight }, ...room });
    }
  }
  return scores;
}

function largestOf(matches: ReadonlyMap<string, TermMatches>): number {
  let largest = 0;
  for (const { parts } of matches.values()) {
    for (const { postings } of parts) largest = Math.max(largest, postings.count);
  }
  return largest;
}

interface WeightedPostings extends PostingNumbers {
  readonly base: number;
  readonly count: number;
  readonly weight: number;
}

/** Adds what a term gives to each passage. */
function addScores(
  scores: Float64Array,
  live: Uint8Array,
  norms: Float64Array,
  { base, count, weight, ordinals, counts }: WeightedPostings,
): void {
  for (let at = 0; at < count; at += 1) {
    const passage = base + (ordinals[at] as number);
    if (live[passage] !== 1) continue;
    const occurrences = counts[at] as number;
    scores[passage] = (scores[passage] as number) + (weight * occurrences) / (occurrences + (norms[passage] as number));
  }
}

/**
 * The passages with the highest scores above 0, best first, equal ones in the order of their ids; `most` at most. A passage that `accepts` refuses is
 * left out before the best are chosen.
 */
export function bestPassages(
  view: IndexView,
  scores: Float64Array,
  most: number,
  accepts?: (passage: number) => boolean,
): number[] {
  const isBetter = (left: number, right: number): boolean => {
    const difference = (scores[left] as number) - (scores[right] as number);
    return difference > 0 || (difference === 0 && view.head(left).id < view.head(right).id);
  };
  // A heap whose root is the worst that was kept.
  const heap: number[] = [];
  let worst = 0;
  for (let passage = 0; passage < scores.length; passage += 1) {
    const score = scores[passage] as number;
    if (score <= 0 || score < worst || view.counts[passage] !== 1) continue;
    const isFull = heap.length >= most;
    if (isFull && (most === 0 || !isBetter(passage, heap[0] as number))) continue;
    if (accepts !== undefined && !accepts(passage)) continue;
    if (isFull) {
      heap[0] = passage;
      sink(heap, isBetter);
    } else {
      heap.push(passage);
      rise(heap, isBetter);
    }
    if (heap.length >= most) worst = scores[heap[0] as number] as number;
  }
  return heap.sort((left, right) => (isBetter(left, right) ? -1 : 1));
}

type Better = (left: number, right: number) => boolean;

function rise(heap: number[], isBetter: Better): void {
  let at = heap.length - 1;
  while (at > 0) {
    const parent = (at - 1) >>> 1;
    if (!isBetter(heap[parent] as number, heap[at] as number)) return;
    swap(heap, at, parent);
    at = parent;
  }
}

function sink(heap: number[], isBetter: Better): void {
  let at = 0;
  for (;;) {
    let worst = at;
    for (const child of [2 * at + 1, 2 * at + 2]) {
      if (child < heap.length && isBetter(heap[worst] as number, heap[child] as number)) worst = child;
    }
    if (worst === at) return;
    swap(heap, at, worst);
    at = worst;
  }
}

function swap(heap: number[], left: number, right: number): void {
  const kept = heap[left] as number;
  heap[left] = heap[right] as number;
  heap[right] = kept;
}
