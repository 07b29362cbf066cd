/** A report while it is written: each sentence is shown when it is whole and was checked against what was read. */
import { HeldWords, statementParts, unheldPart } from './check-statement.js';
import type { ResearchEvidence } from './evidence-table.js';
import { sentencesOf, wholeSentencesEnd } from './sentences.js';

/** A source as a report cites it, numbered from 1. */
export interface CitedEvidence extends ResearchEvidence {
  readonly n: number;
}

/** What is said behind a sentence that the sources do not support. */
export const UNSUPPORTED_MARK = { en: ' (not supported by the sources)', zh: '（来源未能证实）' } as const;

/** Language of a report. */
export type ReportLanguage = keyof typeof UNSUPPORTED_MARK;

/** What a report may say. */
export interface ReportGround {
  /** The question, whose names need no source. */
  readonly question: string;
  readonly evidence: readonly CitedEvidence[];
  /** Sentences without citation get that of the evidence that holds all of it. */
  readonly language: ReportLanguage;
}

/** What became of a report. */
export interface CheckedReport {
  readonly text: string;
  /** Numbers of sources in the order in which the report cites them first. */
  readonly cited: readonly number[];
  /** Sentences with the mark. */
  readonly unsupported: number;
  /** Citations of sources that are not there, which were removed. */
  readonly removed: number;
}

const MARK = /\s*\[(\d{1,3})\]/g;

/**
 * Checks a report sentence by sentence. A citation of what is not there is removed. A sentence with a number, a name or a quote that is not in the
 * question and not in what it cites (or, without citation, in no source) is marked; one without citation gets that of the first source that holds it.
 *
 * ```text
 * pieces  'Ann wrote', ' it in 1950 [1]. It', ' has 9 parts.'
 * shown   '',          'Ann wrote it in 1950 [1].', ' It has 9 parts (not supported by the sources).'
 * ```
 */
export class ReportCheck {
  readonly #ground: ReportGround;
  readonly #held = new Map<number, HeldWords>();
  readonly #question: HeldWords;
  readonly #cited: number[] = [];
  #waiting = '';
  #text = '';
  #unsupported = 0;
  #removed = 0;

  constructor(ground: ReportGround) {
    this.#ground = ground;
    this.#question = new HeldWords([ground.question]);
  }

  /** Takes a piece and gives the sentences that are whole by now. */
  push(piece: string): string {
    this.#waiting += piece;
    const end = wholeSentencesEnd(this.#waiting);
    const whole = this.#waiting.slice(0, end);
    this.#waiting = this.#waiting.slice(end);
    return this.#show(whole);
  }

  /** Gives what is left at the end. */
  end(): string {
    const rest = this.#waiting;
    this.#waiting = '';
    return this.#show(rest);
  }

  get result(): CheckedReport {
    return { text: this.#text, cited: this.#cited, unsupported: this.#unsupported, removed: this.#removed };
  }

  #show(text: string): string {
    const shown = sentencesOf(text)
      .map((sentence) => this.#checked(sentence))
      .join('');
    this.#text += shown;
    return shown;
  }

  #checked(sentence: string): string {
    const { evidence, language } = this.#ground;
    const known = new Set(evidence.map(({ n }) => n));
    const cited: number[] = [];
    const kept = sentence.replaceAll(MARK, (mark, digits: string) => {
      const n = Number(digits);
      if (!known.has(n)) {
        this.#removed += 1;
        return '';
      }
      cited.push(n);
      return mark;
    });
    const { quotes, numbers, names } = statementParts(kept);
    const isClaim = quotes.length + numbers.length + names.length > 0;
    if (!isClaim) return this.#cite(cited, kept);
    if (cited.length > 0 && this.#isHeld(kept, cited)) return this.#cite(cited, kept);
    const other = evidence.find(({ n }) => this.#isHeld(kept, [...cited, n]));
    if (other !== undefined && this.#saysMoreThanQuestion(kept)) {
      return this.#cite([...cited, other.n], appended(kept, ` [${other.n}]`));
    }
    if (!this.#saysMoreThanQuestion(kept)) return this.#cite(cited, kept);
    this.#unsupported += 1;
    return this.#cite(cited, appended(kept, UNSUPPORTED_MARK[language]));
  }

  #cite(numbers: readonly number[], text: string): string {
    for (const n of numbers) if (!this.#cited.includes(n)) this.#cited.push(n);
    return text;
  }

  /** Whether sources hold a statement together with the question, whose names it repeats. */
  #isHeld(statement: string, numbers: readonly number[]): boolean {
    const { evidence, question } = this.#ground;
    const key = numbers.length === 1 ? numbers[0] : undefined;
    let held = key === undefined ? undefined : this.#held.get(key);
    if (held === undefined) {
      const cited = evidence.filter(({ n }) => numbers.includes(n));
      held = new HeldWords([question, ...cited.map(({ text, source }) => `${source}\n${text}`)]);
      if (key !== undefined) this.#held.set(key, held);
    }
    return unheldPart(statement, held) === undefined;
  }

  /** A sentence that says nothing but what was asked needs no source. */
  #saysMoreThanQuestion(statement: string): boolean {
    return unheldPart(statement, this.#question) !== undefined;
  }
}

/** Puts a mark behind the words of a sentence, before its end. */
function appended(sentence: string, mark: string): string {
  const body = sentence.trimEnd();
  const blanks = sentence.slice(body.length);
  const end = /(?:[.!?。！？]["”’)\]」』）]*)?$/u.exec(body)?.index ?? body.length;
  return `${body.slice(0, end)}${mark}${body.slice(end)}${blanks}`;
}
