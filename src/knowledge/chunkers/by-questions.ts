import { type MarkdownHeading, markdownHeadings } from '../splitters/markdown-sections.js';
import { type ByTokensOptions, tokenCut } from './by-tokens.js';
import { atMost, type Chunker, type ParsedDocument, type Range } from './chunker.js';
import { linesOf } from './lines-of.js';

/** The mark of a question at the beginning of a line, then of an answer. */
const QUESTION = /^\s*(?:q(?:uestion)?\s*\d*|问题?\s*\d*|\d{1,4}\s*[.、)）]\s*(?:q|问题?))\s*[:：.、]\s*/i;
const ANSWER = /^\s*(?:a(?:nswer)?\s*\d*|答案?\s*\d*|回答)\s*[:：.、]\s*/i;

/** Units at the beginning of a line in which a mark stands. */
const MAX_MARK = 64;

interface Pair extends Range {
  readonly question: string;
}

/**
 * Cuts a document into pairs of question and answer: each is a chunk from its question to the next one, with the words of the question in `question`.
 *
 * Pairs are lines that begin with `Q:` and `A:`, `Question 1:` and `Answer:`, `问：` and `答：`; else lines with one tab between question and answer; else
 * headings of Markdown that end with a question mark, or all of them where none does. A pair that is too long is cut by tokens, each part with its question. Of a document
 * without pairs the whole is cut by tokens.
 *
 * @throws EngineError OPTION_INVALID; LIMIT_REACHED when read, for too many chunks.
 */
export function byQuestions(options: ByTokensOptions): Chunker {
  const cut = tokenCut(options);
  function* pairs(document: ParsedDocument) {
    const { text } = document;
    let at = 0;
    for (const { start, end, question } of pairsOf(text)) {
      yield* cut(document, { start: at, end: start }, {});
      yield* cut(document, { start, end }, { question });
      at = end;
    }
    yield* cut(document, { start: at, end: text.length }, {});
  }
  return (document) => atMost(pairs(document), options.maxChunks);
}

function pairsOf(text: string): readonly Pair[] {
  const marked = markedPairs(text);
  if (marked.length > 0) return marked;
  const tabbed = tabbedPairs(text);
  return tabbed.length > 0 ? tabbed : headedPairs(text);
}

/** Pairs whose question and answer begin with a mark each. */
function markedPairs(text: string): Pair[] {
  const pairs: Pair[] = [];
  let open: { start: number; question: string; isAnswered: boolean } | undefined;
  const close = (end: number): void => {
    if (open?.isAnswered) pairs.push({ start: open.start, end, question: open.question.trim() });
    open = undefined;
  };
  for (const { start, end } of linesOf(text)) {
    const head = text.slice(start, Math.min(end, start + MAX_MARK));
    const mark = QUESTION.exec(head);
    if (mark !== null) {
      close(start);
      open = { start, question: text.slice(start + mark[0].length, end), isAnswered: false };
    } else if (open !== undefined && !open.isAnswered) {
      if (ANSWER.test(head)) open.isAnswered = true;
      else open.question += text.slice(start, end);
    }
  }
  close(text.length);
  return pairs;
}

/** Pairs of which each is a line with one tab, when all lines are. */
function tabbedPairs(text: string): Pair[] {
  const pairs: Pair[] = [];
  for (const { start, end } of linesOf(text)) {
    const line = text.slice(start, end);
    if (line.trim() === '') continue;
    const [question = '', answer = '', ...more] = line.split('\t');
    if (more.length > 0 || question.trim() === '' || answer.trim() === '') return [];
    pairs.push({ start, end, question: question.trim() });
  }
  return pairs;
}

/** Pairs of a heading of Markdown that asks, and what stands below it; where none asks, every heading does, with those above it. */
function headedPairs(text: string): Pair[] {
  const headings = markdownHeadings(text);
  const asks = headings.some(({ title }) => ASKS.test(title));
  const path: MarkdownHeading[] = [];
  return headings.flatMap((heading, at) => {
    const { level, title, start } = heading;
    while ((path.at(-1)?.level ?? 0) >= level) path.pop();
    path.push(heading);
    const end = headings[at + 1]?.start ?? text.length;
    if (asks) return ASKS.test(title) ? [{ start, end, question: title }] : [];
    const isAnswered = text.slice(heading.end, end).trim() !== '';
    return isAnswered ? [{ start, end, question: path.map((one) => one.title).join('\n') }] : [];
  });
}

const ASKS = /[?？]$/;
