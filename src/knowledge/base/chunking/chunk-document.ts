/** How documents are cut, by RAGFlow's names of methods. */
import { isJsonObject, type JsonObject } from '../../../json.js';
import type { ChunkMethod } from '../../../records/knowledge.js';
import { byHeadings } from '../../chunkers/by-headings.js';
import { byPages } from '../../chunkers/by-pages.js';
import { byTableRows } from '../../chunkers/by-table-rows.js';
import { type ByTokensOptions, byTokens } from '../../chunkers/by-tokens.js';
import { atMost, type Range } from '../../chunkers/chunker.js';
import { loadTokenCounter } from '../../chunkers/count-tokens.js';
import { compileHeadings, type HeadingFamily } from '../../chunkers/heading-levels.js';
import { whole } from '../../chunkers/whole.js';
import { type MarkdownHeading, markdownHeadings } from '../../splitters/markdown-sections.js';
import type { BaseDraft, DocumentChunker, DocumentText } from '../ports.js';
import { bySeparators, cutDocument, MAX_CHUNK_TOKENS, MAX_WHOLE, withChildrenBetween } from './cuts.js';
import { delimitersIn } from './delimiters.js';
import { questionDrafts, taggedDrafts } from './question-rows.js';

/** Tokens of a chunk unless the settings say otherwise; RAGFlow's default. */
const CHUNK_TOKENS = 512;

/** Largest share of a chunk that the next one begins with. */
const MAX_OVERLAP = 0.9;

interface Cut {
  readonly options: ByTokensOptions;
  /** What parts chunks, and belongs to none; where there is any, nothing else parts them. */
  readonly separators: readonly string[];
  /** What parts chunks into smaller ones, which are searched. */
  readonly childSeparators: readonly string[];
  readonly families: readonly HeadingFamily[];
}

type Cutter = (document: DocumentText, cut: Cut) => Iterable<BaseDraft>;

const METHODS: Readonly<Record<ChunkMethod, Cutter>> = {
  naive,
  email: naive,
  book: sections,
  laws: sections,
  manual: sections,
  paper: sections,
  one,
  picture: one,
  presentation: (document, { options }) => byPages(options)(document),
  qa: (document, { options }) => questionDrafts(document, options),
  table: (document, { options }) => byTableRows(options)(document),
  tag: tagged,
};

/** Methods whose documents have headings other than Markdown's. */
const WITH_HEADINGS: ReadonlySet<ChunkMethod> = new Set(['book', 'laws', 'manual', 'paper']);

/**
 * Cuts documents by the cuts of their configuration, else by its method.
 *
 * `naive` and `email`: pieces behind the signs of `delimiter`, joined while they fit into `chunk_token_num` tokens (512), with
 * `overlapped_percent` (0) of overlap; or what lies between the texts that `delimiter` has in backticks; with `children_delimiter` each is
 * parted behind its signs into children, which are searched. `book`, `laws`, `manual`, `paper`: sections under headings, long ones cut the same way. `presentation`:
 * pages. `table`: rows, with the header of their table as context. `qa`: pairs of question and answer. `tag`: rows of a text and its tags.
 * `one` and `picture`: the whole text. What a method finds nothing of in a document is cut as `naive`.
 *
 * Errors: `LIMIT_REACHED` for more than 100,000 chunks.
 */
export const builtInChunker: DocumentChunker = {
  async chunk(document, { method, settings, cuts }) {
    if (cuts !== undefined) return cutDocument(document, cuts, await loadTokenCounter());
    const [countTokens, families] = await Promise.all([
      loadTokenCounter(),
      WITH_HEADINGS.has(method) ? compileHeadings() : [],
    ]);
    const { separators } = delimitersIn(settings.delimiter);
    const options = { countTokens, ...sizesOf(settings) };
    return METHODS[method](document, { options, separators, childSeparators: childSeparatorsIn(settings), families });
  },
};

/** Each sign of `children_delimiter`, and each text that it has in backticks; none unless children are wanted. */
function childSeparatorsIn({ children_delimiter: given, parent_child: children }: JsonObject): readonly string[] {
  const isOff = isJsonObject(children) && children.use_parent_child === false;
  if (isOff || typeof given !== 'string' || given === '') return [];
  const { delimiters, separators } = delimitersIn(given);
  return [...separators, ...delimiters];
}

/** By tokens, with the headings above each piece, and in children where these are wanted. */
function naive(document: DocumentText, cut: Cut): Iterable<BaseDraft> {
  const drafts = underHeadings(document, cut);
  const { childSeparators: separators, options } = cut;
  if (separators.length === 0) return drafts;
  return atMost(withChildrenBetween(document, drafts, { separators, countTokens: options.countTokens }));
}

function* underHeadings(document: DocumentText, { options, separators }: Cut): Generator<BaseDraft> {
  const headings = markdownHeadings(document.text);
  const drafts = separators.length > 0 ? bySeparators(separators, options.countTokens) : byTokens(options);
  for (const draft of drafts(document)) {
    const above = headingsAbove(headings, draft.start);
    yield above.length === 0 ? draft : { ...draft, headings: above };
  }
}

function sections(document: DocumentText, { options, families }: Cut): Iterable<BaseDraft> {
  return byHeadings({ ...options, families })(document);
}

function one(document: DocumentText, { options }: Cut): Iterable<BaseDraft> {
  return document.text.length > MAX_WHOLE ? byTokens(options)(document) : whole(options)(document);
}

function tagged(document: DocumentText, cut: Cut): Iterable<BaseDraft> {
  return taggedDrafts(document, cut.options) ?? naive(document, cut);
}

/** Titles of the headings that a place stands below, without one that begins there. */
function headingsAbove(headings: readonly MarkdownHeading[], at: number): readonly string[] {
  const path: string[] = [];
  let level = Number.POSITIVE_INFINITY;
  for (let index = lastBefore(headings, at); index >= 0 && level > 1; index -= 1) {
    const heading = headings[index];
    if (heading === undefined || heading.level >= level) continue;
    level = heading.level;
    path.unshift(heading.title);
  }
  return path;
}

/** Position of the last range that begins before a place; -1 without one. */
function lastBefore(ranges: readonly Range[], at: number): number {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle]?.start ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function sizesOf(settings: JsonObject): Pick<ByTokensOptions, 'size' | 'overlap' | 'delimiters'> {
  const size = Math.floor(numberIn(settings.chunk_token_num, CHUNK_TOKENS, 1, MAX_CHUNK_TOKENS));
  const percent = numberIn(settings.overlapped_percent, 0, 0, 100);
  // RAGFlow's clients write it as a share or as a percentage.
  const share = Math.min(MAX_OVERLAP, percent < 1 ? percent : percent / 100);
  const { delimiters } = delimitersIn(settings.delimiter);
  return { size, overlap: Math.min(size - 1, Math.floor(size * share)), delimiters };
}

function numberIn(given: unknown, otherwise: number, least: number, most: number): number {
  if (typeof given !== 'number' || !Number.isFinite(given)) return otherwise;
  return Math.min(most, Math.max(least, given));
}
