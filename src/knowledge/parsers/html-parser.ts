import { cutText } from '../../documents/characters.js';
import { documentJob } from '../../documents/document-jobs.js';
import { decodeText } from '../../documents/reading/decode-text.js';
import { MAX_HTML_BYTES, requireSize, unreadable } from '../../documents/reading/limits.js';
import { firstValue } from '../../operators/from-abortable.js';
import { invalidOption, requireOptions } from '../../operators/invalid-option.js';
import type { Threads } from '../../threads/threads.js';
import type { ParseFunction } from '../ports.js';
import { documentsOf, sourceName } from './parsed.js';

/** How pages are read. */
export interface HtmlParserOptions {
  /** The whole page as Markdown, or the text of its article without menus and the like. @default 'page' */
  readonly part?: 'page' | 'article';
  /** Where pages are read. @default a thread of its own per page */
  readonly threads?: Threads | undefined;
}

/** Characters in which the tag with the language and the description are looked for. */
const HEAD_CHARACTERS = 65_536;
const LANGUAGE = /<html\b[^>]{0,1000}?\slang\s*=\s*["']?([a-z]{2,3}(?:-[a-z\d]{1,8}){0,3})\b/i;
const META = /<meta\b([^>]{0,1000})>/gi;
const NAME = /\bname\s*=\s*["']?description\b/i;
const CONTENT = /\bcontent\s*=\s*(?:"([^"]*)"|'([^']*)')/i;
const MAX_DESCRIPTION = 2_000;

/**
 * A parser of HTML: a page is one document in Markdown, with `title`, `language` and `description` where the page has them. 400,000
 * characters are read of a page; `isCut` says that there were more.
 *
 * Errors of a call: `FILE_UNREADABLE` beyond 8 MiB, and for a page that takes a thread too long or too much memory; `LIMIT_REACHED` when
 * too many wait.
 *
 * @throws EngineError OPTION_INVALID.
 */
export function htmlParser(given: HtmlParserOptions = {}): ParseFunction {
  requireOptions('htmlParser', given, ['part', 'threads']);
  const { part = 'page', threads } = given;
  if (part !== 'page' && part !== 'article') throw invalidOption('htmlParser', 'part', '"page" or "article"', part);
  const form = part === 'page' ? 'markdown' : 'content';
  return async (input, options = {}) => {
    const { bytes, uri, mimeType } = input;
    const name = sourceName(uri);
    requireSize(name, 'the page has', bytes.length, MAX_HTML_BYTES);
    const html = decodeText(bytes, mimeType);
    // Links are relative to it; a path is no address.
    const url = /^https?:/i.test(uri) ? uri : '';
    const unable = (why: string) => unreadable(name, `${why}.`);
    const { title, content, isCut } = await firstValue(
      documentJob('page', { html, url, form }, { threads, unable }),
      options.signal,
    );
    const head = html.slice(0, HEAD_CHARACTERS);
    const language = LANGUAGE.exec(head)?.[1];
    const description = descriptionOf(head);
    const metadata = {
      ...(title !== '' && { title }),
      ...(language !== undefined && { language }),
      ...(description !== '' && { description }),
      ...(isCut && { isCut }),
    };
    return documentsOf(input, [{ text: content, metadata }], options);
  };
}

function descriptionOf(head: string): string {
  for (const [, attributes = ''] of head.matchAll(META)) {
    if (!NAME.test(attributes)) continue;
    const content = CONTENT.exec(attributes);
    return cutText((content?.[1] ?? content?.[2] ?? '').trim(), MAX_DESCRIPTION);
  }
  return '';
}
