import { nodeParams } from '../base-params.js';
import { defineComponent } from '../component.js';
import { factsPort, pipelineNode } from './pipeline-node.js';

const REASON =
  'it compiles knowledge into a graph by templates of a RAGFlow server, which are not part of the document, so it cannot run here; end the pipeline with a Tokenizer';

/** Compiler: refused with its reason, since nothing in the document says what it does. */
export const compiler = defineComponent({
  type: 'Compiler',
  group: 'ingestion',
  summary: 'Compiles knowledge by templates of a RAGFlow server; a pipeline that has it is refused.',
  params: nodeParams({}),
  outputs: factsPort,
  check: () => [REASON],
  create: (_, placement) => pipelineNode(placement, ({ facts }) => facts),
});
