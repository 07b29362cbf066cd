import { z } from 'zod';
import { embedDocument, indexDocument } from '../../ingestion/index-document.js';
import { placeWithin } from '../../ingestion/work.js';
import { nodeParams, nullishTexts, withDefault } from '../base-params.js';
import { defineComponent } from '../component.js';
import { factsPort, pipelineNode } from './pipeline-node.js';
import { storedChunks } from './stored-chunks.js';

/** Tokenizer: the end of a pipeline, which makes the chunks searchable. */
export const tokenizer = defineComponent({
  type: 'Tokenizer',
  group: 'ingestion',
  summary:
    'The end of an ingestion pipeline: makes the chunks searchable, by words and by vectors of the model of the dataset.',
  params: nodeParams({
    search_method: withDefault(z.array(z.string()), ['embedding', 'full_text']).describe(
      'With "embedding", vectors are made where the dataset has a model; words are always searched. Default: both.',
    ),
    fields: nullishTexts.describe('As editors write it: vectors are made of the text, its titles and its context.'),
    filename_embd_weight: z
      .json()
      .optional()
      .describe('As editors write it: names of documents are searched apart from their texts.'),
  }),
  outputs: factsPort,
  timeoutSeconds: null,
  create: ({ search_method: methods }, placement) =>
    pipelineNode(placement, async (at) => {
      const { facts, rest } = await storedChunks(at);
      const isEmbedded = methods.some((method) => method.toLowerCase() === 'embedding');
      if (isEmbedded) await embedDocument(at.work, placeWithin(rest, 'embed', 0, 0.6), at.signal);
      await indexDocument(at.work, placeWithin(rest, 'index', isEmbedded ? 0.6 : 0, 1), at.signal);
      return facts;
    }),
});
