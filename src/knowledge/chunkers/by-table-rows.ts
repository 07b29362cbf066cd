import { isTableRule } from '../../documents/markdown-tables.js';
import { requireObject } from '../../operators/invalid-option.js';
import { type ByTokensOptions, tokenCut } from './by-tokens.js';
import { atMost, type Chunker, type ParsedDocument, type Range, type TableRange } from './chunker.js';
import { linesOf } from './lines-of.js';

/** How tables are cut. */
export interface ByTableRowsOptions extends ByTokensOptions {
  /** Rows of a chunk at most; fewer when they are too long together. @default 1 */
  readonly rows?: number;
}

/**
 * Cuts the tables of a document into rows, each with the names of the columns as its `context`; the text around them is cut by tokens.
 *
 * Tables are those that the parser found, else those of Markdown: lines that begin with `|`, the first above a line of dashes being the header. A row
 * that is too long is cut by tokens.
 *
 * @throws EngineError OPTION_INVALID; LIMIT_REACHED when read, for too many chunks.
 */
export function byTableRows(options: ByTableRowsOptions): Chunker {
  requireObject('byTableRows', 'options', options, 'an object with "countTokens"');
  const { rows = 1, size = 512, countTokens, maxChunks } = options;
  const cut = tokenCut(options);
  function* parts(document: ParsedDocument) {
    const { text, tables = markdownTables(text) } = document;
    let at = 0;
    for (const table of tables) {
      yield* cut(document, { start: at, end: table.start }, {});
      const { header } = table;
      const context = header === undefined ? undefined : text.slice(header.start, header.end).trim();
      const fields = context === undefined ? {} : { context };
      for (const range of groupsOf(text, table.rows, { rows, size, countTokens })) yield* cut(document, range, fields);
      at = table.end;
    }
    yield* cut(document, { start: at, end: text.length }, {});
  }
  return (document) => atMost(parts(document), maxChunks);
}

/** Neighbouring rows together, as long as they are not too many and fit. */
function* groupsOf(
  text: string,
  rows: readonly Range[],
  most: { readonly rows: number; readonly size: number; readonly countTokens: (text: string) => number },
): Generator<Range> {
  let group: { start: number; end: number; count: number; tokens: number } | undefined;
  for (const { start, end } of rows) {
    const tokens = most.rows === 1 ? 0 : most.countTokens(text.slice(start, end));
    if (group !== undefined && group.count < most.rows && group.tokens + tokens <= most.size) {
      group = { start: group.start, end, count: group.count + 1, tokens: group.tokens + tokens };
    } else {
      if (group !== undefined) yield group;
      group = { start, end, count: 1, tokens };
    }
  }
  if (group !== undefined) yield group;
}

/** The tables of Markdown in a text. */
export function markdownTables(text: string): TableRange[] {
  const tables: TableRange[] = [];
  let lines: Range[] = [];
  const close = (): void => {
    const first = lines[0];
    const last = lines.at(-1);
    if (first !== undefined && last !== undefined && lines.length > 1) {
      const isDashes = ({ start, end }: Range) => isTableRule(text.slice(start, end));
      const hasHeader = lines[1] !== undefined && isDashes(lines[1]);
      const rows = (hasHeader ? lines.slice(2) : lines).filter((line) => !isDashes(line));
      if (rows.length > 0) {
        tables.push({ start: first.start, end: last.end, rows, ...(hasHeader && { header: first }) });
      }
    }
    lines = [];
  };
  for (const line of linesOf(text)) {
    if (/^[ \t]{0,3}\|/.test(text.slice(line.start, Math.min(line.end, line.start + 4)))) lines.push(line);
    else close();
  }
  close();
  return tables;
}
