import { defineResearch } from './research-component.js';
import { type ResearchParams, researchParams } from './research-params.js';

/**
 * Answers a question by sub-questions: each is searched, read and verified, until the findings suffice; then a report is written whose every sentence is checked
 * against its sources. See `docs/research.md`.
 *
 * Errors: `QUESTION_INVALID` without a question. What a model does not give, rules do.
 */
export const deepSearch = defineResearch<ResearchParams>({
  type: 'DeepSearch',
  summary: 'Researches a question by sub-questions, and writes a report with its sources.',
  params: researchParams,
  thoughts: 'Researching.',
  way: 'questions',
});
