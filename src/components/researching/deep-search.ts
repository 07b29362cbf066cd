import { mergeMap } from 'rxjs';
import { fromAbortable } from '../../operators/from-abortable.js';
import { defineComponent } from '../component.js';
import { referencedOutputs } from '../values/text-reader.js';
import { RESEARCH_SECONDS, type ResearchParams, researchOutputs, researchParams } from './research-params.js';

/**
 * Answers a question by sub-questions: each is searched, read and verified, until the findings suffice; then a report is written whose every sentence is checked
 * against its sources. See `docs/research.md`.
 *
 * Errors: `QUESTION_INVALID` without a question. What a model does not give, rules do.
 */
export const deepSearch = defineComponent<ResearchParams>({
  type: 'DeepSearch',
  group: 'model',
  summary: 'Researches a question by sub-questions, and writes a report with its sources.',
  params: researchParams,
  thoughts: 'Researching.',
  outputs: researchOutputs,
  primaryOutput: 'content',
  speaks: true,
  timeoutSeconds: RESEARCH_SECONDS,
  needs: ({ query }) => referencedOutputs([query ?? '']),
  create(params) {
    return (activation) =>
      // Few processes research.
      fromAbortable(() => import('./research-node.js')).pipe(
        mergeMap(({ researchNode }) => researchNode(params, activation, 'questions')),
      );
  },
});
