import { requireObject, requireWhole } from '../../operators/invalid-option.js';
import { markdownHeadings } from '../splitters/markdown-sections.js';
import { type ByTokensOptions, tokenCut } from './by-tokens.js';
import { atMost, type Chunker, type ParsedDocument, type Range } from './chunker.js';
import type { HeadingFamily } from './heading-levels.js';
import { linesOf } from './lines-of.js';

/** How documents are cut at their headings. */
export interface ByHeadingsOptions extends ByTokensOptions {
  /** Ways to write headings, compiled; that with the most headings in a document counts, the first of equals. @default Markdown's alone */
  readonly families?: readonly HeadingFamily[];
  /** Levels at which is cut, from the outermost; deeper headings stay within their section. 0 for all. @default 0 */
  readonly depth?: number;
  /** Whether the chunks of a section have its own heading as their beginning, and not among `headings` alone. @default true */
  readonly keepHeadings?: boolean;
}

/** A heading of a document. */
export interface Heading extends Range {
  /** From 0, the outermost. */
  readonly level: number;
  readonly title: string;
}

/** Units of a line that may be a heading; longer lines are texts. */
const MAX_LINE = 200;

/**
 * Cuts a document at its headings: a chunk for each section, which is cut by tokens where it is too long. Every chunk tells the headings above it,
 * its own as the last. What stands before the first heading is a section without one; a heading with nothing below it but deeper ones makes no chunk.
 *
 * @throws EngineError OPTION_INVALID; LIMIT_REACHED when read, for too many chunks.
 */
export function byHeadings(options: ByHeadingsOptions): Chunker {
  requireObject('byHeadings', 'options', options, 'an object with "countTokens"');
  const { families = [], depth = 0, keepHeadings = true, maxChunks } = options;
  requireWhole('byHeadings', 'depth', depth, 0);
  const cut = tokenCut(options);
  function* sections(document: ParsedDocument) {
    const headings = headingsOf(document.text, families).filter(({ level }) => depth === 0 || level < depth);
    const { text } = document;
    yield* cut(document, { start: 0, end: headings[0]?.start ?? text.length }, {});
    const path: Heading[] = [];
    for (const [index, heading] of headings.entries()) {
      while ((path.at(-1)?.level ?? -1) >= heading.level) path.pop();
      path.push(heading);
      const next = headings[index + 1];
      const end = next?.start ?? text.length;
      const isBare = text.slice(heading.end, end).trim() === '';
      if (isBare && (next?.level ?? -1) > heading.level) continue;
      // A section that is a heading alone is the last thing that tells of it.
      const start = keepHeadings || isBare ? heading.start : heading.end;
      yield* cut(document, { start, end }, { headings: path.map(({ title }) => title) });
    }
  }
  return (document) => atMost(sections(document), maxChunks);
}

/** The headings of a text in the way of writing that it uses most. */
export function headingsOf(text: string, families: readonly HeadingFamily[]): readonly Heading[] {
  if (families.length === 0) {
    return markdownHeadings(text).map(({ level, title, start, end }) => ({ level: level - 1, title, start, end }));
  }
  const found = families.map((): Heading[] => []);
  for (const { start, end } of linesOf(text)) {
    const line = text.slice(start, end).trim();
    if (line === '' || line.length > MAX_LINE) continue;
    for (const [index, family] of families.entries()) {
      // The deepest: the pattern of `1.` fits `1.1`, too.
      const level = family.findLastIndex((isHeading) => isHeading(line));
      if (level !== -1) found[index]?.push({ level, title: line.replace(/^#+\s*/, ''), start, end });
    }
  }
  return found.reduce((best, other) => (other.length > best.length ? other : best), found[0] ?? []);
}
