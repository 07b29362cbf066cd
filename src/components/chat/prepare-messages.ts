/** From a node's prompts to the messages that a model sees. */
import { renderValue } from '../../dsl/render-value.js';
import type { Activation } from '../../graph/component.js';
import { type Notice, warning } from '../../graph/node-events.js';
import type { Json, JsonObject } from '../../json.js';
import type { ChatMessage } from '../../models/chat-model.js';
import { citationPrompt } from '../prompts/citation.js';
import { structuredPrompt } from '../prompts/structured.js';
import { createTextReader, type TextReader } from '../values/text-reader.js';
import { readHistory } from './history.js';
import { collectImages, withoutImages } from './images.js';
import type { LlmParams } from './llm-params.js';
import { asksSomething, buildMessages } from './messages.js';
import { type Chat, nothingToAsk } from './open-chat.js';
import type { TaggedPrompt } from './prompt-tags.js';
import { hasPassages } from './retrieval.js';

/** Reads one prompt of a node, its references replaced by their values. */
export type ReadPrompt = (text: string, reader: TextReader, activation: Activation) => string;

/** What a node says to its model. */
export interface Prompting {
  readonly params: LlmParams;
  /** The system prompt, its tags cut out. */
  readonly system: TaggedPrompt;
  /** The answer must be an object of it. */
  readonly schema?: JsonObject | undefined;
  /** @default replaces references */
  readonly readPrompt?: ReadPrompt;
  /** Passages to cite may be found while the model works. @default false */
  readonly mayFindPassages?: boolean;
  /** The only thing to ask, in place of the prompts of the document. */
  readonly task?: string;
}

/**
 * The messages of a node's first request: system prompt, history, prompts, images; and what those who watch should know.
 *
 * @throws EngineError NODE_FAILED when nothing is asked.
 */
export function prepareMessages(
  activation: Activation,
  chat: Chat,
  prompting: Prompting,
): { messages: readonly ChatMessage[]; warnings: readonly Notice[] } {
  const { params, readPrompt = (text, from) => from.read(text), task } = prompting;
  const images = new Set<string>();
  const reader = createTextReader(activation, (value) => textAndImages(value, images));
  const read = (text: string) => readPrompt(text, reader, activation);
  if (params.visual_files_var) {
    const lookup = activation.lookup(params.visual_files_var);
    if (lookup.status === 'found') collectImages(lookup.value, images);
  }
  const prompts =
    task === undefined
      ? params.prompts.map(({ role, content }) => ({ role, content: read(content) }))
      : [{ role: 'user' as const, content: task }];
  const messages = buildMessages({
    system: systemPrompt(activation, prompting, read),
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
  { params, system, schema, mayFindPassages = false }: Prompting,
  read: (text: string) => string,
): string {
  const parts = [read(system.text)];
  if (params.cite !== false && (mayFindPassages || hasPassages(source))) {
    const { citation_guidelines: guidelines } = system.parts;
    parts.push(citationPrompt(guidelines === undefined ? undefined : read(guidelines)));
  }
  if (schema !== undefined) parts.push(structuredPrompt(schema));
  return parts.filter((part) => part.trim() !== '').join('\n\n');
}

/** The text of the files of this turn, unless a prompt already shows them. */
function filesText(activation: Activation, params: LlmParams, images: Set<string>): string {
  const written = [params.sys_prompt ?? '', ...params.prompts.map(({ content }) => content)];
  if (written.some((text) => text.includes('{sys.files}'))) return '';
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
