import { invalidOption, requireWhole } from '../../operators/invalid-option.js';
import { type Heading, headingsOf } from './by-headings.js';
import { type ByTokensOptions, SENTENCES, tokenCut } from './by-tokens.js';
import { atMost, type Chunker, type ParsedDocument, type Range } from './chunker.js';
import type { HeadingFamily } from './heading-levels.js';

/** The ways of {@link byTitles}. */
export const TITLE_METHODS = ['hierarchy', 'group'] as const;

/** How documents are cut at their titles. */
export interface ByTitlesOptions extends Omit<ByTokensOptions, 'overlap' | 'isOneEach'> {
  /** Ways to write titles, compiled; that with the most titles in a document counts. @default Markdown's alone */
  readonly families?: readonly HeadingFamily[];
  /** `hierarchy`: a chunk for each section. `group`: sections that are very small are joined with the next one. @default 'hierarchy' */
  readonly method?: (typeof TITLE_METHODS)[number];
  /**
   * Which of the levels that the document has is the deepest to cut at, from 1; more than there are: the deepest. 0, with `group`: the level of
   * most titles. @default 0
   */
  readonly hierarchy?: number;
  /** Whether a section is told what stands directly below the titles above it, as `context`. @default false */
  readonly tellsAbove?: boolean;
  /** Whether all sections are told what stands before the first title, as `context`; then that is no chunk of its own. @default false */
  readonly tellsRoot?: boolean;
}

/** Tokens below which `group` joins a section with the next one. Source: RAGFlow's title chunker. */
const MIN_GROUP_TOKENS = 32;

/** Tokens of a context at most, so that it does not outweigh the chunk. */
const MAX_CONTEXT_TOKENS = 512;

/** Numbers, quantities and lines of a table of contents, which only look like titles. */
const NO_TITLE = /^(?:0|\d+ +[\d~个只-]|\d+\.{2,})/;

interface Section extends Range {
  /** The titles above it, its own as the last; empty before the first title. */
  readonly path: readonly Heading[];
  /** Whether a section of a deeper level follows within it. */
  readonly hasChildren: boolean;
}

/**
 * Cuts a document at its titles, as RAGFlow's title chunkers do, without repeating any text: every part of the document is in one chunk, which
 * tells the titles above it. Sections that are too long are cut at sentences.
 *
 * @throws EngineError OPTION_INVALID; LIMIT_REACHED when read, for too many chunks.
 */
export function byTitles(options: ByTitlesOptions): Chunker {
  const { families = [], method = 'hierarchy', hierarchy = 0, tellsAbove = false, tellsRoot = false } = options;
  const { countTokens, delimiters = SENTENCES } = options;
  requireWhole('byTitles', 'hierarchy', hierarchy, 0);
  if (!TITLE_METHODS.includes(method)) throw invalidOption('byTitles', 'method', TITLE_METHODS.join(' or '), method);
  const cut = tokenCut({ ...options, delimiters });
  const firstPart = tokenCut({ countTokens, size: MAX_CONTEXT_TOKENS, delimiters });
  function* chunks(document: ParsedDocument) {
    /** By its position: many sections are told the same. */
    const beginnings = new Map<number, string>();
    const beginningOf = (range: Range): string => {
      const known = beginnings.get(range.start);
      if (known !== undefined) return known;
      const [draft] = firstPart(document, range, {});
      beginnings.set(range.start, draft?.text ?? '');
      return draft?.text ?? '';
    };
    const sections = sectionsOf(document.text, families, { method, hierarchy });
    const [root] = sections;
    const isRoot = tellsRoot && root !== undefined && root.path.length === 0 && sections.length > 1;
    const rootText = isRoot ? beginningOf(root) : '';
    const groups = method === 'group' ? grouped(document.text, sections, countTokens) : sections;
    for (const section of groups) {
      const isTold = isRoot && section.start === root.start && rootText.length >= textOf(document, section).length;
      // A title with nothing below it but deeper ones is told by these.
      if (isTold || (section.hasChildren && isBare(document.text, section))) continue;
      const above = tellsAbove ? section.path.slice(0, -1).map((title) => bodyOf(document.text, sections, title)) : [];
      const context = [rootText, ...above.map((range) => beginningOf(range))].filter((one) => one !== '');
      const headings = section.path.map(({ title }) => title);
      yield* cut(document, section, {
        ...(headings.length > 0 && { headings }),
        ...(context.length > 0 && section.start !== root?.start && { context: context.join('\n') }),
      });
    }
  }
  return (document) => atMost(chunks(document), options.maxChunks);
}

