import { requireWhole } from '../operators/invalid-option.js';
import { type ChatMessage, type ContentPart, contentText } from './chat-model.js';
import { cutToTokens, estimateTokens } from './estimate-tokens.js';

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
  /** Images sent at most, the newest; they do not count as tokens. @default 16 */
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
    if (message.role === 'tool' && block !== undefined && block[0]?.role === 'assistant') block.push(message);
    else blocks.push([message]);
  }
  return blocks;
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

/** Shortens a message's text; tool calls and images stay whole. */
function cut(message: ChatMessage, tokens: number): ChatMessage {
  if (typeof message.content === 'string') {
    return { ...message, content: cutToTokens(message.content, tokens) } as ChatMessage;
  }
  let left = tokens;
  const parts = message.content.map((part): ContentPart => {
    if (part.type !== 'text') return part;
    const text = cutToTokens(part.text, Math.max(0, left));
    left -= estimateTokens(text);
    return { type: 'text', text };
  });
  return { ...message, content: parts } as ChatMessage;
}

function tokensOf(messages: readonly ChatMessage[]): number {
  return messages.reduce((tokens, message) => {
    const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
    const callTokens = calls.reduce((sum, call) => sum + estimateTokens(call.name) + estimateTokens(call.arguments), 0);
    return tokens + estimateTokens(contentText(message.content)) + callTokens;
  }, 0);
}

/** Drops the oldest images beyond the limit. */
function limitImages(messages: readonly ChatMessage[], maxImages: number): readonly ChatMessage[] {
  const parts = messages.flatMap(({ content }): readonly ContentPart[] => (typeof content === 'string' ? [] : content));
  let excess = parts.filter(({ type }) => type === 'image_url').length - maxImages;
  if (excess <= 0) return messages;
  return messages.map((message) => {
    if (excess <= 0 || typeof message.content === 'string') return message;
    const content = message.content.filter((part) => {
      if (part.type !== 'image_url' || excess <= 0) return true;
      excess -= 1;
      return false;
    });
    return { ...message, content } as ChatMessage;
  });
}
