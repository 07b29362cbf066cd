import { nodeParams, nullishText } from '../base-params.js';
import { chunkerNode } from './chunker-node.js';

/** QAChunker: pairs of question and answer, of tables with two columns, marks, tabs or headings. */
export const qaChunker = chunkerNode({
  type: 'QAChunker',
  summary: 'Makes a chunk of each question with its answer in an ingestion pipeline.',
  params: nodeParams({
    lang: nullishText.describe('As editors write it; marks of questions are known in both languages.'),
  }),
  cut: () => ({ kind: 'questions' }),
});
