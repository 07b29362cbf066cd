/** The chunkers that come with Runnel, by RAGFlow's names of methods. */
import { estimateTokens } from '../../../models/estimate-tokens.js';
import type { ChunkMethod } from '../../../records/knowledge.js';
import { cutIntoChunks, type TextCut, trimmed } from '../../splitters/split-text.js';
import type { ChunkDraft, Chunker, ChunkerConfig, DocumentTable, ParsedDocument, TextSpan } from '../ports.js';
import { separatedRecords, separatorOf } from './table-rows.js';

/** Tokens of a chunk unless the settings say otherwise; RAGFlow's default. */
export const CHUNK_TOKENS = 512;

/** Most tokens of a chunk that settings can ask for. */
const MAX_CHUNK_TOKENS = 8_192;

/** Longest chunk of methods that do not cut by tokens, in UTF-16 units. */
const MAX_CHUNK_CHARACTERS = 1_048_576;

/** Most chunks of one document. */
const MAX_CHUNKS = 200_000;

/** Where is cut, the best place first: paragraphs, lines, ends of sentences in Latin and Chinese writing, blanks, characters. */
const SEPARATORS = ['\n\n', '\n', '. ', '! ', '? ', '。', '！', '？', '; ', '；', ', ', '，', ' ', ''] as const;

type Cutter = (document: ParsedDocument, config: ChunkerConfig) => Iterable<ChunkDraft>;

const METHODS: Readonly<Record<ChunkMethod, Cutter>> = {
  naive: (document, config) => bySections(document, config, true),
  email: (document, config) => bySections(document, config, true),
  book: (document, config) => bySections(document, config, false),
  laws: (document, config) => bySections(document, config, false),
  manual: (document, config) => bySections(document, config, false),
  paper: (document, config) => bySections(document, config, false),
  one: byWhole,
  picture: byWhole,
  presentation: byPages,
  qa: byQuestions,
  table: byRows,
  tag: byTags,
};

/**
 * Cuts documents by the method of their configuration; `document.text.slice(start, end)` is the text of each piece.
 *
 * `naive` and `email`: sections under headings, neighbours joined while they fit into `chunk_token_num` tokens (512), long ones cut at
 * paragraphs, lines, sentences, with `overlapped_percent` (0) of overlap, first at the signs of `delimiter`. `book`, `laws`, `manual`,
 * `paper`: the same, with sections never joined. `presentation`: pages. `table`: rows with their header as context. `qa`: rows of question
 * and answer, lines with a tab, or headings with what stands below. `tag`: rows of text and tags. `one` and `picture`: the whole text.
 * What a method finds nothing of in a document is cut as `naive`.
 */
export const builtInChunker: Chunker = {
  *chunk(document, config) {
    let made = 0;
    for (const draft of METHODS[config.method](document, config)) {
      yield draft;
      made += 1;
      if (made >= MAX_CHUNKS) return;
    }
  },
};

/** Sections by headings; of neighbours whose headings are `mayJoin` as many as fit are one chunk. */
function* bySections(document: ParsedDocument, { settings }: ChunkerConfig, mayJoin: boolean): Generator<ChunkDraft> {
  const cut = cutOf(settings);
  const { text } = document;
  let open: TextSpan | undefined;
  for (const section of sectionsOf(document)) {
    const joined = open === undefined ? section : { start: open.start, end: section.end };
    if (open !== undefined && !(mayJoin && estimateTokens(text.slice(joined.start, joined.end)) <= cut.size)) {
      yield* cutSpan(document, open, cut);
      open = section;
    } else open = joined;
  }
  if (open !== undefined) yield* cutSpan(document, open, cut);
}

/** From one heading to the next; what stands before the first is one, too. A heading with nothing below it goes with the next. */
function sectionsOf({ text, headings = [] }: ParsedDocument): TextSpan[] {
  const sections: TextSpan[] = [];
  let start = 0;
  for (const [at, heading] of headings.entries()) {
    const before = headings[at - 1];
    const isBare = before !== undefined && trimmed(text, before.end, heading.start) === undefined;
    if (isBare || trimmed(text, start, heading.start) === undefined) continue;
    sections.push({ start, end: heading.start });
    start = heading.start;
  }
  if (trimmed(text, start, text.length) !== undefined) sections.push({ start, end: text.length });
  return sections;
}

function* cutSpan(document: ParsedDocument, { start, end }: TextSpan, cut: TextCut): Generator<ChunkDraft> {
  const part = document.text.slice(start, end);
  for (const range of cutIntoChunks(part, cut)) yield draftOf(document, start + range.start, start + range.end);
}

function* byWhole(document: ParsedDocument): Generator<ChunkDraft> {
  yield* wholeSpan(document, 0, document.text.length);
}

/** A span as one chunk, or as several when it is too long to be stored as one. */
function* wholeSpan(document: ParsedDocument, start: number, end: number): Generator<ChunkDraft> {
  const range = trimmed(document.text, start, end);
  if (range === undefined) return;
  if (range.end - range.start <= MAX_CHUNK_CHARACTERS) yield draftOf(document, range.start, range.end);
  else yield* cutSpan(document, range, { ...cutOf({}), size: MAX_CHUNK_CHARACTERS, lengthOf: (part) => part.length });
}

function* byPages(document: ParsedDocument, config: ChunkerConfig): Generator<ChunkDraft> {
  if (document.pages === undefined) yield* bySections(document, config, true);
  for (const { start, end } of document.pages ?? []) yield* wholeSpan(document, start, end);
}

