import { requireObject } from '../../operators/invalid-option.js';
import { type Chunker, type ChunkerOptions, draftOf } from './chunker.js';

/** Makes one chunk of a whole document, however long; none of an empty one. RAGFlow's method `one`. */
export function whole(options: ChunkerOptions): Chunker {
  requireObject('whole', 'options', options, 'an object with "countTokens"');
  const { countTokens } = options;
  return (document) => {
    const all = { start: 0, end: document.text.length };
    const draft = draftOf(document, all, { tokens: countTokens(document.text) });
    return draft === undefined ? [] : [draft];
  };
}
