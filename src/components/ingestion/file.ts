import { z } from 'zod';
import { findText } from '../../ingestion/read-document.js';
import { nodeParams } from '../base-params.js';
import { defineComponent } from '../component.js';
import { factsPort, pipelineNode } from './pipeline-node.js';

/** File: the entry of an ingestion pipeline, which finds the file of the document. Errors: INGEST_FAILED when it is gone. */
export const file = defineComponent({
  type: 'File',
  group: 'ingestion',
  summary: 'The entry of an ingestion pipeline: the file of the document that is ingested.',
  params: nodeParams({ outputs: z.json().optional().describe('As editors write it; ignored.') }),
  outputs: { ...factsPort, name: { type: 'string', description: 'Name of the document.' } },
  isEntry: true,
  timeoutSeconds: null,
  create: (_, placement) =>
    pipelineNode(placement, async ({ work, place, facts }) => {
      await findText(work, place, {});
      return facts;
    }),
});
