import { invalidOption } from '../../operators/invalid-option.js';
import { type ByTokensOptions, tokenCut } from './by-tokens.js';
import { atMost, type Chunker, type ParsedDocument } from './chunker.js';

/**
 * Cuts the chunks of another chunker into smaller ones: each chunk is followed by its children, whose `parent` is its position. Small passages are found
 * more exactly, large ones say more: search finds the children and gives their parents. A chunk that has only one child has none.
 *
 * @throws EngineError OPTION_INVALID; LIMIT_REACHED when read, for too many chunks and children.
 */
export function withChildren(chunker: Chunker, options: ByTokensOptions): Chunker {
  if (typeof chunker !== 'function') throw invalidOption('withChildren', 'chunker', 'a chunker', chunker);
  const cut = tokenCut(options);
  function* family(document: ParsedDocument) {
    let position = 0;
    for (const { parent: _, ...draft } of chunker(document)) {
      yield draft;
      const { start, end, headings, context, question } = draft;
      const fields = { ...(headings && { headings }), ...(context && { context }), ...(question && { question }) };
      const children = [...cut(document, { start, end }, { ...fields, parent: position })];
      position += 1;
      if (children.length < 2) continue;
      yield* children;
      position += children.length;
    }
  }
  return (document) => atMost(family(document), options.maxChunks);
}
