/** Which parts of a text the server marked. */

/** A part of a text. */
export interface TextPart {
  readonly text: string;
  readonly isMarked: boolean;
  /** Where it begins in the text. */
  readonly at: number;
}

const OPEN = '<em>';
const CLOSE = '</em>';

/**
 * Parts of a text whose `highlight` is the same text with `<em>` and `</em>` around words. Those signs may also stand in the text itself: one that
 * the text goes on with begins no mark. A highlight of another text marks nothing.
 */
export function markedParts(text: string, highlight: string): readonly TextPart[] {
  const parts: TextPart[] = [];
  let isMarked = false;
  let from = 0;
  let at = 0;
  let read = 0;
  const end = (): void => {
    if (at > from) parts.push({ text: text.slice(from, at), isMarked, at: from });
    from = at;
  };
  while (read < highlight.length) {
    const mark = isMarked ? CLOSE : OPEN;
    // A mark holds letters alone, so that it ends with the first such sign.
    if (highlight.startsWith(mark, read) && (isMarked || !text.startsWith(OPEN, at))) {
      end();
      isMarked = !isMarked;
      read += mark.length;
      continue;
    }
    if (highlight[read] !== text[at]) return [{ text, isMarked: false, at: 0 }];
    read += 1;
    at += 1;
  }
  at = text.length;
  end();
  return parts;
}
