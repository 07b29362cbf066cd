/** What a DeepSearch node is set to. */
import { z } from 'zod';
import { DEPTH_NAMES } from '../../research/deep/depths.js';
import { entered } from '../../tools/fields.js';
import { nodeParams, nullishFlag, nullishText, withDefault } from '../base-params.js';

const limit = (what: string) => z.preprocess(entered, z.coerce.number().min(0).nullish()).describe(what);

/** Parameters of the component DeepSearch. */
export const researchParams = nodeParams({
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
});

/** The same, validated. */
export type ResearchParams = z.output<typeof researchParams>;
