import { type Delta, delta } from '../../graph/node-events.js';

/** Where reasoning begins and ends within a text. */
export const THINK_OPEN = '<think>';
export const THINK_CLOSE = '</think>';

/**
 * Splits a whole text at its think tags: pieces between them belong to the port `thinking`, all others to `content`. The
 * tags are removed; a closing tag without an opening one stays as text.
 */
export function splitThinkTags(text: string): Delta[] {
  const pieces: Delta[] = [];
  const add = (port: string, from: number, to: number): void => {
    if (to > from) pieces.push(delta(port, text.slice(from, to)));
  };
  let from = 0;
  for (let open = text.indexOf(THINK_OPEN); open !== -1; open = text.indexOf(THINK_OPEN, from)) {
    add('content', from, open);
    const start = open + THINK_OPEN.length;
    const close = text.indexOf(THINK_CLOSE, start);
    add('thinking', start, close === -1 ? text.length : close);
    from = close === -1 ? text.length : close + THINK_CLOSE.length;
  }
  add('content', from, text.length);
  return pieces;
}

/** A text without thinking: blocks, an open block up to the end, and single tags. */
export function removeThinking(text: string): string {
  if (!text.includes(THINK_OPEN) && !text.includes(THINK_CLOSE)) return text;
  const spoken = splitThinkTags(text).filter(({ port }) => port === 'content');
  return spoken
    .map((piece) => piece.text)
    .join('')
    .replaceAll(THINK_CLOSE, '')
    .trim();
}

/** A text as a document has it: without thinking, and with one empty line between paragraphs. */
export function documentText(text: string): string {
  return removeThinking(text)
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** Joins pieces of the ports `content` and `thinking` to one text, with tags around the thinking. */
export class TaggedText {
  #text: string;
  #isThinking = false;

  /** Continues a text that `toString` returned before. */
  constructor(text = '') {
    this.#text = text;
  }

  /** Adds a piece of reasoning or of the answer. */
  append(text: string, isThinking: boolean): void {
    if (isThinking !== this.#isThinking) {
      this.#text += isThinking ? THINK_OPEN : THINK_CLOSE;
      this.#isThinking = isThinking;
    }
    this.#text += text;
  }

  /** The text so far; an open block is closed. */
  toString(): string {
    return this.#isThinking ? this.#text + THINK_CLOSE : this.#text;
  }
}