function* byRows(document: ParsedDocument, config: ChunkerConfig): Generator<ChunkDraft> {
  const { tables = [], text } = document;
  let from = 0;
  for (const table of tables) {
    yield* rest(document, from, table.start, config);
    const names = table.header?.cells ?? [];
    for (const row of table.rows) {
      const draft = rowDraft(document, row, table);
      if (draft !== undefined) yield names.length === 0 ? draft : { ...draft, context: names.join(' | ') };
    }
    from = table.end;
  }
  yield* rest(document, from, text.length, config);
}

/** What stands outside of tables. */
function* rest(
  document: ParsedDocument,
  start: number,
  end: number,
  { settings }: ChunkerConfig,
): Generator<ChunkDraft> {
  if (trimmed(document.text, start, end) !== undefined) yield* cutSpan(document, { start, end }, cutOf(settings));
}

function rowDraft(document: ParsedDocument, row: TextSpan, table: DocumentTable): ChunkDraft | undefined {
  const range = trimmed(document.text, row.start, row.end);
  return range && draftOf(document, range.start, range.end, table.start);
}

function* byQuestions(document: ParsedDocument, config: ChunkerConfig): Generator<ChunkDraft> {
  const { tables = [], headings = [], text } = document;
  let found = 0;
  // A header of questions and answers is seldom there, so the first row counts, too.
  for (const row of tables.flatMap(({ header, rows }) => (header === undefined ? rows : [header, ...rows]))) {
    const [question = '', answer = ''] = row.cells;
    const range = trimmed(text, row.start, row.end);
    if (question === '' || answer === '' || range === undefined) continue;
    found += 1;
    yield { ...draftOf(document, range.start, range.end), questions: [question] };
  }
  if (found === 0) {
    for (const pair of questionLines(document)) {
      found += 1;
      yield pair;
    }
  }
  for (const [at, heading] of found === 0 ? headings.entries() : []) {
    const end = headings[at + 1]?.start ?? text.length;
    const range = trimmed(text, heading.end, end);
    if (range === undefined) continue;
    found += 1;
    for (const draft of cutSpan(document, range, cutOf(config.settings)))
      yield { ...draft, questions: [heading.title] };
  }
  if (found === 0) yield* bySections(document, config, true);
}

/** Lines with a tab, and with quotes around what has several lines. */
function* questionLines(document: ParsedDocument): Generator<ChunkDraft> {
  const { text } = document;
  if (separatorOf(text) !== '\t' || !text.includes('\t')) return;
  for (const { start, end, cells } of separatedRecords(text, '\t')) {
    const [question = '', answer = ''] = cells;
    const range = trimmed(text, start, end);
    if (question !== '' && answer !== '' && range !== undefined) {
      yield { ...draftOf(document, range.start, range.end), questions: [question] };
    }
  }
}

function* byTags(document: ParsedDocument, config: ChunkerConfig): Generator<ChunkDraft> {
  let found = 0;
  for (const table of document.tables ?? []) {
    for (const row of table.header === undefined ? table.rows : [table.header, ...table.rows]) {
      const tags = (row.cells.at(-1) ?? '').split(/[,，]/).flatMap((tag) => tag.trim() || []);
      const draft = rowDraft(document, row, table);
      if (draft === undefined || row.cells.length < 2) continue;
      found += 1;
      yield { ...draft, tags };
    }
  }
  if (found === 0) yield* bySections(document, config, true);
}

/** @param at where the headings above are looked for. @default the start */
function draftOf(document: ParsedDocument, start: number, end: number, at = start): ChunkDraft {
  const text = document.text.slice(start, end);
  const page = pageAt(document, start);
  return {
    text,
    start,
    end,
    tokens: estimateTokens(text),
    ...(page !== undefined && { page }),
    headings: headingsAbove(document, at),
  };
}

function pageAt({ pages }: ParsedDocument, at: number): number | undefined {
  if (pages === undefined) return undefined;
  const found = lastBefore(pages, at + 1);
  return pages[Math.max(0, found)]?.page;
}

/** Titles of the headings that a place stands below, without one that begins there. */
function headingsAbove({ headings = [] }: ParsedDocument, at: number): readonly string[] {
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

/** Position of the last span that begins before a place; -1 without one. */
function lastBefore(spans: readonly TextSpan[], at: number): number {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((spans[middle]?.start ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function cutOf(settings: ChunkerConfig['settings']): TextCut {
  const size = numberIn(settings.chunk_token_num, CHUNK_TOKENS, 1, MAX_CHUNK_TOKENS);
  const share = numberIn(settings.overlapped_percent, 0, 0, 90) / 100;
  return {
    size,
    overlap: Math.min(size - 1, Math.floor(size * share)),
    separators: [...new Set(['\n\n', ...delimitersOf(settings.delimiter), ...SEPARATORS])],
    place: 'end',
    lengthOf: estimateTokens,
    maxChunks: MAX_CHUNKS,
  };
}

/** RAGFlow writes a list of signs, with those of several letters between backticks. Texts are compared, no pattern is run. */
function delimitersOf(given: unknown): readonly string[] {
  if (typeof given !== 'string') return [];
  const written = given.replaceAll('\\n', '\n').replaceAll('\\t', '\t');
  const long = [...written.matchAll(/`([^`]+)`/g)].flatMap(([, sign]) => sign ?? []);
  return [...long, ...written.replace(/`[^`]*`/g, '')];
}

function numberIn(given: unknown, otherwise: number, least: number, most: number): number {
  if (typeof given !== 'number' || !Number.isFinite(given)) return otherwise;
  return Math.min(most, Math.max(least, Math.floor(given)));
}
