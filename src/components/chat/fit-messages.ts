import { type ChatMessage, contentText } from '../../models/chat-model.js';

/** Share of a model's context that a request may fill; the rest is for its answer and the provider's own marks. */
const USABLE = 0.97;

/**
 * Makes a request fit into a model's context of `contextLength` tokens, or leaves it alone when nobody said how long that is.
 *
 * System messages and the last message always stay; earlier messages go, oldest first. When those that stay are too long, the
 * longer side is cut: the last message when the system prompts take at most four fifths, else the system prompts.
 * Tokens are estimated, see {@link estimateTokens}. The rule is that of RAGFlow's `message_fit_in`, which keeps no earlier message.
 */
export function fitMessages(
  messages: readonly ChatMessage[],
  contextLength: number | undefined,
): readonly ChatMessage[] {
  if (contextLength === undefined) return messages;
  const budget = Math.floor(contextLength * USABLE);
  const sizes = messages.map((message) => estimateTokens(contentText(message.content)));
  const total = sum(sizes);
  if (total <= budget) return messages;

  const lastIndex = messages.length - 1;
  const isFixed = (index: number) => index === lastIndex || messages[index]?.role === 'system';
  const systemSize = sum(sizes.filter((_, index) => index !== lastIndex && isFixed(index)));
  const lastSize = sizes[lastIndex] ?? 0;
  let room = budget - systemSize - lastSize;
  if (room < 0)
    return cutToFit(
      messages.filter((_, index) => isFixed(index)),
      { budget, systemSize, lastSize },
    );

  let isFull = false;
  const kept = new Set<number>();
  for (let index = lastIndex; index >= 0; index -= 1) {
    if (isFixed(index)) kept.add(index);
    else if (!isFull) {
      room -= sizes[index] ?? 0;
      isFull = room < 0;
      if (!isFull) kept.add(index);
    }
  }
  return messages.filter((_, index) => kept.has(index));
}

/** Tokens of a text, estimated: four characters each in ASCII, one each elsewhere. Errs on the high side for most tokenizers. */
export function estimateTokens(text: string): number {
  let quarters = 0;
  for (let at = 0; at < text.length; at += 1) quarters += text.charCodeAt(at) < 128 ? 1 : 4;
  return Math.ceil(quarters / 4);
}

function cutToFit(
  messages: readonly ChatMessage[],
  { budget, systemSize, lastSize }: { budget: number; systemSize: number; lastSize: number },
): readonly ChatMessage[] {
  const cutsSystem = systemSize / (systemSize + lastSize) > 0.8;
  const kept = Math.min(budget, cutsSystem ? lastSize : systemSize);
  let systemRoom = cutsSystem ? budget - kept : kept;
  const lastRoom = budget - systemRoom;
  return messages.map((message, index) => {
    if (index === messages.length - 1) return cut(message, lastRoom);
    const short = cut(message, systemRoom);
    systemRoom -= estimateTokens(contentText(short.content));
    return short;
  });
}

function cut(message: ChatMessage, tokens: number): ChatMessage {
  const { content } = message;
  if (typeof content === 'string') return { ...message, content: firstTokens(content, tokens) } as ChatMessage;
  const parts = content.map((part) =>
    part.type === 'text' ? { ...part, text: firstTokens(part.text, tokens) } : part,
  );
  return { ...message, content: parts } as ChatMessage;
}

/** The beginning of a text, never ending inside of a surrogate pair. */
function firstTokens(text: string, tokens: number): string {
  let quarters = tokens * 4;
  let at = 0;
  while (at < text.length) {
    const code = text.codePointAt(at) as number;
    const units = code > 0xffff ? 2 : 1;
    quarters -= code < 128 ? 1 : 4 * units;
    if (quarters < 0) break;
    at += units;
  }
  return text.slice(0, at);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, next) => total + next, 0);
}
