import { z } from 'zod';
import type { JsonObject } from '../../json.js';
import { baseParams } from '../base-params.js';
import { answerParams, modelParams, withUsualNames } from './model-params.js';
import { outputSchema } from './structured-answer.js';

const role = z.enum(['system', 'user', 'assistant']).catch('user');
const prompt = z.looseObject({ role, content: z.string() });

/** Parameters of an LLM as documents write them; for `z.looseObject`. */
export const llmShape = {
  ...baseParams,
  ...modelParams,
  sys_prompt: z.string().nullish().describe('System prompt; default "".'),
  prompts: z
    .preprocess(
      (given) => (typeof given === 'string' && given !== '' ? [{ role: 'user', content: given }] : given),
      z.array(prompt).min(1, 'a model needs at least one prompt'),
    )
    .default([{ role: 'user', content: '{sys.query}' }])
    .describe('Messages behind the history, in order, or one text; default the question of the user.'),
  ...answerParams,
  visual_files_var: z.string().nullish().describe('Reference to images; default none.'),
  outputs: z
    .looseObject({})
    .nullish()
    .describe('`structured` holds a JSON schema: then the answer is an object of it, and nothing is streamed.'),
};

/** The same as one schema, other names of parameters included. */
export const llmParams = z.preprocess(withUsualNames, z.looseObject(llmShape));

/** Parameters of an LLM, also those of an Agent without its tools. */
export type LlmParams = z.output<typeof llmParams>;

/** The schema of a structured answer; undefined when the answer is text. */
export function schemaOf({ outputs }: Pick<LlmParams, 'outputs'>): JsonObject | undefined {
  return outputSchema((outputs ?? undefined) as JsonObject | undefined);
}
