import { nodeParams } from '../base-params.js';
import { chunkerNode } from './chunker-node.js';

/** PageChunker: a chunk of each page or slide. */
export const pageChunker = chunkerNode({
  type: 'PageChunker',
  summary: 'Makes a chunk of each page or slide in an ingestion pipeline.',
  params: nodeParams({}),
  cut: () => ({ kind: 'pages' }),
});
