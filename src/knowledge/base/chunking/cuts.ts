/** Cutting documents by cuts as data, each of which works on what the one before made. */
import { byPages } from '../../chunkers/by-pages.js';
import { byTableRows, markdownTables } from '../../chunkers/by-table-rows.js';
import { byTitles } from '../../chunkers/by-titles.js';
import { type ByTokensOptions, byTokens, SENTENCES, tokenCut } from '../../chunkers/by-tokens.js';
import {
  atMost,
  type ChunkDraft,
  type Chunker,
  type ParsedDocument,
  type Range,
  type TableRange,
} from '../../chunkers/chunker.js';
import type { CountTokens } from '../../chunkers/count-tokens.js';
import { compileHeadings } from '../../chunkers/heading-levels.js';
import { whole } from '../../chunkers/whole.js';
import { inFamilies, parentsAmong } from '../../chunkers/with-children.js';
import type { BaseDraft, DocumentText } from '../ports.js';
import type { Cut, TokenCut } from './cut.js';
import { questionDrafts } from './question-rows.js';

/** Tokens of a chunk at most, where a cut has no bound of its own. */
export const MAX_CHUNK_TOKENS = 8_192;
/** Longest chunk of a whole document, in UTF-16 units; a longer document is cut by tokens. */
export const MAX_WHOLE = 1_048_576;
/** Tokens of a table that stays whole. */
const MAX_TABLE_TOKENS = 2_048;
/** UTF-16 units of a text beside a table that are looked at. */
const MAX_BESIDE = 8_192;

/**
 * Cuts a document by cuts, one after the other; none is the whole document.
 *
 * Errors: OPTION_INVALID for a pattern that cannot be read; LIMIT_REACHED for too many chunks.
 */
export async function cutDocument(
  document: DocumentText,
  cuts: readonly Cut[],
  countTokens: CountTokens,
): Promise<readonly BaseDraft[]> {
  let drafts: readonly BaseDraft[] | undefined;
  for (const cut of cuts.length === 0 ? [WHOLE] : cuts) {
    const chunker = await chunkerOf(cut, countTokens);
    drafts = [...(drafts === undefined ? chunker(document) : atMost(within(document, drafts, chunker)))];
  }
  return drafts ?? [];
}

const WHOLE: Cut = { kind: 'whole' };

async function chunkerOf(cut: Cut, countTokens: CountTokens): Promise<Chunker> {
  const large = { countTokens, size: MAX_CHUNK_TOKENS };
  switch (cut.kind) {
    case 'whole':
      return (document) => (document.text.length > MAX_WHOLE ? byTokens(large) : whole(large))(document);
    case 'pages':
      return byPages(large);
    case 'rows':
      return byTableRows(large);
    case 'questions':
      return (document) => questionDrafts(document, large);
    case 'tokens':
      return tokenChunker(cut, countTokens);
    case 'titles':
      return byTitles({ ...cut, countTokens, families: await compileHeadings(cut.levels) });
  }
}

/** Cuts each draft, as a document of its own; what is known of the draft is known of its parts. Of families the children are cut. */
function* within(document: DocumentText, drafts: readonly BaseDraft[], chunker: Chunker): Generator<BaseDraft> {
  const parents = parentsAmong(drafts);
  let position = 0;
  for (const [at, outer] of drafts.entries()) {
    if (parents.has(at)) continue;
    const first = position;
    const {
      start,
      headings: above = [],
      context,
      question,
      page,
      pages: _,
      pageStarts: __,
      parent: ___,
      ...about
    } = outer;
    const shift = <T extends Range>(range: T): T => ({ ...range, start: range.start + start, end: range.end + start });
    for (const { parent, pageStarts, ...own } of chunker(partOf(document, outer))) {
      position += 1;
      const headings = [...above, ...(own.headings ?? []).filter((title) => !above.includes(title))];
      const told = [context, own.context].filter((one) => one !== undefined && one !== '').join('\n');
      yield {
        ...about,
        ...shift(own),
        text: document.text.slice(own.start + start, own.end + start),
        ...(headings.length > 0 && { headings }),
        ...(told !== '' && { context: told }),
        ...(question !== undefined && { question }),
        ...(pageStarts !== undefined && { pageStarts: pageStarts.map(([on, at]) => [on, at + start] as const) }),
        ...((own.page ?? page) !== undefined && { page: own.page ?? page }),
        ...(parent !== undefined && { parent: first + parent }),
      } as BaseDraft;
    }
  }
}

/** A range of a document with the pages that it lies on. */
function partOf({ text, pages }: DocumentText, { start, end }: Range): ParsedDocument {
  const own = (pages ?? []).filter((page) => page.end > start && page.start < end);
  return {
    text: text.slice(start, end),
    ...(own.length > 0 && {
      pages: own.map((page) => ({
        ...page,
        start: Math.max(0, page.start - start),
        end: Math.min(end, page.end) - start,
      })),
    }),
  };
}

/** Makes a chunk of each part between separators; what is longer than a chunk may be is cut by tokens. */
export function bySeparators(separators: readonly string[], countTokens: CountTokens): Chunker {
  const cut = tokenCut({ countTokens, size: MAX_CHUNK_TOKENS, delimiters: [] });
  function* chunks(document: ParsedDocument) {
    const all = { start: 0, end: document.text.length };
    for (const part of partsBetween(document.text, all, separators)) yield* cut(document, part, {});
  }
  return (document) => atMost(chunks(document));
}

