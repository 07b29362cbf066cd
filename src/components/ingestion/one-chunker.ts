import { nodeParams } from '../base-params.js';
import { chunkerNode } from './chunker-node.js';

/** OneChunker: one chunk of the whole document. */
export const oneChunker = chunkerNode({
  type: 'OneChunker',
  summary: 'Makes one chunk of the document of an ingestion pipeline.',
  params: nodeParams({}),
  cut: () => ({ kind: 'whole' }),
});
