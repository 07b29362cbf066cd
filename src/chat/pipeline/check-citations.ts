/** Citations in an answer: marks such as `[2]`, checked while the answer streams. */
import type { Citation, Evidence } from './chat-events.js';

/** A mark, whole or as far as it has come: digits in brackets, of which models write up to three. */
const MARK = /\[(\d{1,3})\]/g;
const BEGUN = /\[\d{0,3}$/;

/** Units of a statement before its mark that are looked at. */
const MAX_STATEMENT = 400;

/** Share of the words of a statement that its evidence must hold. */
const MIN_SHARE = 0.5;

/** What a checked answer has. */
export interface CheckedAnswer {
  readonly text: string;
  readonly citations: readonly Citation[];
  /** Marks without evidence, which were removed. */
  readonly removed: number;
}

/**
 * Checks the marks of an answer that comes in pieces. A mark whose number no evidence has is removed; a piece that ends within a mark is held back until
 * the mark is whole, which are four units at most. Other brackets are texts.
 *
 * ```text
 * pieces  'as [', '1', '] and [9].'
 * shown   'as ',  '',  '[1] and .'
 * ```
 */
export class CitationCheck {
  readonly #evidence: ReadonlyMap<number, Evidence>;
  readonly #words = new Map<number, ReadonlySet<string>>();
  readonly #citations: Citation[] = [];
  #text = '';
  #held = '';
  #removed = 0;

  constructor(evidence: readonly Evidence[]) {
    this.#evidence = new Map(evidence.map((item) => [item.n, item]));
  }

  /** Takes a piece and gives what may be shown of the answer so far. */
  push(piece: string): string {
    const text = this.#held + piece;
    this.#held = BEGUN.exec(text)?.[0] ?? '';
    return this.#show(text.slice(0, text.length - this.#held.length));
  }

  /** Gives what is left at the end of the answer. */
  end(): string {
    const rest = this.#held;
    this.#held = '';
    return this.#show(rest);
  }

  /** The answer as it was shown. */
  get result(): CheckedAnswer {
    return { text: this.#text, citations: this.#citations, removed: this.#removed };
  }

  #show(text: string): string {
    const before = this.#text.length;
    let from = 0;
    for (const { 0: mark, 1: digits, index } of text.matchAll(MARK)) {
      this.#text += text.slice(from, index);
      from = index + mark.length;
      const evidence = this.#evidence.get(Number(digits));
      if (evidence === undefined) {
        this.#removed += 1;
        continue;
      }
      const { n } = evidence;
      this.#citations.push({ n, at: this.#text.length, supported: this.#isSupported(evidence) });
      this.#text += mark;
    }
    this.#text += text.slice(from);
    return this.#text.slice(before);
  }

  /** Whether the evidence holds what the statement before the mark says: all its numbers, and at least half of its words. */
  #isSupported(evidence: Evidence): boolean {
    const words = wordsOf(lastStatement(this.#text));
    if (words.size === 0) return false;
    const held = this.#wordsOfEvidence(evidence);
    let found = 0;
    for (const word of words) {
      if (held.has(word)) found += 1;
      else if (/^\d/.test(word)) return false;
    }
    return found / words.size >= MIN_SHARE;
  }

  #wordsOfEvidence({ n, text }: Evidence): ReadonlySet<string> {
    const known = this.#words.get(n);
    if (known !== undefined) return known;
    const words = wordsOf(text);
    this.#words.set(n, words);
    return words;
  }
}

/** The sentence at the end of a text, without the marks in it. */
function lastStatement(text: string): string {
  const tail = text.slice(-MAX_STATEMENT).replaceAll(MARK, '').trimEnd();
  const ends = [...tail.matchAll(/[.!?]\s|[。！？\n]/g)].filter(({ index }) => index < tail.length - 1);
  const last = ends.at(-1);
  return last === undefined ? tail : tail.slice(last.index + 1);
}

/** Words of three letters and more, numbers, and pairs of Chinese, Japanese and Korean characters. */
function wordsOf(text: string): ReadonlySet<string> {
  const words = new Set<string>();
  for (const [run] of text
    .normalize('NFKC')
    .toLowerCase()
    .matchAll(/\d+(?:[.,]\d+)*|\p{Script=Han}+|(?:(?!\p{Script=Han})[\p{L}\p{M}])+/gu)) {
    if (/^\p{Script=Han}/u.test(run)) {
      const letters = [...run];
      for (let at = 1; at < letters.length; at += 1) words.add(`${letters[at - 1]}${letters[at]}`);
    } else if (run.length > 2 || /^\d/.test(run)) words.add(run);
  }
  return words;
}
