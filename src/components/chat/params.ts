import { z } from 'zod';
import type { CallContext } from '../../agents/call-context.js';
import { type Chat, openChat } from '../../agents/chat.js';
import { ownObject } from '../../dsl/json-copy.js';
import { foundValue } from '../../dsl/resolve.js';
import { type Notice, warning } from '../../graph/node-events.js';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../json.js';
import type { ChatRetries, Sampling } from '../../models/chat-model.js';
import { entered } from '../../tools/fields.js';
import { isGiven, nodeParams, nullishFlag, nullishText, renaming, templateEngine } from '../base-params.js';

const number = (min: number, max: number) => z.preprocess(entered, z.coerce.number().min(min).max(max).optional());

/**
 * Names that documents of other versions give to the same parameters; the first one present counts. RAGFlow also writes the
 * number of a row of its database into `tenant_llm_id`, which names nothing here.
 */
const OTHER_NAMES = {
  llm_id: ['model_id', 'tenant_llm_id'],
  sys_prompt: ['system_prompt'],
  prompts: ['user_prompt'],
} as const;

/** Parameters of the components whose answer is for the user; for `z.looseObject`. */
export const answerParams = {
  message_history_window_size: z.coerce
    .number()
    .int()
    .default(13)
    .describe('Pairs of earlier entries that the model sees; 0 for none; default 13.'),
  cite: nullishFlag.describe('Asks for citations when passages were found; default true.'),
};

/** Parameters of every component that asks a chat model; for `z.looseObject`. */
export const modelParams = {
  llm_id: z
    .string('a model is named by a text')
    .trim()
    .min(1, 'a model must be named, such as "model@Factory"')
    .describe('Model: `model`, `model@Factory` or `model@instance@Factory`.'),
  temperature: number(0, 1).describe('Randomness, 0 to 1; left to the provider when absent.'),
  temperatureEnabled: nullishFlag.describe('False: `temperature` is not sent.'),
  top_p: number(0, 1).describe('Share of probability to choose from, 0 to 1; not sent when 0 or absent.'),
  topPEnabled: nullishFlag.describe('False: `top_p` is not sent.'),
  max_tokens: number(0, Number.MAX_SAFE_INTEGER).describe('Longest answer in tokens; not sent when 0 or absent.'),
  maxTokensEnabled: nullishFlag.describe('False: `max_tokens` is not sent.'),
  presence_penalty: number(0, 1).describe('Penalty for words that occurred, 0 to 1; not sent when 0 or absent.'),
  presencePenaltyEnabled: nullishFlag.describe('False: `presence_penalty` is not sent.'),
  frequency_penalty: number(0, 1).describe('Penalty for frequent words, 0 to 1; not sent when 0 or absent.'),
  frequencyPenaltyEnabled: nullishFlag.describe('False: `frequency_penalty` is not sent.'),
  thinking: nullishText.describe('`enabled` or `disabled` switches reasoning; else the provider decides.'),
  max_retries: z
    .preprocess(entered, z.number().int().min(0).optional())
    .describe('Attempts after the first when the model fails; the configuration decides when absent.'),
  delay_after_error: number(0, 86_400).describe('Seconds before the first retry; default 2.'),
};

/** The output of {@link modelParams}. */
export type ModelParams = z.output<z.ZodObject<typeof modelParams>>;

/** Gives parameters their usual names; for `z.preprocess`. */
export const withUsualNames = renaming(OTHER_NAMES, (value) => isGiven(value) && typeof value !== 'number');

/** The sampling settings to send. A switch that is absent counts as on; a value that is absent is never sent. */
export function samplingOf(params: ModelParams): Sampling {
  const on = (value: number | undefined, isEnabled: boolean | null | undefined) =>
    isEnabled === false ? undefined : value;
  const unlessZero = (value: number | undefined) => (value === 0 ? undefined : value);
  return {
    temperature: on(params.temperature, params.temperatureEnabled),
    topP: unlessZero(on(params.top_p, params.topPEnabled)),
    maxTokens: unlessZero(on(params.max_tokens, params.maxTokensEnabled)),
    presencePenalty: unlessZero(on(params.presence_penalty, params.presencePenaltyEnabled)),
    frequencyPenalty: unlessZero(on(params.frequency_penalty, params.frequencyPenaltyEnabled)),
  };
}

