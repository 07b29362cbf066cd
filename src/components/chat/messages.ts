import type { ChatMessage, ContentPart } from '../../models/chat-model.js';
import type { Turn } from './history.js';

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
  /** Text put behind the last user message. */
  readonly appendix?: string;
  /** Shown with the last user message, as data URLs. */
  readonly images?: readonly string[];
}

/**
 * Puts a request's messages in order: system, history, prompts. A first prompt of the role that spoke last in the history
 * stands in for that entry, because models expect the roles to take turns.
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
export function asksSomething(messages: readonly ChatMessage[]): boolean {
  const last = messages.at(-1);
  if (last?.role !== 'user') return false;
  return typeof last.content === 'string' ? last.content.trim() !== '' : last.content.length > 0;
}

function joinTexts(text: string, appendix: string): string {
  return [text, appendix].filter((part) => part !== '').join('\n\n');
}

function withImages(text: string, images: readonly string[]): ChatMessage {
  const shown = images.map((url): ContentPart => ({ type: 'image_url', url }));
  return { role: 'user', content: text.trim() === '' ? shown : [{ type: 'text', text }, ...shown] };
}
