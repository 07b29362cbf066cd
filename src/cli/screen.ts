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
  #isAnswerOpen = false;
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
  }

  /** A piece of text beside the answer, such as a model's reasoning. */
  aside(text: string): void {
    if (text === '') return;
    this.#clearStatus();
    if (!this.#isAsideOpen) this.#breakAnswer();
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
    if (!this.#isLive || this.#isAnswerOpen || this.#isAsideOpen) return;
    this.#clearStatus();
    this.#err.write(`… ${printable(text).replaceAll('\n', ' ').slice(0, MAX_STATUS_LENGTH)}`);
    this.#hasStatus = true;
  }

  /** Ends every unfinished line. */
  end(): void {
    this.#clearStatus();
    this.#closeAside();
    if (this.#isAnswerOpen) this.#out.write('\n');
    this.#isAnswerOpen = false;
  }

  #closeAside(): void {
    if (this.#isAsideOpen) this.#err.write('\n');
    this.#isAsideOpen = false;
  }

  /** On a screen both outputs share the line; in a pipe the answer must stay as it is. */
  #breakAnswer(): void {
    if (this.#isAnswerOpen && this.#out.isTTY === true && this.#err.isTTY === true) this.#err.write('\n');
  }

  #clearStatus(): void {
    if (this.#hasStatus) this.#err.write('\r\u001b[K');
    this.#hasStatus = false;
  }
}

function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => (character === '\n' || character === '\t' ? character : ''));
}