/** How often the model's adapter tries again; the only layer that does. */
export function retriesOf(params: ModelParams): ChatRetries {
  const { max_retries: maxRetries, delay_after_error: delaySeconds } = params;
  return { maxRetries, delayMs: delaySeconds === undefined ? undefined : delaySeconds * 1_000 };
}

const role = z.enum(['system', 'user', 'assistant']).catch('user');
const prompt = z.looseObject({ role, content: z.string() });

/** Parameters of an LLM as documents write them; for `nodeParams`. */
export const llmShape = {
  ...modelParams,
  sys_prompt: nullishText.describe('System prompt; default "".'),
  prompts: z
    .preprocess(
      (given) => (typeof given === 'string' && given !== '' ? [{ role: 'user', content: given }] : given),
      z.array(prompt).min(1, 'a model needs at least one prompt'),
    )
    .default([{ role: 'user', content: '{sys.query}' }])
    .describe('Messages after the history, in order, or one text; default the question of the user.'),
  template_engine: templateEngine.describe(
    'Renders the prompts as templates: "jinja" or "handlebars"; default: only references are replaced.',
  ),
  ...answerParams,
  visual_files_var: nullishText.describe('Reference to images; default none.'),
  outputs: z
    .looseObject({})
    .nullish()
    .describe('`structured` holds a JSON schema: then the answer is an object of it, and nothing is streamed.'),
};

/** The same as one schema, other names of parameters included. */
export const llmParams = z.preprocess(withUsualNames, nodeParams(llmShape));

/** Parameters of an LLM, also those of an Agent without its tools. */
export type LlmParams = z.output<typeof llmParams>;

/** The JSON schema in a node's `outputs.structured`, also one level further down; undefined without properties: the answer is text. */
export function schemaOf({ outputs }: Pick<LlmParams, 'outputs'>): JsonObject | undefined {
  const declared = ownObject(outputs, 'structured');
  return declared && [declared, declared.schema, declared.structured].find(hasProperties);
}

function hasProperties(schema: Json | undefined): schema is JsonObject {
  return isJsonObject(schema) && isJsonObject(schema.properties) && Object.keys(schema.properties).length > 0;
}

/** The chat of a node, and warnings about its settings. */
export interface NodeChat extends Chat {
  readonly warnings: readonly Notice[];
}

/**
 * Opens the chat of a node: the model and settings of its parameters, and `sys.chat_template_kwargs` (an object, or a text with
 * one).
 *
 * @throws EngineError as {@link openChat}.
 */
export function openNodeChat(context: CallContext, params: ModelParams): NodeChat {
  const { chatTemplateKwargs, warnings } = templateKwargs(context);
  const chat = openChat(context, {
    model: params.llm_id,
    sampling: samplingOf(params),
    retries: retriesOf(params),
    thinking: params.thinking === 'enabled' || params.thinking === 'disabled' ? params.thinking : undefined,
    chatTemplateKwargs,
  });
  return { ...chat, warnings };
}

function templateKwargs({ source }: CallContext): { chatTemplateKwargs?: JsonObject; warnings: readonly Notice[] } {
  const value = foundValue(source.variable('sys.chat_template_kwargs'));
  if (value === null || value === '') return { warnings: [] };
  const parsed = typeof value === 'string' ? parseJson(value) : value;
  if (isJsonObject(parsed)) return { chatTemplateKwargs: parsed, warnings: [] };
  return { warnings: [warning('sys.chat_template_kwargs is not an object and was not sent to the model.')] };
}
