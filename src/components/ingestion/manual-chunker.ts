import { chunkerNode } from './chunker-node.js';
import { checkLevels, patternsOf, titleParams } from './title-chunker.js';

/** Tokens of a chunk at most: sections of manuals stay whole. */
const MAX_TOKENS = 8_000;

/** ManualChunker: sections of a manual, of which very small ones are joined with the next; they are cut only where they are very long. */
export const manualChunker = chunkerNode({
  type: 'ManualChunker',
  summary: 'Cuts the text of an ingestion pipeline into the sections of a manual.',
  params: titleParams,
  check: ({ levels }) => checkLevels(levels),
  cut: ({ levels, hierarchy, root_chunk_as_heading: tellsRoot }) => ({
    kind: 'titles',
    method: 'group',
    levels: patternsOf(levels),
    hierarchy,
    tellsAbove: false,
    tellsRoot,
    size: MAX_TOKENS,
  }),
});
