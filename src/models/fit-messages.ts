import { requireWhole } from '../operators/invalid-option.js';
import { type AssistantPart, type ContentPart, contentText, type ToolOutputPart } from './content-parts.js';
import { cutToTokens, estimateTokens } from './estimate-tokens.js';
import type { ChatMessage } from './messages.js';

/** Tokens of a context of unknown size; RAGFlow's default. */
const DEFAULT_CONTEXT = 8_192;

/** Share of the context that messages may fill; the rest is the estimate's error. */
const USABLE_SHARE = 0.97;

/** Above this share of the tokens, the system messages give way and not the last message. */
const SYSTEM_SHARE = 0.8;

/** What messages must fit into. */
export interface FitOptions {
  /** Tokens the model reads at most. @default 8192 */
  readonly contextLength?: number | undefined;
  /** Images of questions and results sent at most, the newest; like sounds, videos and files they do not count as tokens. @default 16 */
  readonly maxImages?: number | undefined;
}

/**
 * Leaves out or shortens messages until they fit into a model's context; what fits is returned as it is.
 *
 * System messages and the newest message always stay; of the others as many as fit, newest first, a model's tool calls together
 * with their results. When not even those two fit, the longer side is cut at its end: the system messages when they are more than
 * four fifths, else the newest message.
 *
 * @throws EngineError `OPTION_INVALID` for a length that is not a whole number of at least 1, or a negative number of images.
 */
export function fitMessages(messages: readonly ChatMessage[], options: FitOptions = {}): readonly ChatMessage[] {
  const { contextLength = DEFAULT_CONTEXT, maxImages = 16 } = options;
  requireWhole('fitMessages', 'contextLength', contextLength, 1);
  requireWhole('fitMessages', 'maxImages', maxImages, 0);
  const budget = Math.floor(contextLength * USABLE_SHARE);
  const limited = limitImages(messages, maxImages);
  if (tokensOf(limited) <= budget) return limited;
  const system = limited.filter((message) => message.role === 'system');
  const blocks = blocksOf(limited.filter((message) => message.role !== 'system'));
  const newest = blocks.pop() ?? [];
  const spare = budget - tokensOf(system) - tokensOf(newest);
  if (spare < 0) return cutBoth(system, newest, budget);
  return [...system, ...newestThatFit(blocks, spare), ...newest];
}

/** Messages that only make sense together: tool calls with their results, everything else alone. */
function blocksOf(messages: readonly ChatMessage[]): ChatMessage[][] {
  const blocks: ChatMessage[][] = [];
  for (const message of messages) {
    const block = blocks.at(-1);
    if (isResult(message) && block !== undefined && block[0]?.role === 'assistant') block.push(message);
    else blocks.push([message]);
  }
  return blocks;
}

/** Whether a message has results of tools. */
function isResult(message: ChatMessage): boolean {
  if (message.role === 'tool') return true;
  return message.role === 'user' && partsOf(message).some(({ type }) => type === 'tool-result');
}

/** The unbroken row of newest blocks that fits: a gap in a conversation misleads more than a missing beginning. */
function newestThatFit(blocks: readonly (readonly ChatMessage[])[], tokens: number): ChatMessage[] {
  let left = tokens;
  let from = blocks.length;
  while (from > 0) {
    left -= tokensOf(blocks[from - 1] ?? []);
    if (left < 0) break;
    from -= 1;
  }
  return blocks.slice(from).flat();
}

function cutBoth(system: readonly ChatMessage[], newest: readonly ChatMessage[], budget: number): ChatMessage[] {
  const systemTokens = tokensOf(system);
  const newestTokens = tokensOf(newest);
  if (systemTokens > SYSTEM_SHARE * (systemTokens + newestTokens)) {
    const fitted = cutAll(newest, budget);
    return [...cutAll(system, budget - tokensOf(fitted)), ...fitted];
  }
  const fitted = cutAll(system, budget);
  return [...fitted, ...cutAll(newest, budget - tokensOf(fitted))];
}

