import { joinPages } from '../../documents/reading/paged-text.js';
import type { DocumentText } from './ports.js';
import type { ReadingOptions } from './reading-options.js';

/** Lines at each end of a page that may be its header or footer. */
const EDGE_LINES = 3;
/** Fewest pages whose headers can be told. */
const MIN_PAGES = 3;
/** Lines of a table of contents that may be no entries, one after the other. */
const MAX_MISSES = 1;
/** Longest line that is looked at, in UTF-16 units. */
const MAX_LINE = 300;

const CONTENTS = /^(?:#+\s*)?(?:table of contents|contents|目\s*录|目\s*次)\s*[:：]?\s*$/i;
/** An entry ends with the number of a page. */
const ENTRY = /(?:[.·…\s_-]{2,}|\t)(?:\d{1,4}|[ivxlc]{1,6})\s*$/i;

/** The part of a document that is wanted: pages without others, headers and tables of contents. Linear in the text. */
export function partOfDocument(document: DocumentText, options: ReadingOptions): DocumentText {
  const { pages, dropsHeaders = false, dropsContents = false, mailFields } = options;
  let made = pages === undefined ? document : pagesOf(document, pages);
  if (dropsHeaders) made = changed(made, withoutHeaders(textsOf(made)));
  if (dropsContents) made = changed(made, textsOf(made).map(withoutContents));
  if (mailFields !== undefined)
    made = changed(
      made,
      textsOf(made).map((text) => fieldsOf(text, mailFields)),
    );
  return made;
}

function pagesOf(document: DocumentText, ranges: NonNullable<ReadingOptions['pages']>): DocumentText {
  const { text, pages, isCut } = document;
  if (pages === undefined || pages.length === 0) return document;
  const texts: string[] = [];
  for (const { start, end, page } of pages) {
    const isWanted = ranges.some(([first, last]) => page >= first && page <= last);
    while (texts.length < page - 1) texts.push('');
    texts.push(isWanted ? text.slice(start, end) : '');
  }
  return { ...joinPages(texts), ...(isCut && { isCut }) };
}

/** The texts of the pages, by their numbers; the whole of a document without any. */
function textsOf({ text, pages }: DocumentText): readonly string[] {
  if (pages === undefined || pages.length === 0) return [text];
  const texts: string[] = [];
  for (const { start, end, page } of pages) {
    while (texts.length < page - 1) texts.push('');
    texts.push(text.slice(start, end));
  }
  return texts;
}

/** Tables have other places in a text that was changed, so they are found anew. */
function changed({ text, pages, isCut, tables }: DocumentText, texts: readonly string[]): DocumentText {
  if (pages === undefined || pages.length === 0) {
    const [own = ''] = texts;
    return own === text
      ? { text, ...(tables && { tables }), ...(isCut && { isCut }) }
      : { text: own, ...(isCut && { isCut }) };
  }
  return { ...joinPages(texts), ...(isCut && { isCut }) };
}

/** Without the lines that more than half of the pages begin or end with, whatever numbers are in them. */
function withoutHeaders(texts: readonly string[]): readonly string[] {
  const pages = texts.filter((text) => text !== '').length;
  if (pages < MIN_PAGES) return texts;
  const counts = new Map<string, number>();
  for (const text of texts) {
    for (const form of new Set(edgesOf(text.split('\n')).map(formOf))) counts.set(form, (counts.get(form) ?? 0) + 1);
  }
  const isRepeated = (line: string) => (counts.get(formOf(line)) ?? 0) * 2 > pages;
  return texts.map((text) => {
    const lines = text.split('\n');
    let [start, end] = [0, lines.length];
    while (start < Math.min(EDGE_LINES, end) && isRepeated(lines[start] ?? '')) start += 1;
    while (end > Math.max(start, lines.length - EDGE_LINES) && isRepeated(lines[end - 1] ?? '')) end -= 1;
    return lines.slice(start, end).join('\n').trim();
  });
}

function edgesOf(lines: readonly string[]): readonly string[] {
  return lines.length <= 2 * EDGE_LINES ? lines : [...lines.slice(0, EDGE_LINES), ...lines.slice(-EDGE_LINES)];
}

function formOf(line: string): string {
  return line.slice(0, MAX_LINE).trim().toLowerCase().replace(/\d+/g, '#').replace(/\s+/g, ' ');
}

/** Without the lines between a title such as "Contents" and the first that is no entry. */
function withoutContents(text: string): string {
  const lines = text.split('\n');
  const kept: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const end = CONTENTS.test((lines[at] ?? '').slice(0, MAX_LINE)) ? endOfContents(lines, at + 1) : at;
    if (end === at) kept.push(lines[at] ?? '');
    else at = end - 1;
  }
  return kept.join('\n').trim();
}

/** The line behind the last entry; where there is none, the line of the title. */
function endOfContents(lines: readonly string[], from: number): number {
  let end = from - 1;
  let misses = 0;
  for (let at = from; at < lines.length && misses <= MAX_MISSES; at += 1) {
    const line = lines[at] ?? '';
    if (line.trim() === '') continue;
    if (line.length <= MAX_LINE && ENTRY.test(line)) {
      end = at + 1;
      misses = 0;
    } else {
      misses += 1;
    }
  }
  return end;
}

/** A mail with some of its lines: the heads that `readMail` writes, its body, the names of what is attached. */
function fieldsOf(text: string, fields: readonly string[]): string {
  const wanted = new Set(fields.map((field) => field.toLowerCase()));
  const blocks = text.split('\n\n');
  const head = (blocks[0] ?? '').split('\n');
  const isHead = head.every((line) => /^(?:From|To|Cc|Bcc|Date|Subject): /.test(line));
  const last = blocks.at(-1) ?? '';
  const hasFiles = blocks.length > 1 && /^Attachments: [^\n]*$/.test(last);
  const body = blocks.slice(isHead ? 1 : 0, hasFiles ? -1 : undefined).join('\n\n');
  const heads = isHead ? head.filter((line) => wanted.has(line.slice(0, line.indexOf(':')).toLowerCase())) : [];
  return [heads.join('\n'), wanted.has('body') ? body : '', hasFiles && wanted.has('attachments') ? last : '']
    .filter((part) => part !== '')
    .join('\n\n');
}
