/** Terms of a question in the other language. */
import { TERMS } from './terms.js';

/** Terms that mean the same: Chinese first, then English; both directions are used. */
export type TermTable = readonly (readonly [string, string])[];

/** Expansions of a question at most. */
const MAX_EXPANSIONS = 24;
/** What a term of an expansion weighs beside one of the question itself. */
const EXPANSION_WEIGHT = 0.6;

/** A text to search for as well. */
export interface Expansion {
  readonly text: string;
  readonly weight: number;
}

/**
 * What whole terms of the question are called in the other language, longer terms first. A term in Latin letters must be a whole word, with or without a plural `s`;
 * of Chinese terms one inside of another is not taken.
 */
export function expandedTerms(question: string, table: TermTable = TERMS): Expansion[] {
  let rest = question.toLowerCase();
  const found = new Set<string>();
  const sides = table.flatMap(([chinese, english]) => [
    { from: chinese.toLowerCase(), to: english },
    { from: english.toLowerCase(), to: chinese },
  ]);
  sides.sort((left, right) => right.from.length - left.from.length);
  for (const { from, to } of sides) {
    if (found.size >= MAX_EXPANSIONS) break;
    const at = wholeTerm(rest, from);
    if (at < 0) continue;
    found.add(to);
    // Terms with another meaning each are all looked up; parts of the term are not.
    const isLast = !sides.some((side) => side.from === from && !found.has(side.to));
    if (isLast) rest = `${rest.slice(0, at)}\0${rest.slice(at + from.length)}`;
  }
  return [...found].map((text) => ({ text, weight: EXPANSION_WEIGHT }));
}

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
