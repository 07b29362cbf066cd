/** Names as they are compared. */
import { foldText, runsOf } from '../../words/split-words.js';

/** A name, taken apart once. */
export interface NameForm {
  readonly name: string;
  /** Without case, marks, spaces, accents and brackets; equal for spellings of one name. */
  readonly key: string;
  /** Words, or letters of scripts without spaces. */
  readonly words: readonly string[];
  /** Numbers, with the letters that are written on them: `4o`, `2`, `m3`. */
  readonly numbers: readonly string[];
  /** First letters of the words as they are written, of humps of a word, small words left out: `un`, `scp`. */
  readonly initials: string;
  /** What stands in brackets behind it, folded: `river`; empty for nothing. */
  readonly qualifier: string;
}

/** Writes traditional letters of Chinese as simplified ones. */
export type Simplify = (text: string) => string;

const SMALL_WORDS: ReadonlySet<string> = new Set('of the and for in on a an de du la le to at'.split(' '));
const ARTICLE = /^(?:the|a|an)\s+(?=\S)/i;
const BRACKETS = /\s*[(（]([^()（）]*)[)）]\s*$/u;
/** A number with what is written on it, and single letters and Roman numbers at the end. */
const NUMBER = /\p{N}+(?:\.\p{N}+)*(?:\p{Ll}{1,2}(?![\p{L}]))?|[a-z]\p{N}+/gu;
const ROMAN = /(?:^|\s)(i{1,3}|iv|vi{0,3}|ix|x)$/;

/** Takes a name apart. */
export function nameForm(name: string, simplify: Simplify = (text) => text): NameForm {
  const qualifier = BRACKETS.exec(name)?.[1] ?? '';
  const bare = name.replace(BRACKETS, '').replace(ARTICLE, '').trim();
  const folded = foldText(simplify(bare === '' ? name : bare));
  const runs = [...runsOf(folded)];
  const words = runs.flatMap(({ text, kind }) => (kind === 'word' ? [text] : Array.from(text)));
  const key = words.join('');
  return {
    name,
    // What holds signs alone is its own key.
    key: key === '' ? folded.trim() : key,
    words,
    numbers: numbersOf(folded),
    initials: initialsOf(bare),
    qualifier: foldText(qualifier).trim(),
  };
}

/** What a name is found by: equal for spellings of one name with the same words in brackets behind it. */
export function nameKey(name: string, simplify?: Simplify): string {
  return keyOfForm(nameForm(name, simplify));
}

/** The same, of a name that was taken apart. */
export function keyOfForm({ key, qualifier }: NameForm): string {
  return qualifier === '' ? key : `${key}~${qualifier}`;
}

function numbersOf(folded: string): string[] {
  const numbers = [...folded.matchAll(NUMBER)].map(([number]) => number);
  const roman = ROMAN.exec(folded)?.[1];
  return (roman === undefined ? numbers : [...numbers, roman]).sort();
}

function initialsOf(name: string): string {
  const parts = name
    .split(/[\s\-_/.]+/)
    .filter((word) => word !== '' && !SMALL_WORDS.has(word.toLowerCase()))
    .flatMap((word) => word.match(/\p{Lu}+(?=\p{Lu}\p{Ll}|$|\P{L})|\p{Lu}\p{Ll}*|\p{Ll}+|\p{N}+/gu) ?? []);
  return parts.length < 2 ? '' : parts.map((part) => part[0]?.toLowerCase() ?? '').join('');
}
