/** What else speaks for a candidate, besides BM25. */
import { placesOf, termHash, wordsOfBody } from './body.js';
import type { StoredHead } from './segment.js';

/** Two query words that stand beside each other. */
interface Neighbours {
  readonly first: number;
  readonly second: number;
  /** How far the second is behind the first in the question. */
  readonly gap: number;
  /** Mean rarity of both. */
  readonly weight: number;
}

/** How near to each other neighbouring words of a question may be in a passage to count. */
const WINDOW = 8;

/** See {@link proximityOf}. */
export type Proximity = (body: Uint8Array) => number;

/**
 * How near to each other a passage holds words that are neighbours in the question: the sum over the pairs of their mean rarity, divided by the least
 * distance, from the distance in the question as 1 to 8.
 */
export function proximityOf(
  terms: readonly string[],
  places: readonly number[],
  rarityOf: (term: string) => number,
): Proximity {
  const pairs = new Map<string, Neighbours>();
  for (let at = 0; at + 1 < terms.length; at += 1) {
    const next = terms.findIndex((_, other) => other > at && (places[other] as number) > (places[at] as number));
    if (next < 0) break;
    const [first, second] = [terms[at] as string, terms[next] as string];
    if (first === second || rarityOf(first) === 0 || rarityOf(second) === 0) continue;
    const gap = (places[next] as number) - (places[at] as number);
    const weight = (rarityOf(first) + rarityOf(second)) / 2;
    pairs.set(`${first} ${second}`, { first: termHash(first), second: termHash(second), gap, weight });
  }
  const list = [...pairs.values()];
  const wanted = new Set(list.flatMap(({ first, second }) => [first, second]));
  return (body) => {
    if (list.length === 0) return 0;
    const found = placesOf(body, wanted, 2);
    let sum = 0;
    for (const { first, second, gap, weight } of list) {
      const nearest = leastDistance(found.get(first), found.get(second));
      const distance = Math.max(1, nearest - gap + 1);
      if (distance <= WINDOW) sum += weight / distance;
    }
    return sum;
  };
}

/** Least distance of an item of one ascending list to one of the other. */
function leastDistance(left: readonly number[] | undefined, right: readonly number[] | undefined): number {
  if (left === undefined || right === undefined) return Number.POSITIVE_INFINITY;
  let least = Number.POSITIVE_INFINITY;
  let other = 0;
  for (const place of left) {
    while (other + 1 < right.length && (right[other] as number) < place) other += 1;
    least = Math.min(least, Math.abs((right[other] as number) - place));
    if (other > 0) least = Math.min(least, Math.abs((right[other - 1] as number) - place));
  }
  return least;
}

/** The share of the question's weight that is in the title, and the share of the title's terms that are in the question. */
export function titleShares(
  { titleTerms }: Pick<StoredHead, 'titleTerms'>,
  weights: ReadonlyMap<string, number>,
): { readonly title: number; readonly titleInQuestion: number } {
  if (titleTerms.length === 0 || weights.size === 0) return { title: 0, titleInQuestion: 0 };
  let total = 0;
  for (const weight of weights.values()) total += weight;
  let held = 0;
  let shared = 0;
  for (const term of titleTerms) {
    const weight = weights.get(term);
    if (weight === undefined) continue;
    held += weight;
    shared += 1;
  }
  return { title: total === 0 ? 0 : held / total, titleInQuestion: shared / titleTerms.length };
}

/** How a question is widened by what the best passages say. */
export interface Rm3Options {
  /** Passages that are read. @default 10 */
  readonly passages: number;
  /** Terms that are taken from them. @default 30 */
  readonly terms: number;
  /** Share of the question itself in the new weights, 0 to 1. @default 0.5 */
  readonly share: number;
}

/**
 * Weights of the terms of a question, mixed with the terms of the passages that it found.
 *
 * Source: Abdul-Jaleel et al., "UMass at TREC 2004: Novelty and HARD" (RM3); a passage weighs as much as its score.
 */
export function widenedQuestion(
  question: ReadonlyMap<string, number>,
  best: readonly { readonly body: Uint8Array; readonly score: number }[],
  { terms: most, share }: Rm3Options,
): Map<string, number> {
  const feedback = new Map<string, number>();
  const total = best.reduce((sum, { score }) => sum + score, 0);
  for (const { body, score } of best) {
    const { terms, sequence } = wordsOfBody(body);
    const weight = score / total / Math.max(sequence.length, 1);
    for (const index of sequence) {
      const term = terms[index] as string;
      feedback.set(term, (feedback.get(term) ?? 0) + weight);
    }
  }
  const chosen = [...feedback]
    .sort(([left, one], [right, other]) => other - one || (left < right ? -1 : 1))
    .slice(0, most);
  const chosenSum = chosen.reduce((sum, [, weight]) => sum + weight, 0);
  const questionSum = [...question.values()].reduce((sum, weight) => sum + weight, 0);
  const mixed = new Map<string, number>();
  for (const [term, weight] of chosen) mixed.set(term, ((1 - share) * weight) / chosenSum);
  for (const [term, weight] of question) mixed.set(term, (mixed.get(term) ?? 0) + (share * weight) / questionSum);
  return mixed;
}
