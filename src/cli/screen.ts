/** The two outputs of a terminal as one screen, on which an answer, remarks and a status line do not run into each other. */
import type { Output, Terminal } from './terminal.js';

/** Longest status line, in characters: a line that wraps cannot be wiped. */
const MAX_STATUS_LENGTH = 60;

/**
 * Writes answers to the standard output and everything else to the standard error.
 *
 * Texts of models and documents lose their control characters where they reach a screen, so that none of them can steer it.
 */
export class Screen {
  readonly #out: Output;
  readonly #err: Output;
  readonly #isLive: boolean;
  /** The answer's last line has no end yet. */
  #isAnswerOpen = false;
  /** The next character on the screen would stand behind a piece of the answer. */
  #isBehindAnswer = false;
  #isAsideOpen = false;
  #hasStatus = false;

  constructor({ out, err, env }: Pick<Terminal, 'out' | 'err' | 'env'>) {
    this.#out = out;
    this.#err = err;
    this.#isLive = err.isTTY === true && env.TERM !== 'dumb';
  }

  /** A piece of the answer; exact when it goes into a file or a pipe. */
  answer(text: string): void {
    if (text === '') return;
    this.#clearStatus();
    this.#closeAside();
    this.#out.write(this.#out.isTTY === true ? printable(text) : text);
    this.#isAnswerOpen = !text.endsWith('\n');
    this.#isBehindAnswer = this.#isAnswerOpen && this.#out.isTTY === true;
  }

  /** A piece of text beside the answer, such as a model's reasoning. */
  aside(text: string): void {
    if (text === '') return;
    this.#clearStatus();
    this.#breakAnswer();
    this.#err.write(printable(text));
    this.#isAsideOpen = !text.endsWith('\n');
  }

  /** A whole line beside the answer. */
  remark(line: string): void {
    this.#closeAside();
    this.aside(`${line}\n`);
  }

  /** Says what is being done, on a screen only and never behind an unfinished line; the next text takes its place. */
  status(text: string): void {
    if (!this.#isLive || this.#isBehindAnswer || this.#isAsideOpen) return;
    this.#clearStatus();
    this.#err.write(`… ${printable(text).replaceAll('\n', ' ').slice(0, MAX_STATUS_LENGTH)}`);
    this.#hasStatus = true;
  }

  /** Ends every unfinished line. */
  end(): void {
    this.#clearStatus();
    this.#closeAside();
    const isOpen = this.#out.isTTY === true ? this.#isBehindAnswer : this.#isAnswerOpen;
    if (isOpen) this.#out.write('\n');
    this.#isAnswerOpen = false;
    this.#isBehindAnswer = false;
  }

  #closeAside(): void {
    if (this.#isAsideOpen) this.#err.write('\n');
    this.#isAsideOpen = false;
  }

  /** On a screen both outputs share the line; in a pipe the answer must stay as it is. */
  #breakAnswer(): void {
    if (!this.#isBehindAnswer || this.#err.isTTY !== true) return;
    this.#err.write('\n');
    this.#isBehindAnswer = false;
  }

  #clearStatus(): void {
    if (this.#hasStatus) this.#err.write('\r\u001b[K');
    this.#hasStatus = false;
  }
}

function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => (character === '\n' || character === '\t' ? character : ''));
}
