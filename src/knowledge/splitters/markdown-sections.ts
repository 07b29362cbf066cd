/** The sections of a Markdown text: its headings, found line by line, and what stands below each. */

/** A heading of Markdown. */
export interface MarkdownHeading {
  /** 1 to 6. */
  readonly level: number;
  /** Without the marks around it. */
  readonly title: string;
  /** First position of its line or lines. */
  readonly start: number;
  /** First position behind them. */
  readonly end: number;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const ATX = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;
const CLOSING_MARKS = /(?:^|[ \t])#+[ \t]*$/;
const UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/;
/** What cannot be the text of an underlined heading: an empty line, lists, quotes, tables, and lines that are code. */
const NO_TITLE = /^(?:\s*$|\s{4}|\t| {0,3}(?:[-*+>|]|\d{1,9}[.)]))/;

/**
 * The headings of a text, in order: lines that begin with `#`, and single lines that are underlined with `=` or `-`. Marks in fenced code
 * are no headings. Linear in the text.
 */
export function markdownHeadings(text: string): MarkdownHeading[] {
  const headings: MarkdownHeading[] = [];
  let fence: string | undefined;
  let before = '';
  /** Whether the line before begins a paragraph. */
  let isTitle = false;
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline + 1;
    const line = text.slice(start, newline === -1 ? end : newline).replace(/\r$/, '');
    const wasTitle = isTitle;
    isTitle = false;
    const mark = FENCE.exec(line);
    if (fence !== undefined) {
      if (mark !== null && closes(mark, fence)) fence = undefined;
    } else if (mark !== null && opens(mark)) {
      fence = mark[1];
    } else {
      const atx = ATX.exec(line);
      const underline = wasTitle ? UNDERLINE.exec(line) : null;
      if (atx !== null) {
        const [, marks = '', rest = ''] = atx;
        headings.push({ level: marks.length, title: rest.replace(CLOSING_MARKS, '').trim(), start, end });
      } else if (underline !== null) {
        const level = underline[1]?.startsWith('=') ? 1 : 2;
        headings.push({ level, title: before.trim(), start: start - lengthBefore(text, start), end });
      } else {
        isTitle = !NO_TITLE.test(line) && isAfterBreak(text, start, headings.at(-1)?.end);
      }
    }
    before = line;
    start = end;
  }
  return headings;
}

/** Backticks behind backticks make code within a line, and no fence. */
function opens([, marks = '', rest = '']: RegExpExecArray): boolean {
  return !(marks.startsWith('`') && rest.includes('`'));
}

function closes([, marks = '', rest = '']: RegExpExecArray, fence: string): boolean {
  return marks[0] === fence[0] && marks.length >= fence.length && rest.trim() === '';
}

/** Characters of the line before the one that begins at `start`, with its end. */
function lengthBefore(text: string, start: number): number {
  return start - (text.lastIndexOf('\n', start - 2) + 1);
}

/** Whether a line is the first of the text, or stands behind a heading or an empty line. */
function isAfterBreak(text: string, start: number, headingEnd: number | undefined): boolean {
  if (start === 0 || start === headingEnd) return true;
  const lineStart = text.lastIndexOf('\n', start - 2) + 1;
  return text.slice(lineStart, start).trim() === '';
}
