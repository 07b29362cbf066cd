import type { Range } from './chunker.js';

/** The lines of a text, with their ends, in order; together they are the text. */
export function* linesOf(text: string): Generator<Range> {
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline + 1;
    yield { start, end };
    start = end;
  }
}
