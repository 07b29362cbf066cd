/** Citations in an answer: marks such as `[2]`, checked while the answer streams. */
import { mostFitting, type WordsOnPages, wordsOf, wordsOnPages } from '../../knowledge/words/words-on-pages.js';
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
  readonly #words = new Map<number, WordsOfEvidence>();
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
      const statement = wordsOf(lastStatement(this.#text));
      const { all, pages } = this.#wordsOfEvidence(evidence);
      const page = mostFitting(statement, pages) ?? evidence.page;
      const supported = isSupported(statement, all);
      this.#citations.push({ n, at: this.#text.length, supported, ...(page !== undefined && { page }) });
      this.#text += mark;
    }
    this.#text += text.slice(from);
    return this.#text.slice(before);
  }

  #wordsOfEvidence(evidence: Evidence): WordsOfEvidence {
    const known = this.#words.get(evidence.n);
    if (known !== undefined) return known;
    const { text, page_starts: starts = [] } = evidence;
    const words = { all: wordsOf(text), pages: wordsOnPages(text, starts) };
    this.#words.set(evidence.n, words);
    return words;
  }
}

/** The words of a source, and of each of its pages where it stands on several. */
interface WordsOfEvidence {
  readonly all: ReadonlySet<string>;
  readonly pages: WordsOnPages;
}

/** Whether a source holds what a statement says: all its numbers, and at least half of its words. */
function isSupported(statement: ReadonlySet<string>, held: ReadonlySet<string>): boolean {
  const found = [...statement].filter((word) => held.has(word));
  const lacksNumber = [...statement].some((word) => /^\d/.test(word) && !held.has(word));
  return statement.size > 0 && !lacksNumber && found.length / statement.size >= MIN_SHARE;
}

/** The sentence at the end of a text, without the marks in it. */
function lastStatement(text: string): string {
  const tail = text.slice(-MAX_STATEMENT).replaceAll(MARK, '').trimEnd();
  const ends = [...tail.matchAll(/[.!?]\s|[。！？\n]/g)].filter(({ index }) => index < tail.length - 1);
  const last = ends.at(-1);
  return last === undefined ? tail : tail.slice(last.index + 1);
}
