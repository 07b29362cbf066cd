/** What a model is asked, as the log of a run tells it: bounded, and nothing but texts and names. */
import { type JsonObject, utf8Length } from '../json.js';
import { type ChatMessage, type ChatRequest, contentText } from '../models/chat-model.js';

/** Names of tools that are told. */
const MAX_TOOLS = 100;

/**
 * The messages of a request and the names of its tools, in about `maxBytes` of text: the instructions first, then the newest messages. Pictures
 * and other parts are left out, and so is everything that is not said to the model, such as headers.
 */
export function askedOf({ messages, tools = [] }: ChatRequest, maxBytes: number): JsonObject | undefined {
  if (maxBytes <= 0) return undefined;
  const told = new Map<number, JsonObject>();
  let room = maxBytes;
  // An answer must have room beside long instructions.
  const tell = (at: number, most: number): void => {
    const text = contentText(messages[at]?.content ?? '');
    const content = beginning(text, most);
    room -= utf8Length(content);
    told.set(at, {
      ...nameOf(messages[at] as ChatMessage),
      content,
      ...(content.length < text.length && { isCut: true }),
    });
  };
  if (messages[0]?.role === 'system') tell(0, Math.ceil(maxBytes / 2));
  for (let at = messages.length - 1; at >= 0 && room > 0; at -= 1) if (!told.has(at)) tell(at, room);
  const omitted = messages.length - told.size;
  return {
    messages: [...told].sort(([one], [other]) => one - other).map(([, message]) => message),
    ...(omitted > 0 && { omitted }),
    ...(tools.length > 0 && { tools: tools.slice(0, MAX_TOOLS).map(({ name }) => name) }),
  };
}

function nameOf(message: ChatMessage): JsonObject {
  const { role } = message;
  const calls = role === 'assistant' ? (message.toolCalls ?? []) : [];
  return { role, ...(calls.length > 0 && { calls: calls.slice(0, MAX_TOOLS).map(({ name }) => name) }) };
}

/** As much of a text as fits into the bytes. */
function beginning(text: string, maxBytes: number): string {
  if (text.length <= maxBytes && utf8Length(text) <= maxBytes) return text;
  // The last character may be a part of one.
  return Buffer.from(text.slice(0, maxBytes))
    .subarray(0, maxBytes)
    .toString()
    .replace(/\uFFFD$/, '');
}
