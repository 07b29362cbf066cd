import { nodeParams } from '../base-params.js';
import { chunkerNode } from './chunker-node.js';

/** TableChunker: a chunk of each row, with the names of its columns. */
export const tableChunker = chunkerNode({
  type: 'TableChunker',
  summary: 'Makes a chunk of each row of a table in an ingestion pipeline.',
  params: nodeParams({}),
  cut: () => ({ kind: 'rows' }),
});
