/** Models as pickers show them. */
import { z } from 'zod';
import { string, whole } from '../shapes.js';

const kind = z.enum(['chat', 'embedding', 'rerank', 'tts']);

const modelShape = z.looseObject({
  id: string.describe('What documents write, such as in `llm_id`.'),
  provider: string.describe('Name of its provider; `scripted` and `route` for what is no provider.'),
  kinds: z.array(kind).describe('What it may be used for, as far as the configuration says.'),
  default_for: z.array(kind).describe('Where it is used when a document names none.'),
  vision: z.boolean().describe('Whether the configuration says that it sees pictures.'),
  context_length: whole.nullable().describe('Tokens; null where the configuration does not say.'),
});

export const modelsShape = z.looseObject({
  scripted: z.boolean().describe('No provider is configured: a built-in script answers every chat.'),
  models: z.array(modelShape).describe('Those that the configuration names; providers may have more.'),
  providers: z.array(
    z.looseObject({
      name: string,
      kinds: z.array(kind),
      has_key: z.boolean(),
      takes_any: z.boolean().describe('Names of models that are not listed go there.'),
    }),
  ),
});

/** What models there are. */
export type ModelList = z.output<typeof modelsShape>;

/** One of them. */
export type ListedModel = z.output<typeof modelShape>;
