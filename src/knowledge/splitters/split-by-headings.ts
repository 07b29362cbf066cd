import { documentJob } from '../../documents/document-jobs.js';
import { unreadable } from '../../documents/reading/limits.js';
import type { Json, JsonObject } from '../../json.js';
import { firstValue } from '../../operators/from-abortable.js';
import { invalidOption, requireOptions } from '../../operators/invalid-option.js';
import type { Threads } from '../../threads/threads.js';
import { componentFunction } from '../component-function.js';
import { type KnowledgeDocument, metadataValue } from '../knowledge-document.js';
import type { DocumentTransformer } from '../ports.js';
import { type Chunk, type ChunkId, chunkId, chunking } from './chunks.js';
import { type MarkdownHeading, markdownHeadings } from './markdown-sections.js';
import { trimmed } from './split-text.js';

/** How documents are cut at headings. */
export interface SplitByHeadingsOptions {
  /** Levels at whose headings is cut, 1 to 6. @default all */
  readonly levels?: readonly number[];
  /** Names of metadata that hold the heading of a level: `{ 1: 'chapter', 2: 'section' }`. @default none */
  readonly names?: Readonly<Record<number, string>>;
  /** Whether a chunk begins with its heading. @default true */
  readonly keepHeadings?: boolean;
  /** What the texts are. HTML is made Markdown first, in a thread. @default 'markdown' */
  readonly format?: 'markdown' | 'html';
  /** Where HTML is read. @default a thread of its own per document */
  readonly threads?: Threads;
  /** Gives the ids. @default the id of the document, `#` and the position */
  readonly idOf?: ChunkId;
  /** @default 'splitByHeadings' */
  readonly name?: string;
}

const OPTIONS = ['levels', 'names', 'keepHeadings', 'format', 'threads', 'idOf', 'name'];

/**
 * Cuts documents at their headings. Each chunk gets `headings`: the headings above it, from the outermost, with its own as the last; those
 * of a document that was itself cut so come first. A text without headings is one chunk.
 *
 * A chunk of Markdown is a part of the text as it is, code with its indents and empty lines; `span` says which. A heading with nothing but
 * a deeper heading below it makes no chunk of its own, as its text is among the `headings` of the next. Marks in code are no headings.
 *
 * Errors of a call: `FILE_UNREADABLE` for HTML that is nested too deeply, or takes a thread too long.
 *
 * @throws EngineError OPTION_INVALID.
 */
export function splitByHeadings(options: SplitByHeadingsOptions = {}): DocumentTransformer {
  requireOptions('splitByHeadings', options, OPTIONS);
  const { name = 'splitByHeadings', format = 'markdown', threads, idOf = chunkId } = options;
  const { levels = [1, 2, 3, 4, 5, 6], names = {}, keepHeadings = true } = options;
  for (const level of [...levels, ...Object.keys(names).map(Number)]) {
    if (!(Number.isInteger(level) && level >= 1 && level <= 6)) {
      throw invalidOption('splitByHeadings', 'levels', 'whole numbers from 1 to 6', level);
    }
  }
  if (format !== 'markdown' && format !== 'html') {
    throw invalidOption('splitByHeadings', 'format', '"markdown" or "html"', format);
  }
  const rules: Rules = { levels: new Set(levels), names, keepHeadings };
  const split = chunking(
    name,
    async (document, signal) => {
      const { id, text } = document;
      if (format === 'markdown') return sectionsOf(document, text, rules);
      const unable = (why: string) => unreadable(id, `${why}.`);
      const markdown = await firstValue(documentJob('text', { html: text, name: id }, { threads, unable }), signal);
      return sectionsOf(document, markdown, rules).map(({ start: _, ...section }) => section);
    },
    idOf,
  );
  return componentFunction(name, 'transformer', split);
}

interface Rules {
  readonly levels: ReadonlySet<number>;
  readonly names: Readonly<Record<number, string>>;
  readonly keepHeadings: boolean;
}

function sectionsOf(document: KnowledgeDocument, text: string, { levels, names, keepHeadings }: Rules): Chunk[] {
  const headings = markdownHeadings(text).filter(({ level }) => levels.has(level));
  const outer = textsOf(metadataValue(document.metadata, 'headings'));
  const chunks: Chunk[] = [];
  const path: MarkdownHeading[] = [];
  const add = (start: number, end: number): void => {
    const range = trimmed(text, start, end);
    if (range === undefined) return;
    const metadata = { ...namedHeadings(path, names), headings: joined(outer, path) };
    chunks.push({ text: text.slice(range.start, range.end), start: range.start, metadata });
  };
  add(0, headings[0]?.start ?? text.length);
  for (const [index, heading] of headings.entries()) {
    while (path.length > 0 && (path.at(-1)?.level ?? 0) >= heading.level) path.pop();
    path.push(heading);
    const next = headings[index + 1];
    const end = next?.start ?? text.length;
    const isEmpty = trimmed(text, heading.end, end) === undefined;
    if (isEmpty && (next?.level ?? 0) > heading.level) continue;
    add(keepHeadings ? heading.start : heading.end, end);
  }
  return chunks;
}

function namedHeadings(path: readonly MarkdownHeading[], names: Readonly<Record<number, string>>): JsonObject {
  return Object.fromEntries(
    path.flatMap(({ level, title }) => {
      const name = Object.hasOwn(names, level) ? names[level] : undefined;
      return name === undefined ? [] : [[name, title]];
    }),
  );
}

/** The headings of the document before those of its section; a chunk that begins with its own heading names it once. */
function joined(outer: readonly string[], path: readonly MarkdownHeading[]): string[] {
  const titles = path.map(({ title }) => title);
  return titles.length > 0 && titles[0] === outer.at(-1) ? [...outer, ...titles.slice(1)] : [...outer, ...titles];
}

function textsOf(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}
