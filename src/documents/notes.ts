import { writableLine } from './characters.js';

/** What a comment says about the pages. */
export type Note =
  | { readonly kind: 'page-break' }
  | { readonly kind: 'section' }
  | { readonly kind: 'header' | 'footer'; readonly text: string };

/** Longest header or footer, in UTF-16 units. */
const MAX_EDGE_TEXT = 500;

const COMMENT = /<!--(.*?)-->/gs;
const PAGE_BREAK = /^(?:page-?break|new-?page)$/i;
const SECTION = /^(?:section|section-?break)$/i;
const EDGE = /^(header|footer)\s*:(.*)$/is;

/**
 * Reads the comments in a block of HTML that holds nothing else; undefined for any other block.
 *
 * `<!-- pagebreak -->` starts a page, `<!-- section -->` a section on a new page. `<!-- header: Text -->` and
 * `<!-- footer: Text -->` set the header and the footer of the section they stand in and of those after it.
 */
export function readNotes(html: string): readonly Note[] | undefined {
  if (!html.includes('<!--') || !html.trimEnd().endsWith('-->')) return undefined;
  // Every comment has an end now, so that none is looked for in vain.
  if (html.replace(COMMENT, '').trim() !== '') return undefined;
  return [...html.matchAll(COMMENT)].flatMap(([, text = '']): Note[] => {
    const said = text.trim();
    if (PAGE_BREAK.test(said)) return [{ kind: 'page-break' }];
    if (SECTION.test(said)) return [{ kind: 'section' }];
    const [, edge, line = ''] = EDGE.exec(said) ?? [];
    if (edge === undefined) return [];
    return [{ kind: edge.toLowerCase() === 'header' ? 'header' : 'footer', text: writableLine(line, MAX_EDGE_TEXT) }];
  });
}
