/** What nodes that research are set to. */
import { z } from 'zod';
import { DEPTH_NAMES } from '../../research/deep/depths.js';
import { REPORT_FORMS } from '../../research/plan/report-forms.js';
import { entered } from '../../tools/fields.js';
import { toolEntry } from '../agents/agent-params.js';
import { nodeParams, nullishFlag, nullishText, withDefault } from '../base-params.js';

const limit = (what: string) => z.preprocess(entered, z.coerce.number().min(0).nullish()).describe(what);

/** Tools that a node names. */
const MAX_TOOLS = 128;

/** Seconds that a research may take. */
export const RESEARCH_SECONDS = 3_600;

/** What both ways of research give. */
export const researchOutputs = {
  content: { type: 'string', description: 'The report, with citations such as [1].' },
  sources: { type: 'array', description: 'What the report cites, numbered as it does.' },
  unanswered: { type: 'array', description: 'Questions that have no answer, and why.' },
  research: { type: 'object', description: 'The report, its sources, its budget and its contradictions.' },
} as const;

/** What both ways of research are set to. */
const shared = {
  query: nullishText.describe('The question, with references; default the question of the user.'),
  llm_id: withDefault(z.string().trim(), '').describe(
    'Model that splits, reads, verifies and writes; default the model of chats. Without any, rules do it.',
  ),
  dataset_ids: z
    .array(z.string())
    .nullish()
    .describe('Ids of the datasets that are searched; none when empty; default all.'),
  depth: z
    .preprocess(entered, z.enum(DEPTH_NAMES).nullish())
    .describe('How far it goes: quick, normal or deep; default normal.'),
  web: nullishFlag.describe(
    'Searches the web, too: by SearXNG, Tavily or DuckDuckGo, the first that is set up; default false.',
  ),
  max_tokens: limit('Tokens of all calls; default by depth.'),
  max_calls: limit('Calls of models, attempts included; default by depth.'),
  max_ms: limit('Milliseconds, of which nine tenths are for the search; default by depth.'),
};

/** Parameters of the component DeepSearch. */
export const researchParams = nodeParams(shared);

/** The same, validated. */
export type ResearchParams = z.output<typeof researchParams>;

/** Parameters of the component PlanExecuteReport. */
export const plannedParams = nodeParams({
  ...shared,
  tools: z
    .array(toolEntry)
    .max(MAX_TOOLS)
    .nullish()
    .describe(
      'Tools that tasks may call beside the searches: {component_name, params}, or names of tools, of those of MCP servers and of published canvases; none when empty; default all that need no parameters.',
    ),
  output: z
    .preprocess(entered, z.enum(REPORT_FORMS).nullish())
    .describe('Form of the report: answer, table, briefing or overview; default answer.'),
});

/** The same, validated. */
export type PlannedParams = z.output<typeof plannedParams>;
