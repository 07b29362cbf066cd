/** Where words begin and end, by the script that they are written in. */

/** Letters of scripts that are written without spaces. */
const UNSPACED = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}';

/** A row of Han letters, a row of other letters without spaces, or a word of any other script. */
const RUN = new RegExp(
  `(\\p{Script=Han}+)|([${UNSPACED}]+?(?=\\p{Script=Han}|[^${UNSPACED}]|$))|(?:(?![${UNSPACED}])[\\p{L}\\p{N}])+`,
  'gu',
);

/** An apostrophe between letters: what follows is no word of its own. */
const APOSTROPHE = /(?<=\p{L})['’](s(?!\p{L}))?(?=\p{L}|\P{L}|$)/gu;

const ASCII = /^[\0-\x7f]*$/;
const ASCII_WORD = /[a-z0-9]+/g;

const HAN = /\p{Script=Han}/u;

/** A part of a text: a word, or a row of letters of a script without spaces. */
export interface Run {
  readonly text: string;
  readonly kind: 'word' | 'han' | 'unspaced';
}

/** Whether a text holds a letter of Chinese. */
export function hasHan(text: string): boolean {
  return HAN.test(text);
}

/**
 * A text as it is compared: compatibility forms replaced (NFKD), lower case, without accents; an English genitive loses its ending, other
 * apostrophes inside of words go.
 */
export function foldText(text: string): string {
  const folded = ASCII.test(text) ? text.toLowerCase() : foldLetters(text);
  return folded.includes("'") || folded.includes('’') ? folded.replace(APOSTROPHE, '') : folded;
}

function foldLetters(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase();
}

/** The runs of a folded text, in order. Linear in the text. */
export function* runsOf(folded: string): Generator<Run> {
  if (ASCII.test(folded)) {
    for (const [text] of folded.matchAll(ASCII_WORD)) yield { text, kind: 'word' };
    return;
  }
  for (const [text, han, unspaced] of folded.matchAll(RUN)) {
    yield { text, kind: han !== undefined ? 'han' : unspaced !== undefined ? 'unspaced' : 'word' };
  }
}
