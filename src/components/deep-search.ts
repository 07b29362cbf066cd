import { mergeMap } from 'rxjs';
import { fromAbortable } from '../operators/from-abortable.js';
import { defineComponent } from './component.js';
import { type ResearchParams, researchParams } from './researching/research-params.js';
import { referencedOutputs } from './values/text-reader.js';

/** Seconds that a research may take. */
const TIMEOUT_SECONDS = 3_600;

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
  outputs: {
    content: { type: 'string', description: 'The report, with citations such as [1].' },
    sources: { type: 'array', description: 'What the report cites, numbered as it does.' },
    unanswered: { type: 'array', description: 'Questions that have no answer, and why.' },
    research: { type: 'object', description: 'The report, its sources, its budget and its contradictions.' },
  },
  primaryOutput: 'content',
  speaks: true,
  timeoutSeconds: TIMEOUT_SECONDS,
  needs: ({ query }) => referencedOutputs([query ?? '']),
  create(params) {
    return (activation) =>
      // Few processes research.
      fromAbortable(() => import('./researching/research-node.js')).pipe(
        mergeMap(({ researchNode }) => researchNode(params, activation)),
      );
  },
});
