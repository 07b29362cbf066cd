/** What a Chat node is set to. */
import { z } from 'zod';
import { modeSchema } from '../../chat/service/chat-settings.js';
import { RESEARCH_OFFERS } from '../../chat/stages/suggest-research.js';
import { entered } from '../../tools/fields.js';
import { nodeParams, nullishText, withDefault } from '../base-params.js';
import { modelParams } from '../chat/params.js';

const share = z.preprocess(entered, z.coerce.number().min(0).max(1).nullish());
const count = (most: number) => z.preprocess(entered, z.coerce.number().int().min(1).max(most).nullish());
const names = z.array(z.string()).nullish();

/** Parameters of the component Chat. */
export const chatParams = nodeParams({
  query: nullishText.describe('The question, with references; default the question of the user.'),
  ...modelParams,
  llm_id: withDefault(z.string().trim(), '').describe(
    'Model that answers; default the route "chat" where there is one, else the default model.',
  ),
  dataset_ids: names.describe('Ids of the datasets that are searched; none when empty; default all.'),
  tools: names.describe('Names of the tools that may be called; none when empty; default all eight.'),
  mcp: names.describe('Ids of the MCP servers whose tools may be called; none when empty; default all.'),
  mode: z
    .preprocess(entered, modeSchema.nullish())
    .describe('KB: documents alone; MCP: tools alone; HYBRID: both; SYSTEM: neither; default by the question.'),
  top_n: count(100).describe('Passages that the answer is made from; default 6.'),
  top_k: count(2_048).describe('Candidates of a search; default 1024.'),
  similarity_threshold: share.describe('Passages below it are left out, 0 to 1; default 0.2.'),
  vector_similarity_weight: share.describe(
    "Share of the vectors of the datasets' model, 0 to 1; default that of the index.",
  ),
  rerank_id: nullishText.describe('Model that puts passages in order; default none.'),
  cross_languages: names.describe(
    'Languages that questions are translated into as well, such as "English"; default none.',
  ),
  empty_response: nullishText.describe(
    'Said when nothing is found; empty: the model answers without evidence; default a sentence in the language of the user.',
  ),
  name: nullishText.describe('What the assistant calls itself; default "Runnel".'),
  instructions: nullishText.describe('What holds for every answer, beside the rules of the chat; default nothing.'),
  language: nullishText.describe('Language of the answer; default that of the question.'),
  timezone: nullishText.describe('Where the user is, such as "Europe/Oslo"; default by the language of the question.'),
  research: z
    .preprocess(entered, z.enum(RESEARCH_OFFERS).nullish())
    .describe(
      'off: researches are not spoken of; suggest: they are offered for questions that one search may not answer; auto: the client is told to start them; default suggest.',
    ),
  deadline_ms: count(3_600_000).describe('Milliseconds after which the chat fails; default none.'),
});

/** The same, validated. */
export type ChatParams = z.output<typeof chatParams>;
