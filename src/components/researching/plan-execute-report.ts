import { defineResearch } from './research-component.js';
import { type PlannedParams, plannedParams } from './research-params.js';

/**
 * Answers a question by a plan: tasks with dependencies, each a search of its own, carried out side by side; then a report in sections, checked as a whole. See
 * `docs/research.md`.
 *
 * Errors: `QUESTION_INVALID` without a question. What a model does not give, rules do.
 */
export const planExecuteReport = defineResearch<PlannedParams>({
  type: 'PlanExecuteReport',
  summary: 'Plans tasks for a question, carries them out, and writes a report in sections with its sources.',
  params: plannedParams,
  thoughts: 'Planning.',
  way: 'plan',
});
