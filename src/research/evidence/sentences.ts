/** Sentences of texts in English and Chinese. */

/** A full stop that ends no sentence. */
const ABBREVIATION = /(?:\b(?:Mr|Mrs|Ms|Dr|St|Prof|Jr|Sr|vs|etc|e\.g|i\.e|No|Inc|Ltd|Co|Fig|ca|approx)|\b\p{Lu})\.$/u;

/** An end of a sentence: its mark, what closes behind it, citations, and the space; or a line that is over. */
const END = /(?:[.!?]+["”’)\]]*(?:\s*\[\d{1,3}\])*(?=\s|$)|[。！？]+["”’」』）]*(?:\s*\[\d{1,3}\])*|\n)/gu;

/** Where the last whole sentence of a text that still grows ends; 0 when none has. What follows the end must be there, for citations come behind it. */
export function wholeSentencesEnd(text: string): number {
  let end = 0;
  for (const { 0: mark, index } of text.matchAll(END)) {
    const after = index + mark.length;
    const next = text.slice(after).trimStart();
    // A citation may follow, and its mark may have come in part.
    if (mark !== '\n' && (next === '' || next.startsWith('['))) continue;
    if (mark.startsWith('.') && ABBREVIATION.test(text.slice(Math.max(0, index - 8), index + 1))) continue;
    end = after;
  }
  return end;
}

/** The sentences of a text with the marks and spaces behind them; joined they are the text. */
export function sentencesOf(text: string): readonly string[] {
  const sentences: string[] = [];
  let start = 0;
  for (const { 0: mark, index } of text.matchAll(END)) {
    const after = index + mark.length;
    if (mark.startsWith('.') && ABBREVIATION.test(text.slice(Math.max(0, index - 8), index + 1))) continue;
    sentences.push(text.slice(start, after));
    start = after;
  }
  if (start < text.length) sentences.push(text.slice(start));
  return sentences;
}
