/** Questions with answers, and texts with tags: rows of two columns, and what reads as questions in other documents. */
import { cellsOf } from '../../../documents/markdown-tables.js';
import { byQuestions } from '../../chunkers/by-questions.js';
import { markdownTables } from '../../chunkers/by-table-rows.js';
import type { ByTokensOptions } from '../../chunkers/by-tokens.js';
import { atMost, draftOf } from '../../chunkers/chunker.js';
import type { BaseDraft, DocumentText } from '../ports.js';
import { type SeparatedRecord, separatedRecords } from './table-rows.js';

/** What a row is worth beside its text; undefined for one that is left out. */
type FieldsOf = (cells: readonly string[]) => Pick<BaseDraft, 'question' | 'tags'> | undefined;

/** The names of the columns, where a table has them. */
const HEADER = /^(?:q|a|questions?|answers?|问题?|答案?|回答|content|text|tags?|内容|标签)$/i;

/** Pairs of question and answer: rows of two columns where the document is a table, else what `byQuestions` finds. */
export function questionDrafts(document: DocumentText, options: ByTokensOptions): Iterable<BaseDraft> {
  const pairs = rowDrafts(document, options, ([question = '', answer = '']) =>
    question === '' || answer === '' ? undefined : { question },
  );
  return pairs ?? byQuestions(options)(document);
}

/** Texts with their tags, which the last column has, parted by commas; undefined for a document that is no table. */
export function taggedDrafts(document: DocumentText, options: ByTokensOptions): Iterable<BaseDraft> | undefined {
  return rowDrafts(document, options, (cells) => {
    const tags = (cells.at(-1) ?? '').split(/[,，]/).flatMap((tag) => tag.trim() || []);
    return cells.length < 2 || tags.length === 0 ? undefined : { tags };
  });
}

/** A chunk for each row that `fieldsOf` gives fields for; undefined for a document that is no table. */
function rowDrafts(
  document: DocumentText,
  { countTokens, maxChunks }: ByTokensOptions,
  fieldsOf: FieldsOf,
): Iterable<BaseDraft> | undefined {
  const rows = rowsOf(document);
  if (rows === undefined) return undefined;
  function* all(): Generator<BaseDraft> {
    for (const row of rows ?? []) {
      const fields = fieldsOf(row.cells);
      if (fields === undefined) continue;
      const tokens = countTokens(document.text.slice(row.start, row.end));
      const draft = draftOf(document, row, { ...fields, tokens });
      if (draft !== undefined) yield draft;
    }
  }
  return atMost(all(), maxChunks);
}

/** The rows of separated values, or of the tables of a workbook; undefined for other documents. */
function rowsOf({ text, tables }: DocumentText): Iterable<SeparatedRecord> | undefined {
  if (tables !== undefined) return separatedRecords(text);
  const found = markdownTables(text);
  let rest = '';
  let at = 0;
  for (const { start, end } of found) {
    rest += text.slice(at, start);
    at = end;
  }
  // A workbook has nothing but the names of its sheets beside its tables.
  const isWorkbook =
    found.length > 0 && (rest + text.slice(at)).split('\n').every((line) => /^\s*(?:#.*)?$/.test(line));
  if (!isWorkbook) return undefined;
  return found.flatMap(({ header, rows }) => {
    const all = [...(header === undefined ? [] : [header]), ...rows];
    const records = all.map((range) => ({ ...range, cells: cellsOf(text.slice(range.start, range.end).trim()) }));
    return records.filter(({ cells }, index) => index > 0 || !cells.every((cell) => HEADER.test(cell)));
  });
}