function tokenChunker(cut: TokenCut, countTokens: CountTokens): Chunker {
  const { size, overlapPercent, delimiters, separators, childSeparators } = cut;
  const large: ByTokensOptions = { countTokens, size: MAX_CHUNK_TOKENS, delimiters: [] };
  const overlap = Math.min(size - 1, Math.floor((size * overlapPercent) / 100));
  const own = separators.length > 0 ? tokenCut(large) : tokenCut({ countTokens, size, overlap, delimiters });
  const childCut = tokenCut(large);
  /** Chunks, and those that are tables: these stay in one piece. */
  function* chunks(document: ParsedDocument, tables: Set<ChunkDraft>) {
    const parts: Iterable<Part> = cut.keepsTables
      ? partsAround(document, countTokens)
      : [{ range: { start: 0, end: document.text.length } }];
    for (const { range, table } of parts) {
      if (table !== undefined) {
        for (const draft of tableChunks(document, table, { ...cut, countTokens })) {
          tables.add(draft);
          yield draft;
        }
        continue;
      }
      const pieces = separators.length > 0 ? partsBetween(document.text, range, separators) : [range];
      for (const piece of pieces) yield* own(document, piece, {});
    }
  }
  return (document) => {
    const tables = new Set<ChunkDraft>();
    const drafts = chunks(document, tables);
    if (childSeparators.length === 0) return atMost(drafts);
    return atMost(
      inFamilies(drafts, (draft, fields) =>
        tables.has(draft)
          ? []
          : childrenBetween(document, draft, childSeparators, (part) => childCut(document, part, fields)),
      ),
    );
  };
}

function* childrenBetween(
  { text }: ParsedDocument,
  draft: Range,
  separators: readonly string[],
  cut: (part: Range) => Iterable<ChunkDraft>,
): Generator<ChunkDraft> {
  for (const part of partsBetween(text, draft, separators)) yield* cut(part);
}

/** Parts the chunks of a document between separators: each chunk is followed by its children, where it has several. */
export function withChildrenBetween<D extends ChunkDraft>(
  document: ParsedDocument,
  drafts: Iterable<D>,
  { separators, countTokens }: { readonly separators: readonly string[]; readonly countTokens: CountTokens },
): Iterable<D | ChunkDraft> {
  const cut = tokenCut({ countTokens, size: MAX_CHUNK_TOKENS, delimiters: [] });
  return inFamilies(drafts, (draft, fields) =>
    childrenBetween(document, draft, separators, (part) => cut(document, part, fields)),
  );
}

/** A part of a text: a table in one piece, or what lies between. */
interface Part {
  readonly range: Range;
  readonly table?: TableRange | undefined;
}

/** A text in turns: what lies between tables, and the tables that stay in one piece. */
function* partsAround(
  { text, tables = markdownTables(text) }: ParsedDocument,
  countTokens: CountTokens,
): Generator<Part> {
  let at = 0;
  for (const table of tables) {
    const isAll = text.slice(0, table.start).trim() === '' && text.slice(table.end).trim() === '';
    if (isAll || table.end - table.start > MAX_TABLE_TOKENS * MAX_UNITS_PER_TOKEN) continue;
    if (countTokens(text.slice(table.start, table.end)) > MAX_TABLE_TOKENS) continue;
    yield { range: { start: at, end: table.start } };
    yield { range: table, table };
    at = table.end;
  }
  yield { range: { start: at, end: text.length } };
}

/** A token is rarely longer; what is longer than a table may be is not counted. */
const MAX_UNITS_PER_TOKEN = 16;

function* tableChunks(
  document: ParsedDocument,
  { start, end }: TableRange,
  { tableContext, countTokens }: TokenCut & { readonly countTokens: CountTokens },
) {
  const besides = tableContext === 0 ? [] : contextsOf(document, { start, end }, tableContext, countTokens);
  const context = besides.filter((text) => text !== '').join('\n');
  yield* tokenCut({ countTokens, size: MAX_CHUNK_TOKENS })(document, { start, end }, context === '' ? {} : { context });
}

/** The last sentences before a range and the first ones behind it. */
function contextsOf(
  document: ParsedDocument,
  { start, end }: Range,
  tokens: number,
  countTokens: CountTokens,
): readonly string[] {
  const size = Math.min(tokens, MAX_CHUNK_TOKENS);
  const sentences = tokenCut({ countTokens, size, delimiters: SENTENCES });
  const before = [...sentences(document, { start: Math.max(0, start - MAX_BESIDE), end: start }, {})];
  const [behind] = sentences(document, { start: end, end: Math.min(document.text.length, end + MAX_BESIDE) }, {});
  return [before.at(-1)?.text ?? '', behind?.text ?? ''];
}

/** The parts of a range between separators, which belong to none; the longest separator that fits counts. */
function* partsBetween(text: string, { start, end }: Range, separators: readonly string[]): Generator<Range> {
  const longestFirst = separators.toSorted((left, right) => right.length - left.length);
  /** Where each separator comes next; looked up anew only behind it. */
  const next = new Map(longestFirst.map((mark) => [mark, -1]));
  const placeOf = (mark: string, from: number): number => {
    const known = next.get(mark) ?? -1;
    if (known >= from) return known;
    const found = text.indexOf(mark, from);
    const place = found === -1 || found + mark.length > end ? Number.POSITIVE_INFINITY : found;
    next.set(mark, place);
    return place;
  };
  let at = start;
  while (at < end) {
    let first = Number.POSITIVE_INFINITY;
    let length = 0;
    for (const mark of longestFirst) {
      const place = placeOf(mark, at);
      if (place < first) [first, length] = [place, mark.length];
    }
    if (first === Number.POSITIVE_INFINITY) break;
    if (first > at) yield { start: at, end: first };
    at = first + length;
  }
  if (at < end) yield { start: at, end };
}
