import { type ByTokensOptions, tokenCut } from './by-tokens.js';
import { atMost, type Chunker, type ParsedDocument } from './chunker.js';

/**
 * Makes a chunk of each page, cut by tokens where it is too long: slides and presentations. A document without pages is one page.
 *
 * @throws EngineError OPTION_INVALID; LIMIT_REACHED when read, for too many chunks.
 */
export function byPages(options: ByTokensOptions): Chunker {
  const cut = tokenCut(options);
  function* pages(document: ParsedDocument) {
    const { text, pages: known = [] } = document;
    if (known.length === 0) yield* cut(document, { start: 0, end: text.length }, {});
    for (const { start, end } of known) yield* cut(document, { start, end }, {});
  }
  return (document) => atMost(pages(document), options.maxChunks);
}
