import type { Observable } from 'rxjs';
import type { SeenPage } from '../../../adapters/layout/layout-client.js';
import type { PageImage } from '../../../adapters/layout/render-pages.js';
import { joinPages } from '../../../documents/reading/paged-text.js';
import type { PageItems } from '../../../documents/reading/read-pdf-items.js';
import { EngineError } from '../../../errors.js';
import { firstValue } from '../../../operators/from-abortable.js';
import { knowledgeJob } from '../jobs.js';
import type { DocumentText } from '../ports.js';
import type { LayoutQuestion, RecogniseLayout } from './layout.js';
import { orderPage } from './order-page.js';

/** What a recogniser is made of. */
export interface LayoutParts {
  /** Draws the first pages of a PDF, one after the other. */
  render(
    pdf: Uint8Array,
    options: { readonly maxPages: number; readonly signal: AbortSignal },
  ): AsyncIterable<PageImage>;
  /** Sees a page. Emits once, never errors. */
  see(jpeg: Uint8Array): Observable<SeenPage>;
}

/** Pages whose layout is seen; those behind are read in the order of the file. */
const MAX_PAGES = 300;
/** Pages whose text is read at once. */
const ITEMS_AT_ONCE = 50;
/** Pages without an answer, one after the other, after which no more is asked. */
const MAX_FAILURES = 2;

/**
 * Reads PDFs by the layout of their pages. What cannot be drawn or seen is read in the order of the file: a server that is away, or a machine
 * without a browser, keeps no document from being read.
 */
export function createLayoutRecogniser(parts: LayoutParts): RecogniseLayout {
  return async (question) => {
    const { text, signal } = question;
    const pages = text.pages ?? [];
    if (pages.length === 0) return { ...text, note: '' };
    const seen = new Map<number, string>();
    let problem = '';
    try {
      problem = await seePages(parts, question, seen);
    } catch (error) {
      signal.throwIfAborted();
      if (!EngineError.is(error)) throw error;
      problem = error.message;
    }
    const note =
      problem === '' ? `layout of ${seen.size} pages` : `layout of ${seen.size} pages, then without: ${problem}`;
    return { ...laidOut(text, seen), note };
  };
}

/** Sees page after page; gives what kept it from seeing more. */
async function seePages(
  { render, see }: LayoutParts,
  { file, signal, threads }: LayoutQuestion,
  seen: Map<number, string>,
): Promise<string> {
  let items: readonly PageItems[] = [];
  let failures = 0;
  for await (const image of render(file.bytes, { maxPages: MAX_PAGES, signal })) {
    const { page, jpeg, width } = image;
    if (!items.some((one) => one.page === page)) {
      const wanted = { file, first: page, count: ITEMS_AT_ONCE };
      items = await knowledgeJob('items', wanted, { name: file.name, threads, signal });
    }
    const own = items.find((one) => one.page === page);
    const { regions, failed } = await firstValue(see(jpeg), signal);
    failures = failed === undefined ? 0 : failures + 1;
    if (failures >= MAX_FAILURES && failed !== undefined) return failed;
    const text = own === undefined ? undefined : orderPage(own, regions, width / own.width);
    if (text !== undefined) seen.set(page, text);
  }
  return '';
}

/** The text with the pages that were seen in place of those that were read. */
function laidOut({ text, pages = [], isCut }: DocumentText, seen: ReadonlyMap<number, string>): DocumentText {
  const texts: string[] = [];
  for (const { start, end, page } of pages) {
    while (texts.length < page - 1) texts.push('');
    texts.push(seen.get(page) ?? text.slice(start, end));
  }
  return { ...joinPages(texts), ...(isCut === true && { isCut }) };
}
