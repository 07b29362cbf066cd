import { mergeMap } from 'rxjs';
import { fromAbortable } from '../../operators/from-abortable.js';
import { defineComponent } from '../component.js';
import { referencedOutputs } from '../values/text-reader.js';
import { type PlannedParams, plannedParams, RESEARCH_SECONDS, researchOutputs } from './research-params.js';

/**
 * Answers a question by a plan: tasks with dependencies, each a search of its own, carried out side by side; then a report in sections, checked as a whole. See
 * `docs/research.md`.
 *
 * Errors: `QUESTION_INVALID` without a question. What a model does not give, rules do.
 */
export const planExecuteReport = defineComponent<PlannedParams>({
  type: 'PlanExecuteReport',
  group: 'model',
  summary: 'Plans tasks for a question, carries them out, and writes a report in sections with its sources.',
  params: plannedParams,
  thoughts: 'Planning.',
  outputs: researchOutputs,
  primaryOutput: 'content',
  speaks: true,
  timeoutSeconds: RESEARCH_SECONDS,
  needs: ({ query }) => referencedOutputs([query ?? '']),
  create(params) {
    return (activation) =>
      // Few processes research.
      fromAbortable(() => import('./research-node.js')).pipe(
        mergeMap(({ researchNode }) => researchNode(params, activation, 'plan')),
      );
  },
});