/** Cuts messages to a number of tokens, each by the share it has of them. */
function cutAll(messages: readonly ChatMessage[], budget: number): ChatMessage[] {
  const total = tokensOf(messages);
  if (total <= budget) return [...messages];
  return messages.map((message) => cut(message, Math.floor((budget * tokensOf([message])) / total)));
}

/** Shortens a message's text; tool calls, signed thoughts and images stay whole. */
function cut(message: ChatMessage, tokens: number): ChatMessage {
  const parts = partsOf(message);
  const { content } = message;
  const text = typeof content === 'string' ? cutToTokens(content, tokens) : cutParts(content, tokens);
  if (parts.length === 0 || typeof content !== 'string') return { ...message, content: text } as ChatMessage;
  return { ...message, content: text, parts: cutParts(parts, tokens) } as ChatMessage;
}

function cutParts(parts: readonly AnyPart[], tokens: number): AnyPart[] {
  let left = tokens;
  return parts.map((part): AnyPart => {
    if (part.type === 'tool-result' && typeof part.content === 'string') {
      const content = cutToTokens(part.content, Math.max(0, left));
      left -= estimateTokens(content);
      return { ...part, content };
    }
    if (part.type !== 'text') return part;
    const text = cutToTokens(part.text, Math.max(0, left));
    left -= estimateTokens(text);
    return { ...part, text };
  });
}

type AnyPart = ContentPart | AssistantPart | ToolOutputPart;

/** The parts of a message that are sent in place of its text; none of one that is only text. */
function partsOf(message: ChatMessage): readonly AnyPart[] {
  if (message.role === 'assistant' || message.role === 'tool') return message.parts ?? [];
  return typeof message.content === 'string' ? [] : message.content;
}

function tokensOf(messages: readonly ChatMessage[]): number {
  return messages.reduce((tokens, message) => tokens + messageTokens(message), 0);
}

/** About how many tokens a message is, images, sounds and files not counted. */
export function messageTokens(message: ChatMessage): number {
  const parts = partsOf(message);
  if (parts.length > 0) {
    const texts = parts.filter((part) => part.type === 'text');
    const others = parts.filter(({ type }) => type !== 'text');
    return estimateTokens(contentText(texts)) + others.reduce((sum, part) => sum + partTokens(part), 0);
  }
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  const callTokens = calls.reduce((sum, call) => sum + estimateTokens(call.name) + estimateTokens(call.arguments), 0);
  return callTokens + (typeof message.content === 'string' ? estimateTokens(message.content) : 0);
}

/** Of what a provider did itself as many as its JSON; of bytes none. */
function partTokens(part: AnyPart): number {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return estimateTokens(part.text);
    case 'tool-call':
      return estimateTokens(part.name) + estimateTokens(part.arguments);
    case 'tool-result':
      if (typeof part.content === 'string') return estimateTokens(part.content);
      return part.content.reduce((sum, one) => sum + partTokens(one), 0);
    case 'image_url':
    case 'image':
    case 'audio':
    case 'video':
    case 'file':
      return 0;
    default: {
      const { extra: _, ...said } = part;
      return estimateTokens(JSON.stringify(said));
    }
  }
}

/** Drops the oldest images of questions and results beyond the limit. */
function limitImages(messages: readonly ChatMessage[], maxImages: number): readonly ChatMessage[] {
  const shown = messages.filter(({ role }) => role !== 'assistant').flatMap(partsOf);
  let excess = shown.filter(isImage).length - maxImages;
  if (excess <= 0) return messages;
  return messages.map((message) => {
    const parts = message.role === 'assistant' ? [] : partsOf(message);
    if (excess <= 0 || parts.length === 0) return message;
    const kept = parts.filter((part) => {
      if (!isImage(part) || excess <= 0) return true;
      excess -= 1;
      return false;
    });
    return { ...message, ...(message.role === 'tool' ? { parts: kept } : { content: kept }) } as ChatMessage;
  });
}

function isImage({ type }: AnyPart): boolean {
  return type === 'image_url' || type === 'image';
}
