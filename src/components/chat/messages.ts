/** From a node's prompts to the messages that a model sees. */
import type { CallContext } from '../../agents/call-context.js';
import { renderValue } from '../../dsl/render-value.js';
import { foundValue, readText, type ValueSource } from '../../dsl/resolve.js';
import { EngineError } from '../../errors.js';
import { type Notice, warning } from '../../graph/node-events.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { ChatMessage, ContentPart } from '../../models/chat-model.js';
import { citationPrompt, structuredPrompt } from '../prompts.js';
import { removeThinking } from '../speaking/think-text.js';
import { createTextReader, type TextReader } from '../values/text-reader.js';
import type { LlmParams, NodeChat } from './params.js';
import { hasPassages } from './retrieval.js';

/** Reads one prompt of a node, its references replaced by their values. */
export type ReadPrompt = (text: string, reader: TextReader, context: CallContext) => string;

/** What a node sends to its model. */
export interface Prompting {
  readonly params: LlmParams;
  /** The system prompt, its tags cut out. */
  readonly system: TaggedPrompt;
  /** The answer must be an object of it. */
  readonly schema?: JsonObject | undefined;
  /** @default renders templates when the document names their language, otherwise replaces references */
  readonly readPrompt?: ReadPrompt;
  /** Passages to cite may be found while the model works. @default false */
  readonly mayFindPassages?: boolean;
  /** The only thing to ask, in place of the prompts of the document. */
  readonly task?: string;
}

/**
 * The messages of a node's first request: system prompt, history, prompts, images; and warnings about them.
 *
 * @throws EngineError NODE_FAILED when there is no question.
 */
export function prepareMessages(
  context: CallContext,
  chat: NodeChat,
  prompting: Prompting,
): { messages: readonly ChatMessage[]; warnings: readonly Notice[] } {
  const { params, readPrompt = promptReader(params), task } = prompting;
  const images = new Set<string>();
  const reader = createTextReader(context, (value) => textAndImages(value, images));
  const read = (text: string) => readPrompt(text, reader, context);
  collectImages(foundValue(readText(params.visual_files_var ?? '', context.source)), images);
  const prompts =
    task === undefined
      ? params.prompts.map(({ role, content }) => ({ role, content: read(content) }))
      : [{ role: 'user' as const, content: task }];
  const messages = buildMessages({
    system: systemPrompt(context, prompting, read),
    // The newest entry is the question of this turn, which the node's own prompt asks.
    history: readHistory(context.source, params.message_history_window_size).slice(0, -1),
    prompts,
    appendix: filesText(context, params, images),
    images: chat.supportsImages ? [...images] : [],
  });
  if (!asksSomething(messages)) throw nothingToAsk(context);
  const unseen = images.size > 0 && !chat.supportsImages ? [unseenImages(images.size, params.llm_id)] : [];
  return { messages, warnings: [...chat.warnings, ...reader.warnings, ...unseen] };
}

function promptReader({ template_engine: engine }: LlmParams): ReadPrompt {
  return (text, reader) => (engine ? reader.render(text, engine) : reader.read(text));
}

