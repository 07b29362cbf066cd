import type { StoredFile } from '../../records/files.js';
import { toUnreadable } from './limits.js';
import { openPdf } from './open-pdf.js';
import { withoutRadicals } from './without-radicals.js';

/** A piece of text on a page, in points from its upper left corner. */
export interface PageItem {
  readonly text: string;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** The text of a page with its places. */
export interface PageItems {
  /** From 1. */
  readonly page: number;
  /** In points. */
  readonly width: number;
  readonly height: number;
  readonly items: readonly PageItem[];
}

/** Pieces of a page at most; of more the first ones are read. */
const MAX_ITEMS = 50_000;

/** Reads the text of some pages of a PDF with its places; `first` is from 1. Errors: FILE_UNREADABLE */
export async function readPdfItems(
  { name, bytes }: StoredFile,
  { first, count }: { readonly first: number; readonly count: number },
): Promise<readonly PageItems[]> {
  try {
    const document = await openPdf(bytes);
    try {
      const pages: PageItems[] = [];
      const last = Math.min(document.numPages, first + count - 1);
      for (let number = first; number <= last; number += 1) {
        const page = await document.getPage(number);
        const viewport = page.getViewport({ scale: 1 });
        const { items } = await page.getTextContent();
        const found = items.slice(0, MAX_ITEMS).flatMap((item): PageItem[] => {
          if (!('str' in item) || item.str.trim() === '') return [];
          const [left = 0, baseline = 0] = viewport.convertToViewportPoint(
            item.transform[4],
            item.transform[5],
          ) as number[];
          const height = item.height || Math.hypot(item.transform[2], item.transform[3]);
          return [{ text: withoutRadicals(item.str), left, top: baseline - height, width: item.width, height }];
        });
        page.cleanup();
        pages.push({ page: number, width: viewport.width, height: viewport.height, items: found });
      }
      return pages;
    } finally {
      await document.destroy();
    }
  } catch (error) {
    throw toUnreadable(name, error, 'PDF');
  }
}
