/** How a question is researched, as requests and the variable `sys.research` have it. */
import { z } from 'zod';
import type { Json } from '../../json.js';
import { DEPTH_NAMES } from '../deep/depths.js';
import { REPORT_FORMS } from '../plan/report-forms.js';

/** The variable of a run in which a request says how it is researched. */
export const RESEARCH_VARIABLE = 'sys.research';

const limit = z.number().min(0).max(Number.MAX_SAFE_INTEGER).nullish();

/** Limits of one research. */
export const budgetSchema = z.strictObject({
  tokens: limit.describe('Tokens of all calls.'),
  calls: limit.describe('Calls of models, attempts included.'),
  web_requests: limit.describe('Requests to the web.'),
  money: limit.describe('In the currency of the prices of models.'),
  ms: limit.describe('Milliseconds.'),
});

/** What a request says. */
export const researchSettingsSchema = z.strictObject({
  dataset_ids: z.array(z.string().trim().min(1).max(200)).max(100).nullish().describe('Datasets; default all.'),
  depth: z.enum(DEPTH_NAMES).nullish().describe('quick, normal or deep; default normal.'),
  budget: budgetSchema.nullish().describe('What it may spend; default by depth.'),
  web: z.boolean().nullish().describe('Whether the web is searched, too; default false.'),
  plan: z
    .union([z.boolean(), z.looseObject({})])
    .nullish()
    .describe(
      'true: plans tasks, carries them out and reports; a plan, or {tasks}: carries that out. Default true with approve, clarify or output.',
    ),
  approve: z.boolean().nullish().describe('The plan waits to be approved; default false.'),
  clarify: z.boolean().nullish().describe('Asks what the question means, at most three questions; default as approve.'),
  output: z
    .enum(REPORT_FORMS)
    .nullish()
    .describe('Form of the report of a plan: answer, table, briefing or overview; default answer.'),
  tools: z
    .array(z.string().trim().min(1).max(200))
    .max(128)
    .nullish()
    .describe('Names of tools that tasks of a plan may call beside the searches; none when empty; default all.'),
  llm_id: z.string().trim().max(200).nullish().describe('Model; default the model of chats.'),
});

/** The same, read. */
export type ResearchSettings = z.output<typeof researchSettingsSchema>;

/** Whether a request wants a plan; undefined where it does not say. */
export function wantsPlan({ plan, approve, clarify, output }: ResearchSettings): boolean | undefined {
  if (typeof plan === 'object' && plan !== null) return true;
  const isSaid = approve === true || clarify === true || typeof output === 'string';
  return plan ?? (isSaid || undefined);
}

/** What a run says in its variables; nothing when it says nothing. @throws ZodError */
export function readResearchSettings(variables: Readonly<Record<string, Json>>): ResearchSettings {
  const given = Object.hasOwn(variables, RESEARCH_VARIABLE) ? variables[RESEARCH_VARIABLE] : undefined;
  return researchSettingsSchema.parse(given ?? {});
}