function systemPrompt(
  { source }: CallContext,
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
function filesText(context: CallContext, params: LlmParams, images: Set<string>): string {
  const written = [params.sys_prompt ?? '', ...params.prompts.map(({ content }) => content)];
  if (written.some((text) => text.includes('{sys.files}'))) return '';
  const given = foundValue(context.source.variable('sys.files'));
  const files: readonly Json[] = Array.isArray(given) ? given : [given];
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

/** A prompt of a node, its references already read. */
export interface Prompt {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** Everything that goes into one request. */
export interface MessageParts {
  /** Left out when empty. */
  readonly system: string;
  /** Earlier turns, without the current question. */
  readonly history: readonly Turn[];
  readonly prompts: readonly Prompt[];
  /** Text appended to the last user message. */
  readonly appendix?: string;
  /** Shown with the last user message, as data URLs. */
  readonly images?: readonly string[];
}

/**
 * Puts a request's messages in order: system, history, prompts. A first prompt of the role that spoke last in the history
 * replaces that entry, because models expect the roles to alternate.
 */
export function buildMessages(parts: MessageParts): ChatMessage[] {
  const { system, history, prompts, appendix = '', images = [] } = parts;
  const earlier = history.at(-1)?.role === prompts[0]?.role ? history.slice(0, -1) : history;
  const talk: Prompt[] = [...earlier, ...prompts];
  if (appendix !== '' || images.length > 0) {
    const at = talk.findLastIndex(({ role }) => role === 'user');
    if (at === -1) talk.push({ role: 'user', content: appendix });
    else talk[at] = { role: 'user', content: joinTexts(talk[at]?.content ?? '', appendix) };
  }
  const last = talk.findLastIndex(({ role }) => role === 'user');
  const messages = talk.map((prompt, index): ChatMessage => {
    return index === last && images.length > 0 ? withImages(prompt.content, images) : prompt;
  });
  return system.trim() === '' ? messages : [{ role: 'system', content: system }, ...messages];
}

/** Whether a model has something to answer: the last message is a user's and holds text or images. */
function asksSomething(messages: readonly ChatMessage[]): boolean {
  const last = messages.at(-1);
  if (last?.role !== 'user') return false;
  return typeof last.content === 'string' ? last.content.trim() !== '' : last.content.length > 0;
}

/** The error of a node whose prompts leave nothing to ask. */
export function nothingToAsk({ node, source }: Pick<CallContext, 'node' | 'source'>): EngineError {
  const isSilent = renderValue(foundValue(source.variable('sys.query'))).trim() === '';
  const advice = isSilent
    ? 'The turn came without a `query`; pass one, or give the node a user prompt with text.'
    : 'Give it a user prompt with text.';
  return new EngineError(
    'NODE_FAILED',
    `Node "${node}" has nothing to ask: its last message is not a user's or is empty. ${advice}`,
    { node },
  );
}

function joinTexts(text: string, appendix: string): string {
  return [text, appendix].filter((part) => part !== '').join('\n\n');
}

function withImages(text: string, images: readonly string[]): ChatMessage {
  const shown = images.map((url): ContentPart => ({ type: 'image_url', url }));
  return { role: 'user', content: text.trim() === '' ? shown : [{ type: 'text', text }, ...shown] };
}

/** One entry of a conversation as a model sees it. */
export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/**
 * The newest `2 * window` entries of the variable `history`, the current question included, oldest first.
 *
 * An entry is `[role, payload]`; an object counts by its `content`. What an assistant thought is left out. A window of 0
 * gives none.
 */
export function readHistory(source: ValueSource, window: number): Turn[] {
  const history = foundValue(source.variable('history'));
  if (window <= 0 || !Array.isArray(history)) return [];
  const entries: readonly Json[] = history.slice(-2 * window);
  return entries.flatMap((entry) => (Array.isArray(entry) ? [turnOf(entry[0], entry[1])] : []));
}

function turnOf(role: Json | undefined, payload: Json | undefined): Turn {
  const value = isJsonObject(payload) ? payload.content : payload;
  const content = renderValue(value);
  return role === 'assistant' ? { role, content: removeThinking(content) } : { role: 'user', content };
}

/** A system prompt whose tagged parts were cut out. */
export interface TaggedPrompt {
  readonly text: string;
  /** What stood between tags such as `<CITATION_GUIDELINES>`, trimmed, by tag in lower case; the first of each counts. */
  readonly parts: Readonly<Record<string, string>>;
}

/** Tags around parts of a system prompt that are meant for prompts of our own. */
const MARK = /<(\/?)(TASK_ANALYSIS|PLAN_GENERATION|REFLECTION|CONTEXT_SUMMARY|CONTEXT_RANKING|CITATION_GUIDELINES)>/gi;

/** Cuts the tagged parts out of a system prompt. A tag that is not closed stays where it is. */
export function cutPromptTags(prompt: string): TaggedPrompt {
  const parts: Record<string, string> = {};
  let text = '';
  let from = 0;
  let open: { readonly tag: string; readonly start: number; readonly end: number } | undefined;
  for (const mark of prompt.matchAll(MARK)) {
    const tag = (mark[2] as string).toLowerCase();
    const end = mark.index + mark[0].length;
    if (mark[1] === '') {
      // An opening mark inside another part is text of that part.
      open ??= { tag, start: mark.index, end };
    } else if (open?.tag === tag) {
      parts[tag] ??= prompt.slice(open.end, mark.index).trim();
      text += prompt.slice(from, open.start);
      from = end;
      open = undefined;
    }
  }
  return { text: text + prompt.slice(from), parts };
}

const PREFIX = 'data:image/';

/** Deepest nesting that is searched. */
const MAX_DEPTH = 64;

/** Images that a model is shown with one request; more only cost. */
const MAX_IMAGES = 64;

/**
 * Gathers the images (`data:image/…`) in a value, each once and in order, at any depth.
 *
 * Of an object with a `content` only that is searched. At most 64 are collected.
 */
export function collectImages(value: Json | undefined, into: Set<string>, depth = 0): void {
  if (typeof value === 'string') {
    if (isImage(value) && into.size < MAX_IMAGES) into.add(value);
    return;
  }
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return;
  if (Array.isArray(value)) for (const item of value) collectImages(item, into, depth + 1);
  else if (isJsonObject(value) && Object.hasOwn(value, 'content')) collectImages(value.content, into, depth + 1);
  else for (const item of Object.values(value)) collectImages(item, into, depth + 1);
}

/** A value without its images, for texts; lists and objects that held nothing else disappear with them. */
export function withoutImages(value: Json): Json {
  return strip(value, 0) ?? null;
}

function strip(value: Json, depth: number): Json | undefined {
  if (typeof value === 'string') return isImage(value) ? undefined : value;
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return value;
  if (isJsonObject(value)) return stripObject(value, depth);
  const left = value.map((item) => strip(item, depth + 1)).filter((rest) => rest !== undefined);
  return left.length === 0 && value.length > 0 ? undefined : left;
}

function stripObject(object: JsonObject, depth: number): Json | undefined {
  const entries = Object.entries(object);
  const left = entries.flatMap(([key, item]): [string, Json][] => {
    const rest = strip(item, depth + 1);
    return rest === undefined ? [] : [[key, rest]];
  });
  // Of a part of a message in the form of a request only `type: image_url` is left: it is empty.
  const isEmptied = left.length === 0 || (left.length === 1 && left[0]?.[0] === 'type');
  return isEmptied && left.length < entries.length ? undefined : Object.fromEntries(left);
}

function isImage(text: string): boolean {
  return text.startsWith(PREFIX);
}
