/** How much of a question passages hold: what makes similarities of different searches comparable. */
import { isAskingTerm } from '../words/stop-words.js';
import type { TextWords } from '../words/words.js';
import { rarity } from './bm25.js';
import { placesOf, termHash } from './body.js';

/** A question as it was taken apart. */
export interface AskedQuestion {
  readonly question: TextWords;
  /** Terms that it is expanded by, with their weights. */
  readonly expansions: ReadonlyMap<string, number>;
}

/** How well a passage answers that holds the expansions of a question alone. */
const EXPANSION_SHARE = 0.6;
/** Passages that a dataset is taken to have at least where it is said how rare the words of a question are. */
const LEAST_PASSAGES = 100;

/** The question in its own words, or in others, with what a passage that holds them all answers of it. */
interface Way {
  /** All of them are the whole question. */
  readonly weights: ReadonlyMap<string, number>;
  /** Words that stand for one of those. */
  readonly others: ReadonlyMap<string, number>;
  readonly share: number;
}

/**
 * The largest share of the question, by rarity, that one of the passages holds: of its own words, each also held by another name, or 0.6 of the share of its other
 * names; 0 to 1. In a small dataset what is there counts as rare, or a question for its only passage would be covered by nothing.
 *
 * @param bodies of the best passages
 * @param holding how many passages hold a term
 * @param live passages of the dataset
 */
export function coverageOf(
  asked: AskedQuestion,
  bodies: readonly Uint8Array[],
  holding: (term: string) => number,
  live: number,
): number {
  const all = Math.max(live, LEAST_PASSAGES);
  const shares = waysOf(asked).flatMap(({ weights, others, share }) => {
    const worths = new Map<number, number>();
    let total = 0;
    for (const [term, weight] of weights) {
      const worth = weight * rarity(holding(term), all);
      worths.set(termHash(term), worth);
      total += worth;
    }
    if (total === 0) return [];
    for (const [term, weight] of others) worths.set(termHash(term), weight * rarity(holding(term), all));
    const wanted = new Set(worths.keys());
    return bodies.map((body) => {
      const held = [...placesOf(body, wanted).keys()];
      return (share * held.reduce((sum, hash) => sum + (worths.get(hash) ?? 0), 0)) / total;
    });
  });
  return Math.min(1, Math.max(0, ...shares));
}

/** A passage in another language holds none of the question's own words. */
function waysOf({ question, expansions }: AskedQuestion): readonly Way[] {
  const own = new Map(subjectTerms(question).map((term) => [term, 1]));
  const others = new Map([...expansions].filter(([term]) => !own.has(term)));
  return [
    { weights: own, others, share: 1 },
    { weights: others, others: new Map(), share: EXPANSION_SHARE },
  ];
}

const HAN = /\p{Script=Han}/u;

/**
 * The terms of a question that say what it is about, each once: no Chinese word that only asks, and of pairs of Chinese letters those that the dictionary, where
 * there is one, gave a second time at their places as words. All terms where nothing would be left.
 */
function subjectTerms({ terms, places }: TextWords): readonly string[] {
  const counts = new Map<string, number>();
  const placed = terms.map((term, at) => `${places[at]} ${term}`);
  for (const one of placed) counts.set(one, (counts.get(one) ?? 0) + 1);
  const isHan = terms.map((term) => HAN.test(term));
  const isWord = terms.map((term, at) => term.length !== 2 || (counts.get(placed[at] as string) ?? 0) > 1);
  const hasDictionary = terms.some((_, at) => isHan[at] && isWord[at]);
  const subject = terms.filter((term, at) => !isHan[at] || (!isAskingTerm(term) && (isWord[at] || !hasDictionary)));
  return [...new Set(subject.length === 0 ? terms : subject)];
}
