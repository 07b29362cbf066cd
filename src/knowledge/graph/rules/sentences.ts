/** Paragraphs, sentences and clauses of a text, with their places. */

/** A part of a text. */
export interface Span {
  readonly text: string;
  /** Of its first letter in the whole text, in UTF-16 units. */
  readonly start: number;
}

/** Between paragraphs stands an empty line. */
const PARAGRAPH_GAP = /\n[^\S\n]*\n\s*/g;

/** An end of a sentence: a mark behind which something new begins, a Chinese mark, or a line that is no continuation. */
const SENTENCE_END =
  /[.!?](?=["'”’)]*\s+["'“‘(]*[\p{Lu}\p{Script=Han}\d])["'”’)]*|[。！？；;]|\n+(?=\s*(?:[-*•#|]|\d+[.)、]|$))/gu;

/** Short forms that a full stop belongs to. */
const ABBREVIATION = /(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|etc|e\.g|i\.e|No|Inc|Ltd|Co|Fig)|\b\p{Lu})\.$/u;

/** Words that begin a clause with a meaning of its own. */
const CLAUSE_GAP =
  /(?:,\s*)?\b(?:but|whereas|while|although|however)\b,?\s*|[，,]?\s*(?:但是|但|而是|然而|不过)\s*|[—–]\s*/g;

/** The paragraphs of a text. */
export function paragraphsOf(text: string): Span[] {
  return partsOf({ text, start: 0 }, text.matchAll(PARAGRAPH_GAP), 'without');
}

/** The sentences of a paragraph, with the marks that end them. */
export function sentencesOf(paragraph: Span): Span[] {
  const ends = [...paragraph.text.matchAll(SENTENCE_END)].filter(
    (end) => end[0][0] !== '.' || !ABBREVIATION.test(paragraph.text.slice(Math.max(0, end.index - 8), end.index + 1)),
  );
  return partsOf(paragraph, ends, 'with');
}

/** The clauses of a sentence. */
export function clausesOf(sentence: Span): Span[] {
  return partsOf(sentence, sentence.text.matchAll(CLAUSE_GAP), 'without');
}

/** What stands between gaps, with or without them; nothing that is empty. */
function partsOf({ text, start }: Span, gaps: Iterable<RegExpExecArray>, keeps: 'with' | 'without'): Span[] {
  const parts: Span[] = [];
  let from = 0;
  const push = (to: number): void => {
    const part = text.slice(from, to);
    const lead = part.length - part.trimStart().length;
    if (part.trim() !== '') parts.push({ text: part.trim(), start: start + from + lead });
  };
  for (const gap of gaps) {
    const end = gap.index + gap[0].length;
    push(keeps === 'with' ? end : gap.index);
    from = end;
  }
  push(text.length);
  return parts;
}
