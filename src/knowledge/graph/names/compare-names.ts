/** How alike two names are, by their letters. */
import { hasHan } from '../../words/split-words.js';
import { distance } from './levenshtein-library.js';
import type { NameForm } from './name-forms.js';

/** How alike two names are, and what says so. */
export interface NameLikeness {
  /** 0 to 1. */
  readonly score: number;
  readonly by: 'exact' | 'spelling' | 'abbreviation' | 'contained' | 'letters' | 'typing' | 'apart';
}

/** What a name that holds the other one whole is worth, when both are as long; and an abbreviation. */
const CONTAINED = 0.8;
const ABBREVIATION = 0.9;
/** Highest score of names of which a word is another one. */
const OTHER_WORD = 0.45;
/** Share of the letters of a word that are the same when it is the same word, mistyped. */
const SAME_WORD = 0.8;
/** Letters of a word below which a mistyped one is another one. */
const SHORT_WORD = 5;

const APART: NameLikeness = { score: 0, by: 'apart' };

/**
 * Compares two names. Different numbers, and different words in brackets behind them, are never the same.
 *
 * 1 for equal names, also but for spaces, case and marks; 0.9 for an abbreviation (`UN`, `SCP`, `北大`); 0.8 by length for a name inside of the
 * other; else the greater of the shares of common letters and of letters that stay when one is typed over to the other.
 */
export function compareNames(left: NameForm, right: NameForm): NameLikeness {
  if (left.name === right.name) return { score: 1, by: 'exact' };
  const isShort = isAbbreviation(left, right) || isAbbreviation(right, left);
  if (!isShort && left.numbers.join(' ') !== right.numbers.join(' ')) return APART;
  if (left.qualifier !== right.qualifier && left.qualifier !== '' && right.qualifier !== '') return APART;
  if (left.key === right.key) return { score: 1, by: 'spelling' };
  if (isShort) return { score: ABBREVIATION, by: 'abbreviation' };
  const [shorter, longer] = left.key.length <= right.key.length ? [left, right] : [right, left];
  const typing = 1 - distance(left.key, right.key) / Math.max(left.key.length, right.key.length, 1);
  if (holdsWords(longer.words, shorter.words)) {
    return { score: CONTAINED * Math.sqrt(shorter.key.length / longer.key.length), by: 'contained' };
  }
  const letters = commonLetters(left.key, right.key);
  const best: NameLikeness = typing >= letters ? { score: typing, by: 'typing' } : { score: letters, by: 'letters' };
  return isOtherWord(left, right) ? { ...best, score: Math.min(best.score, OTHER_WORD) } : best;
}

/** Whether a name is short for another: its initials, or for Chinese some of its letters in their order, the first included. */
function isAbbreviation(short: NameForm, long: NameForm): boolean {
  if (short.key.length < 2 || short.key.length >= long.key.length) return false;
  if (/^[\p{Lu}\p{N}.&]+$/u.test(short.name)) return short.key === long.initials;
  if (!hasHan(short.key) || short.key.length > 4 || long.key.length < 2 * short.key.length) return false;
  if (short.key[0] !== long.key[0] || !/^\p{Script=Han}+$/u.test(long.key)) return false;
  // Of each half a letter, as in 北大 for 北京大学; a beginning alone is a name inside of the other.
  const second = long.key.indexOf(short.key[1] as string, 2);
  return second >= 2 && isRowIn(short.key, long.key);
}

function isRowIn(short: string, long: string): boolean {
  let at = 0;
  for (const letter of long) if (letter === short[at]) at += 1;
  return at === short.length;
}

function holdsWords(words: readonly string[], part: readonly string[]): boolean {
  if (part.length === 0 || part.length >= words.length) return false;
  return words.some((_, at) => part.every((word, step) => words[at + step] === word));
}

/** Share of the letters of both that both have. */
function commonLetters(left: string, right: string): number {
  const [own, other] = [new Set(left), new Set(right)];
  let common = 0;
  for (const letter of own) if (other.has(letter)) common += 1;
  return common / Math.max(1, own.size + other.size - common);
}

/** Whether a word of one is no mistyped word of the other; numbers of words that differ say nothing. */
function isOtherWord({ words, key }: NameForm, { words: others, key: other }: NameForm): boolean {
  if (words.length !== others.length) {
    const isSplit = 1 - distance(key, other) / Math.max(key.length, other.length, 1) >= 0.9;
    return !isSplit;
  }
  return words.some((word, at) => !isSameWord(word, others[at] as string));
}

function isSameWord(word: string, other: string): boolean {
  if (word === other) return true;
  const least = Math.min(word.length, other.length);
  if (least < SHORT_WORD) return false;
  // What begins with another letter is rarely mistyped: Lahore and Bangalore aside, "Iran" is no "Iraq".
  if (word[0] !== other[0]) return false;
  return 1 - distance(word, other) / Math.max(word.length, other.length) >= SAME_WORD;
}