/** The parts of a text between its titles down to a level; together they are the text. */
function sectionsOf(
  text: string,
  families: readonly HeadingFamily[],
  { method, hierarchy }: { readonly method: (typeof TITLE_METHODS)[number]; readonly hierarchy: number },
): readonly Section[] {
  const all = headingsOf(text, families).filter(({ start, end }) => !NO_TITLE.test(text.slice(start, end).trim()));
  const deepest = method === 'group' && hierarchy === 0 ? mostFrequent(all) : nthLevel(all, Math.max(1, hierarchy));
  const titles = all.filter(({ level }) => level <= deepest);
  const sections: Section[] = [];
  if ((titles[0]?.start ?? text.length) > 0) {
    sections.push({ start: 0, end: titles[0]?.start ?? text.length, path: [], hasChildren: false });
  }
  const path: Heading[] = [];
  for (const [at, title] of titles.entries()) {
    while ((path.at(-1)?.level ?? -1) >= title.level) path.pop();
    path.push(title);
    const next = titles[at + 1];
    const hasChildren = next !== undefined && next.level > title.level;
    sections.push({ start: title.start, end: next?.start ?? text.length, path: [...path], hasChildren });
  }
  return sections;
}

/** The level of most titles, the outermost of equals; -1 without any. */
function mostFrequent(titles: readonly Heading[]): number {
  const counts = new Map<number, number>();
  for (const { level } of titles) counts.set(level, (counts.get(level) ?? 0) + 1);
  let best = -1;
  for (const level of [...counts.keys()].sort((a, b) => a - b)) {
    if (best === -1 || (counts.get(level) ?? 0) > (counts.get(best) ?? 0)) best = level;
  }
  return best;
}

/** The level that is the nth of those that occur, else the deepest; -1 without any. */
function nthLevel(titles: readonly Heading[], nth: number): number {
  const levels = [...new Set(titles.map(({ level }) => level))].sort((a, b) => a - b);
  return levels[Math.min(nth, levels.length) - 1] ?? -1;
}

/** Joins sections with those before them that are very small. */
function grouped(text: string, sections: readonly Section[], countTokens: (text: string) => number): Section[] {
  const groups: Section[] = [];
  let tokens = 0;
  for (const section of sections) {
    const last = groups.at(-1);
    const own = countTokens(text.slice(section.start, section.end));
    if (last !== undefined && tokens < MIN_GROUP_TOKENS) {
      // A first part without a title has that of the section that it is joined with.
      const path = last.path.length === 0 ? section.path : last.path;
      groups[groups.length - 1] = { ...last, path, end: section.end, hasChildren: false };
      tokens += own;
    } else {
      groups.push({ ...section, hasChildren: false });
      tokens = own;
    }
  }
  return groups;
}

function isBare(text: string, { path, end }: Section): boolean {
  return text.slice(path.at(-1)?.end ?? end, end).trim() === '';
}

/** What stands directly below a title. */
function bodyOf(text: string, sections: readonly Section[], title: Heading): Range {
  const section = sections[positionOf(sections, title.start)];
  return { start: title.end, end: section?.end ?? Math.min(title.end, text.length) };
}

function positionOf(sections: readonly Section[], start: number): number {
  let low = 0;
  let high = sections.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sections[middle]?.start ?? 0) < start) low = middle + 1;
    else high = middle;
  }
  return low;
}

function textOf({ text }: ParsedDocument, { start, end }: Range): string {
  return text.slice(start, end).trim();
}
