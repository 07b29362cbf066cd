/** How large messages are, and what they say in plain text. */
import type { AssistantPart, ContentPart, ToolOutputPart } from '../../models/content-parts.js';
import { estimateTokens } from '../../models/estimate-tokens.js';
import type { ChatMessage } from '../../models/messages.js';
import { callsOf, resultIdsOf } from './patch-tool-calls.js';

/** Tokens that a picture, a sound or a file counts as: what most models take for one, and never its base64. */
const MEDIA_TOKENS = 1_000;
/** Tokens of the frame of a message. */
const FRAME_TOKENS = 4;

/** About how many tokens a message is. */
export function messageTokens(message: ChatMessage): number {
  const calls = message.role === 'assistant' ? callsOf(message) : [];
  const media = partsIn(message).filter(isMedia).length * MEDIA_TOKENS;
  const asked = calls.reduce((sum, { name, arguments: args }) => sum + estimateTokens(name) + estimateTokens(args), 0);
  return FRAME_TOKENS + estimateTokens(messageText(message)) + asked + media;
}

/** About how many tokens a conversation is. */
export function conversationTokens(
  messages: readonly ChatMessage[],
  countTokens: (message: ChatMessage) => number = messageTokens,
): number {
  return messages.reduce((sum, message) => sum + countTokens(message), 0);
}

/** What a message says, without its calls; what is no text is named. */
export function messageText(message: ChatMessage): string {
  if (typeof message.content === 'string' && !(message.role === 'tool' && message.parts)) return message.content;
  return partsIn(message).map(partText).join('\n');
}

/** Whether a message has results of calls, so that it cannot stand without the message before it. */
export function hasResults(message: ChatMessage): boolean {
  return message.role === 'tool' || resultIdsOf(message).size > 0;
}

type AnyPart = ContentPart | ToolOutputPart | AssistantPart;

function partsIn(message: ChatMessage): readonly AnyPart[] {
  if (typeof message.content !== 'string') return message.content;
  return message.role === 'tool' || message.role === 'assistant' ? (message.parts ?? []) : [];
}

function isMedia({ type }: AnyPart): boolean {
  return ['image', 'image_url', 'audio', 'video', 'file'].includes(type);
}

function partText(part: AnyPart): string {
  if (part.type === 'text') return part.text;
  if (part.type !== 'tool-result') return `[${part.type}]`;
  return typeof part.content === 'string' ? part.content : part.content.map(partText).join('\n');
}
