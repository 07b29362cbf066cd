import { concat, from, type Observable } from 'rxjs';
import { z } from 'zod';
import { renderValue } from '../dsl/render-value.js';
import type { Activation, Placement } from '../graph/component.js';
import { defineComponent } from '../graph/component.js';
import { type NodeEvent, type Notice, warning } from '../graph/node-events.js';
import type { Json, JsonObject } from '../json.js';
import type { ChatMessage } from '../models/chat-model.js';
import { baseParams } from './base-params.js';
import { answerEvents } from './chat/answer-events.js';
import { fitMessages } from './chat/fit-messages.js';
import { readHistory } from './chat/history.js';
import { collectImages, withoutImages } from './chat/images.js';
import { asksSomething, buildMessages } from './chat/messages.js';
import { answerParams, modelParams, withUsualNames } from './chat/model-params.js';
import { type Chat, nothingToAsk, openChat } from './chat/open-chat.js';
import { cutPromptTags, type TaggedPrompt } from './chat/prompt-tags.js';
import { hasPassages } from './chat/retrieval.js';
import { askForObject, outputSchema } from './chat/structured-answer.js';
import { citationPrompt } from './prompts/citation.js';
import { structuredPrompt } from './prompts/structured.js';
import { createTextReader, referencedOutputs, type TextReader } from './values/text-reader.js';

const role = z.enum(['system', 'user', 'assistant']).catch('user');
const prompt = z.looseObject({ role, content: z.string() });

/** Parameters of an LLM as documents write them. */
export const llmParams = z.preprocess(
  withUsualNames,
  z.looseObject({
    ...baseParams,
    ...modelParams,
    sys_prompt: z.string().nullish().describe('System prompt; default "".'),
    prompts: z
      .preprocess(
        (given) => (typeof given === 'string' ? [{ role: 'user', content: given }] : given),
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
  }),
);

/** Parameters of an LLM, also those of an Agent without its tools. */
export type LlmParams = z.output<typeof llmParams>;

/** Reads one prompt of a node, its references replaced by their values. */
export type ReadPrompt = (text: string, reader: TextReader, activation: Activation) => string;

/**
 * Asks a model. Text and reasoning are streamed as they come; `content` holds the answer, with its reasoning between think
 * marks when another node reads it live and without it otherwise. With a schema the answer is read as JSON into `structured`.
 *
 * Errors: `MODEL_*` of the model, `NODE_FAILED` when there is nothing to ask or the answer does not become JSON.
 */
export const llm = defineComponent<LlmParams>({
  type: 'LLM',
  summary: 'Asks a model, with prompts that may read other nodes.',
  thoughts: 'Thinking about the answer.',
  params: llmParams,
  outputs: {
    content: { type: 'string', description: 'The answer; absent when a schema is set.' },
    structured: { type: 'object', description: 'The answer as an object of the schema, when one is set.' },
  },
  primaryOutput: 'content',
  streams: (params) => (schemaOf(params) === undefined ? ['content'] : []),
  needs: (params) => referencedOutputs([params.sys_prompt ?? '', ...params.prompts.map(({ content }) => content)]),
  create: (params, placement) => createAsker(params, placement),
});

/** What an LLM does, for components that ask in its way; `readPrompt` is for prompts that hold more than references. */
export function createAsker(
  params: LlmParams,
  { isStreamed }: Pick<Placement, 'isStreamed'>,
  readPrompt: ReadPrompt = (text, reader) => reader.read(text),
): (activation: Activation) => Observable<NodeEvent> {
  const system = cutPromptTags(params.sys_prompt ?? '');
  const asking: Asking = { params, system, schema: schemaOf(params), isStreamed, readPrompt };
  return (activation) => ask(activation, asking);
}

/** What all activations of a node share. */
interface Asking {
  readonly params: LlmParams;
  readonly system: TaggedPrompt;
  readonly schema: JsonObject | undefined;
  readonly isStreamed: boolean;
  readonly readPrompt: ReadPrompt;
}

function schemaOf({ outputs }: LlmParams): JsonObject | undefined {
  return outputSchema((outputs ?? undefined) as JsonObject | undefined);
}

function ask(activation: Activation, asking: Asking): Observable<NodeEvent> {
  const { params, schema, isStreamed } = asking;
  const chat = openChat(activation, params);
  const { messages, warnings } = prepare(activation, chat, asking);
  const request = chat.request(fitMessages(messages, chat.contextLength));
  const { model } = chat;
  const answer$ =
    schema === undefined
      ? answerEvents(model.chat(request), { keepThinking: isStreamed })
      : askForObject({ node: activation.node, model, request, maxRetries: params.max_retries ?? 0 });
  return warnings.length === 0 ? answer$ : concat(from(warnings), answer$);
}

function prepare(
  activation: Activation,
  chat: Chat,
  asking: Asking,
): { messages: readonly ChatMessage[]; warnings: readonly Notice[] } {
  const { params, readPrompt } = asking;
  const images = new Set<string>();
  const reader = createTextReader(activation, (value) => textAndImages(value, images));
  const read = (text: string) => readPrompt(text, reader, activation);
  if (params.visual_files_var) {
    const lookup = activation.lookup(params.visual_files_var);
    if (lookup.status === 'found') collectImages(lookup.value, images);
  }
  const prompts = params.prompts.map(({ role, content }) => ({ role, content: read(content) }));
  const messages = buildMessages({
    system: systemPrompt(activation, asking, read),
    // The newest entry is the question of this turn, which the node's own prompt asks.
    history: readHistory(activation.source, params.message_history_window_size).slice(0, -1),
    prompts,
    appendix: filesText(activation, params, images),
    images: chat.supportsImages ? [...images] : [],
  });
  if (!asksSomething(messages)) throw nothingToAsk(activation.node);
  const unseen = images.size > 0 && !chat.supportsImages ? [unseenImages(images.size, params.llm_id)] : [];
  return { messages, warnings: [...chat.warnings, ...reader.warnings, ...unseen] };
}

function systemPrompt(
  { source }: Activation,
  { params, system, schema }: Asking,
  read: (text: string) => string,
): string {
  const parts = [read(system.text)];
  if (params.cite !== false && hasPassages(source)) {
    const { citation_guidelines: guidelines } = system.parts;
    parts.push(citationPrompt(guidelines === undefined ? undefined : read(guidelines)));
  }
  if (schema !== undefined) parts.push(structuredPrompt(schema));
  return parts.filter((part) => part.trim() !== '').join('\n\n');
}

/** The text of the files of this turn, unless a prompt already shows them. */
function filesText(activation: Activation, params: LlmParams, images: Set<string>): string {
  if (params.prompts.some(({ content }) => content.includes('{sys.files}'))) return '';
  const lookup = activation.source.variable('sys.files');
  if (lookup.status !== 'found' || lookup.value === null) return '';
  const files: readonly Json[] = Array.isArray(lookup.value) ? lookup.value : [lookup.value];
  return files
    .map((file) => textAndImages(file, images))
    .filter((text) => text !== '')
    .join('\n\n');
}

/** The text of a value; its images are put aside. */
function textAndImages(value: Json, images: Set<string>): string {
  const found = new Set<string>();
  collectImages(value, found);
  if (found.size === 0) return renderValue(value);
  collectImages(value, images);
  return renderValue(withoutImages(value));
}

function unseenImages(count: number, model: string): Notice {
  const what = count === 1 ? 'An image was' : `${count} images were`;
  return warning(`${what} not shown to "${model}", which is not among the configured vision models.`);
}
