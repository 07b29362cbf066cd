/** Whether a text holds what a statement says: its quotes, its numbers, its names. */
import { foldText, hasHan, runsOf } from '../../knowledge/words/split-words.js';
import { STOP_WORDS } from '../../knowledge/words/stop-words.js';

/** What of a statement must occur in its evidence. */
export interface StatementParts {
  readonly quotes: readonly string[];
  readonly numbers: readonly string[];
  readonly names: readonly string[];
}

const QUOTE = /["“„«「『]([^"“”„«»「」『』]{3,300})["”»」』]/g;
const NUMBER = /\d+(?:[.,:/-]\d+)*/g;
/** Capitalised words in a row, short words between them. */
const NAME =
  /\p{Lu}[\p{L}\p{M}\p{N}'’.&-]*(?:\s+(?:(?:of|the|de|la|von|van|der|and|du|da|di)\s+){0,2}\p{Lu}[\p{L}\p{M}\p{N}'’.&-]*)*/gu;
const MARK = /\[\d{1,3}\]/g;
/** Units of a statement that are looked at. */
const MAX_STATEMENT = 4_000;

/** Begin sentences, and are no names there. */
const OPENERS = new Set(
  'according although after also an and as at because before both but by during each first for from had has have he her his however if in it its later no not of on one only or she since so some that the their there these they this those though thus to two until was were what when where which while who why with yes you both between among under over more most many much such other another the answer evidence sources source findings finding'.split(
    ' ',
  ),
);

/** The quotes, numbers and names of a statement; marks of citations are none. */
export function statementParts(given: string): StatementParts {
  const statement = given.slice(0, MAX_STATEMENT).replaceAll(MARK, ' ').normalize('NFKC');
  const quotes = [...statement.matchAll(QUOTE)].map(([, quote = '']) => quote.trim());
  const numbers = [...new Set([...statement.matchAll(NUMBER)].map(([number]) => plainNumber(number)))];
  return { quotes, numbers, names: namesIn(statement) };
}

function namesIn(statement: string): readonly string[] {
  const names = new Set<string>();
  for (const { 0: found, index } of statement.matchAll(NAME)) {
    const name = found.replace(/['’]s$/u, '').replace(/[.'’-]+$/u, '');
    const words = name.split(/\s+/);
    // What begins a sentence is a name when more than its first word says so.
    if (isSentenceStart(statement, index) && OPENERS.has((words[0] ?? '').toLowerCase())) words.shift();
    while (words.length > 0 && OPENERS.has((words[0] ?? '').toLowerCase())) words.shift();
    if (words.length > 0) names.add(words.join(' '));
  }
  return [...names];
}

function isSentenceStart(text: string, at: number): boolean {
  return /(?:^|[.!?。！？:\n]["”’)\]]*)\s*$/u.test(text.slice(Math.max(0, at - 8), at));
}

/** A number without what groups its digits. */
function plainNumber(number: string): string {
  return number.replaceAll(/(?<=\d),(?=\d{3}(?!\d))/g, '');
}

/** Texts, prepared to be asked what they hold. */
export class HeldWords {
  readonly #folded: string;
  readonly #numbers: ReadonlySet<string>;
  readonly #words: ReadonlySet<string>;

  constructor(texts: readonly string[]) {
    const joined = texts.join('\n').normalize('NFKC');
    this.#folded = spaced(foldText(joined));
    this.#numbers = new Set(
      [...joined.matchAll(NUMBER)].flatMap(([number]) => [plainNumber(number), ...number.split(/[.,:/-]/)]),
    );
    this.#words = new Set([...runsOf(this.#folded)].map(({ text }) => text));
  }

  /** Whether the words occur as they are, but for case, accents and marks. */
  holdsText(text: string): boolean {
    const wanted = spaced(foldText(text.normalize('NFKC')));
    if (wanted === '') return false;
    return hasHan(wanted)
      ? this.#folded.replaceAll(' ', '').includes(wanted.replaceAll(' ', ''))
      : ` ${this.#folded} `.includes(` ${wanted} `);
  }

  holdsNumber(number: string): boolean {
    const plain = plainNumber(number);
    return this.#numbers.has(plain) || plain.split(/[.,:/-]/).every((part) => this.#numbers.has(part));
  }

  /** Whether a name occurs: as a whole, or each of its words. */
  holdsName(name: string): boolean {
    return this.holdsText(name) || wordsOf(name).every((word) => this.#words.has(word));
  }

  /** Share of the words of a text that occur, 0 to 1; 0 for a text without any. */
  shareOf(text: string): number {
    const words = wordsOf(text);
    if (words.length === 0) return 0;
    const held = words.filter((word) => (hasHan(word) ? this.#folded.includes(word) : this.#words.has(word)));
    return held.length / words.length;
  }
}

function spaced(folded: string): string {
  return [...folded.matchAll(/[\p{L}\p{N}]+/gu)].map(([word]) => word).join(' ');
}

/** Words of a text without those that stop words are; pairs of letters where words have no spaces. */
function wordsOf(text: string): readonly string[] {
  const words: string[] = [];
  for (const { text: run, kind } of runsOf(foldText(text.normalize('NFKC')))) {
    if (kind === 'word') {
      // Numbers are compared by themselves.
      if (!STOP_WORDS.has(run) && !/^\d+$/.test(run)) words.push(run);
      continue;
    }
    const letters = [...run];
    if (letters.length === 1) words.push(run);
    for (let at = 1; at < letters.length; at += 1) words.push(`${letters[at - 1]}${letters[at]}`);
  }
  return words;
}

/** The first part of a statement that the texts do not hold; undefined when they hold all of it. */
export function unheldPart(statement: string, held: HeldWords): string | undefined {
  const { quotes, numbers, names } = statementParts(statement);
  return (
    quotes.find((quote) => !held.holdsText(quote)) ??
    numbers.find((number) => !held.holdsNumber(number)) ??
    names.find((name) => !held.holdsName(name))
  );
}

/** Words of an answer up to which all must occur. */
const SHORT_ANSWER = 2;
/** Share of the words of a longer answer that must occur. */
const LONG_SHARE = 0.5;
const VERDICT = /^(?:yes|no|true|false|是|否|不是|对|不对|没有|有)[.。!！]?$/i;

/**
 * Whether evidence holds an answer. Quotes, numbers and names must occur in it, and half of the words; of one or two
 * words all.
 * "Yes" and "no" stand in no text, and pass.
 */
export function holdsAnswer(answer: string, evidence: readonly string[]): boolean {
  const said = answer.trim();
  if (said === '' || evidence.length === 0) return false;
  if (VERDICT.test(said)) return true;
  const held = new HeldWords(evidence);
  if (unheldPart(said, held) !== undefined) return false;
  const words = wordsOf(said);
  if (words.length === 0) return statementParts(said).numbers.length > 0 || held.holdsText(said);
  return held.shareOf(said) >= (words.length <= SHORT_ANSWER ? 1 : LONG_SHARE);
}
