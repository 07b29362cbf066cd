import { setImmediate as nextTurn } from 'node:timers/promises';
import type { StoredFile } from '../../records/files.js';
import { type ReadLimits, toUnreadable, unreadable } from './limits.js';
import { openPdf } from './open-pdf.js';
import { joinPages, type PagedText } from './paged-text.js';
import { withoutRadicals } from './without-radicals.js';

/**
 * The text of a PDF with its pages, parted by a blank line. Reading stops at the page that fills `maxCharacters`.
 *
 * A document without text, such as a scan, gives one line that says so. Yields to the event loop between pages.
 * Errors: FILE_UNREADABLE, also for a document that is protected by a password.
 */
export async function readPdf({ name, bytes }: StoredFile, { maxCharacters, signal }: ReadLimits): Promise<PagedText> {
  try {
    const document = await openPdf(bytes);
    try {
      const pages: string[] = [];
      let length = 0;
      for (let number = 1; number <= document.numPages && length <= maxCharacters; number += 1) {
        signal?.throwIfAborted();
        const page = await document.getPage(number);
        const { items } = await page.getTextContent();
        const text = items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : '')).join('');
        page.cleanup();
        pages.push(withoutRadicals(text.trim()));
        length += text.length;
        await nextTurn();
      }
      const read = joinPages(pages);
      return read.text === '' ? { text: `[The ${document.numPages} pages of "${name}" hold no text.]` } : read;
    } finally {
      await document.destroy();
    }
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException') {
      throw unreadable(name, 'it is protected by a password; give a copy without one.', error);
    }
    throw toUnreadable(name, error, 'PDF');
  }
}
