/** Texts as the terms that an index holds. */
import { stem } from 'porter2';
import { type Chinese, type LoadSegmenter, loadChinese, loadJieba } from './chinese.js';
import { type Language, languageOf } from './language.js';
import { foldText, hasHan, runsOf } from './split-words.js';
import { STOP_WORDS } from './stop-words.js';

/** Raised when the terms of a text change: indexes that hold others are made anew. */
export const WORDS_VERSION = 1;

/** A text, taken apart. */
export interface TextWords {
  /** Terms in the order of their places, as often as they occur. */
  readonly terms: readonly string[];
  /** Where each term begins, counted in words without stop words, or in letters of scripts without spaces; ascending. */
  readonly places: readonly number[];
  /** Words in spaced scripts before they were stemmed, without stop words. */
  readonly forms: readonly string[];
  /** The term of each form. */
  readonly formTerms: readonly string[];
  readonly language: Language;
}

/** See {@link openWords}. */
export interface Words {
  /** {@link WORDS_VERSION}. */
  readonly version: number;
  /** Takes texts apart, in their order. Loads the dictionary of Chinese with the first text that holds Chinese. */
  analyse(texts: readonly string[]): Promise<TextWords[]>;
}

/** What words are found with. */
export interface WordsOptions {
  /** Loads what cuts Chinese; pairs of letters alone are given where it rejects. @default `@node-rs/jieba` */
  readonly segmenter?: LoadSegmenter | undefined;
}

/**
 * Makes what takes texts apart. Terms depend on the text alone, never on other texts:
 *
 * - Words in spaced scripts: compatibility forms, lower case, no accents, no stop words; those of a to z are stemmed (Porter2).
 * - Chinese: simplified; the words of a dictionary, the shorter ones inside of them, and all pairs of neighbouring letters.
 * - Japanese and Thai: pairs of neighbouring letters.
 *
 * Sources: Porter, "The English (Porter2) stemming algorithm", snowballstem.org; pairs as in Lucene's `CJKBigramFilter`.
 */
export function openWords({ segmenter = loadJieba }: WordsOptions = {}): Words {
  let chinese: Promise<Chinese> | undefined;
  return {
    version: WORDS_VERSION,
    async analyse(texts) {
      if (chinese === undefined && texts.some(hasHan)) chinese = loadChinese(segmenter);
      const loaded = await chinese;
      return texts.map((text) => analyseText(text, loaded));
    },
  };
}

function analyseText(text: string, chinese: Chinese | undefined): TextWords {
  const terms: string[] = [];
  const places: number[] = [];
  const forms: string[] = [];
  const formTerms: string[] = [];
  let place = 0;
  const folded = foldText(text);
  const plain = chinese !== undefined && hasHan(folded) ? chinese.simplify(folded) : folded;
  for (const run of runsOf(plain)) {
    if (run.kind === 'word') {
      if (STOP_WORDS.has(run.text)) continue;
      const term = termOf(run.text);
      forms.push(run.text);
      formTerms.push(term);
      terms.push(term);
      places.push(place);
      place += 1;
      continue;
    }
    const letters = Array.from(run.text);
    const found = [...(run.kind === 'han' ? (chinese?.words(run.text) ?? []) : []), ...pairs(letters)];
    found.sort((left, right) => left.at - right.at);
    for (const { word, at } of found) {
      terms.push(word);
      places.push(place + at);
    }
    // The next word is no neighbour of the last letter.
    place += letters.length + 1;
  }
  return {
    terms,
    places,
    forms,
    formTerms,
    // Asked for of questions alone.
    get language() {
      return languageOf(text);
    },
  };
}

/** Longer ones are cut, so that a term is never longer than a key of a database may be. */
const MAX_TERM = 64;

function termOf(word: string): string {
  const cut = word.length > MAX_TERM ? word.slice(0, MAX_TERM) : word;
  return /^[a-z]{3,}$/.test(cut) ? stem(cut) : cut;
}

function pairs(letters: readonly string[]): { readonly word: string; readonly at: number }[] {
  if (letters.length < 2) return letters.map((word) => ({ word, at: 0 }));
  return letters.slice(1).map((letter, at) => ({ word: `${letters[at]}${letter}`, at }));
}
