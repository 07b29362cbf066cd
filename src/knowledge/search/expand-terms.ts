/** Terms of a question in the other language. */
import type { TextWords } from '../words/words.js';
import { TERMS } from './terms.js';

/** Terms that mean the same: Chinese first, then English; both directions are used. */
export type TermTable = readonly (readonly [string, string])[];

/** Expansions of a question at most. */
const MAX_EXPANSIONS = 24;
/** What a term of an expansion weighs beside one of the question itself. */
export const EXPANSION_WEIGHT = 0.6;

/** A text to search for as well. */
export interface Expansion {
  readonly text: string;
  readonly weight: number;
  /** Where the term that it stands for begins in the question, in UTF-16 units of its lower case. */
  readonly at: number;
}

/**
 * What whole terms of the question are called in the other language, longer terms first. A term in Latin letters must be a whole word, with or without a plural `s`;
 * of Chinese terms one inside of another is not taken.
 */
export function expandedTerms(question: string, table: TermTable = TERMS): Expansion[] {
  let rest = question.toLowerCase();
  const found = new Map<string, number>();
  const sides = table.flatMap(([chinese, english]) => [
    { from: chinese.toLowerCase(), to: english },
    { from: english.toLowerCase(), to: chinese },
  ]);
  sides.sort((left, right) => right.from.length - left.from.length);
  for (const { from, to } of sides) {
    if (found.size >= MAX_EXPANSIONS) break;
    const at = wholeTerm(rest, from);
    if (at < 0) continue;
    if (!found.has(to)) found.set(to, at);
    // Terms with another meaning each are all looked up; parts of the term are not.
    const isLast = !sides.some((side) => side.from === from && !found.has(side.to));
    if (isLast) rest = rest.slice(0, at) + '\0'.repeat(from.length) + rest.slice(at + from.length);
  }
  return [...found].map(([text, at]) => ({ text, weight: EXPANSION_WEIGHT, at }));
}

/** A question in the words of its expansions. */
export interface ExpandedQuestion {
  /** Terms with their weights. */
  readonly weights: ReadonlyMap<string, number>;
  /** The terms in the order in which the question names what they stand for. */
  readonly terms: readonly string[];
  /** Where each begins; ascending. */
  readonly places: readonly number[];
}

/**
 * Expansions as one question, so that words which are neighbours in it are looked for beside each other: 重排模型 as "rerank model". Other names of one term
 * have the same place.
 *
 * @param analysed the words of each expansion
 */
export function expandedQuestion(expansions: readonly Expansion[], analysed: readonly TextWords[]): ExpandedQuestion {
  const named = expansions.flatMap((expansion, index) => {
    const words = analysed[index];
    return words === undefined ? [] : [{ ...expansion, words }];
  });
  named.sort((left, right) => left.at - right.at);
  const weights = new Map<string, number>();
  const placed: { readonly term: string; readonly place: number }[] = [];
  let [start, end, last] = [0, 0, -1];
  for (const { words, weight, at } of named) {
    if (at !== last) start = end;
    last = at;
    for (const [index, term] of words.terms.entries()) {
      // Words and pairs of letters of one Chinese name overlap; that they are near to each other says nothing.
      const place = start + (HAN.test(term) ? 0 : (words.places[index] as number));
      placed.push({ term, place });
      if (!weights.has(term)) weights.set(term, weight);
      end = Math.max(end, place + 1);
    }
  }
  placed.sort((left, right) => left.place - right.place);
  return { weights, terms: placed.map(({ term }) => term), places: placed.map(({ place }) => place) };
}

const HAN = /\p{Script=Han}/u;
const LATIN = /[\p{Script=Latin}\p{N}]/u;

function wholeTerm(text: string, term: string): number {
  for (let at = text.indexOf(term); at >= 0 && term !== ''; at = text.indexOf(term, at + 1)) {
    if (!LATIN.test(term)) return at;
    const before = text[at - 1] ?? ' ';
    const behind = text[at + term.length] ?? ' ';
    const next = text[at + term.length + 1] ?? ' ';
    if (LATIN.test(before)) continue;
    if (!LATIN.test(behind) || (behind === 's' && !LATIN.test(next))) return at;
  }
  return -1;
}
