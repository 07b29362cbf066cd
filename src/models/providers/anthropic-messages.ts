/** Messages in the blocks of Anthropic's Messages API. */
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../json.js';
import type {
  AssistantPart,
  ContentPart,
  FilePart,
  MediaSource,
  ToolCall,
  ToolOutputPart,
  ToolResultPart,
} from '../content-parts.js';
import { contentText } from '../content-parts.js';
import { inlineMedia } from '../media-source.js';
import type { AssistantMessage, ChatMessage, ToolMessage } from '../messages.js';
import { type PartPlace, type PlaceOf, refusePart, writeMessages } from '../refuse-request.js';

/** Types of citations that the API gives, and takes back. */
const CITATIONS: ReadonlySet<unknown> = new Set([
  'char_location',
  'page_location',
  'content_block_location',
  'search_result_location',
  'web_search_result_location',
]);

/** Of an answer without parts, what is there of them. */
const NO_PARTS: readonly AssistantPart[] = [];

/** The text of all system messages, which stand outside the conversation. */
export function systemOf(messages: readonly ChatMessage[]): string | undefined {
  const texts = messages.flatMap(({ role, content }) => (role === 'system' ? [contentText(content)] : []));
  return texts.join('\n\n') || undefined;
}

/**
 * The conversation. Messages of one role after another become one: results of several tools must stand in one message.
 *
 * Names of messages are left out, and thoughts without a signature of this API.
 * @throws EngineError `MODEL_REQUEST` for a part that the API has no block for.
 */
export function turnsOf(model: string, messages: readonly ChatMessage[]): JsonObject[] {
  const turns: Turn[] = [];
  const blocks = writeMessages(model, messages, (message, placeOf) => {
    if (message.role === 'system') return [];
    const role: Turn['role'] = message.role === 'assistant' ? 'assistant' : 'user';
    return blocksOf(message, placeOf).map((block) => ({ role, block }));
  });
  for (const { role, block } of blocks) {
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(block);
    else turns.push({ role, content: [block] });
  }
  return turns.map(({ role, content }) => ({ role, content }));
}

/** Messages of one role. */
interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: Json[];
}

/** Whether a message begins with thoughts that this API signed. */
export function beginsSigned({ parts = NO_PARTS }: AssistantMessage): boolean {
  const [first] = parts;
  return first?.type === 'reasoning' && isSigned(first);
}

/** Whether a request refers to files that are stored at the provider. */
export function refersToFiles(messages: readonly ChatMessage[]): boolean {
  return messages.some((message) => {
    if (message.role === 'tool') return hasFile(message.parts);
    if (message.role === 'assistant' || typeof message.content === 'string') return false;
    return (
      hasFile(message.content) || message.content.some((part) => part.type === 'tool-result' && hasFile(part.content))
    );
  });
}

function hasFile(parts: string | readonly (ContentPart | ToolOutputPart)[] | undefined): boolean {
  return typeof parts === 'object' && parts.some((part) => 'fileId' in part);
}

function blocksOf(message: Exclude<ChatMessage, { readonly role: 'system' }>, placeOf: PlaceOf): JsonObject[] {
  switch (message.role) {
    case 'tool':
      return [resultBlock(message, message.parts ?? message.content, placeOf)];
    case 'user':
      return partsOf(message.content).flatMap((part, at) => blockOf(part, placeOf(at)));
    case 'assistant':
      if (message.parts !== undefined) return message.parts.flatMap((part, at) => answerBlockOf(part, placeOf(at)));
      return [...textBlock(message.content), ...(message.toolCalls ?? []).map(toolUse)];
  }
}

function partsOf(content: string | readonly ContentPart[]): readonly ContentPart[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/** None for blanks, which the API refuses. */
function textBlock(text: string, citations?: readonly Json[]): JsonObject[] {
  if (text.trim() === '') return [];
  const known = (citations ?? []).filter((one) => isJsonObject(one) && CITATIONS.has(one.type));
  return [{ type: 'text', text, ...(known.length > 0 && { citations: known }) }];
}

function blockOf(part: ContentPart, place: PartPlace): JsonObject[] {
  switch (part.type) {
    case 'tool-result':
      return [resultBlock(part, part.content, () => place)];
    case 'mcp-approval':
      throw refusePart(place, 'an answer to a question of an MCP server');
    default:
      return outputBlock(part, place);
  }
}

function resultBlock(
  { toolCallId, isError }: ToolMessage | ToolResultPart,
  given: string | readonly ToolOutputPart[],
  placeOf: PlaceOf,
): JsonObject {
  const content: Json = typeof given === 'string' ? given : given.flatMap((part, at) => outputBlock(part, placeOf(at)));
  return { type: 'tool_result', tool_use_id: toolCallId, content, ...(isError === true && { is_error: true }) };
}

function outputBlock(part: ToolOutputPart, place: PartPlace): JsonObject[] {
  switch (part.type) {
    case 'text':
      return textBlock(part.text);
    case 'image_url':
    case 'image':
      return [{ type: 'image', source: imageSource(part) }];
    case 'file':
      return [documentBlock(part, place)];
    case 'tool-reference':
      return [{ type: 'tool_reference', tool_name: part.name }];
    case 'audio':
      throw refusePart(place, 'a sound');
    case 'video':
      throw refusePart(place, 'a video');
  }
}

function imageSource(source: MediaSource): JsonObject {
  const inline = inlineMedia(source);
  if (inline !== undefined) return { type: 'base64', media_type: inline.mimeType, data: inline.data };
  if ('fileId' in source) return { type: 'file', file_id: source.fileId };
  return { type: 'url', url: 'url' in source ? source.url : '' };
}

/** PDFs by any way, texts as text. */
function documentBlock(part: FilePart, place: PartPlace): JsonObject {
  const title = part.name === undefined ? {} : { title: part.name };
  const inline = inlineMedia(part);
  if (inline === undefined) {
    return { type: 'document', source: imageSource(part), ...title };
  }
  const { data, mimeType } = inline;
  if (mimeType === 'application/pdf') {
    return { type: 'document', source: { type: 'base64', media_type: mimeType, data }, ...title };
  }
  if (!mimeType.startsWith('text/')) {
    throw refusePart(place, `a file of the type "${mimeType}"`, 'Send a PDF or a text, or the text of the file.');
  }
  const text = Buffer.from(data, 'base64').toString('utf8');
  return { type: 'document', source: { type: 'text', media_type: 'text/plain', data: text }, ...title };
}

function answerBlockOf(part: AssistantPart, place: PartPlace): JsonObject[] {
  switch (part.type) {
    case 'text':
      return textBlock(part.text, part.citations);
    case 'reasoning': {
      const { text, signature = '' } = part;
      if (!isSigned(part)) return [];
      return [
        part.isRedacted === true
          ? { type: 'redacted_thinking', data: signature }
          : { type: 'thinking', thinking: text, signature },
      ];
    }
    case 'tool-call':
      return [toolUse(part)];
    case 'server-tool-call':
      if (part.extra?.item !== undefined) throw foreign(place, part.type);
      return [
        { ...callerOf(part.extra), type: 'server_tool_use', id: part.id, name: part.name, input: part.arguments },
      ];
    case 'server-tool-result':
      if (part.extra?.item !== undefined) throw foreign(place, part.type);
      return [
        { ...callerOf(part.extra), type: `${part.name}_tool_result`, tool_use_id: part.callId, content: part.content },
      ];
    case 'mcp-call':
      return [
        {
          type: 'mcp_tool_use',
          id: part.id,
          name: part.name,
          server_name: part.server,
          input: inputOf(part.arguments),
        },
      ];
    case 'mcp-result':
      return [
        {
          type: 'mcp_tool_result',
          tool_use_id: part.callId,
          is_error: part.error !== undefined,
          content: part.error ?? part.content,
        },
      ];
    default:
      throw refusePart(place, `a part of the type "${part.type}" in an answer`);
  }
}

function foreign(place: PartPlace, type: string): Error {
  return refusePart(place, `a part of the type "${type}" of another provider`);
}

/** Signed by this API; signatures of OpenAI's come with ids. */
function isSigned(part: AssistantPart & { readonly type: 'reasoning' }): boolean {
  return part.signature !== undefined && part.id === undefined && part.extra === undefined;
}

function toolUse({ id, name, arguments: text, extra }: ToolCall): JsonObject {
  return { ...callerOf(extra), type: 'tool_use', id, name, input: inputOf(text) };
}

function inputOf(text: string): JsonObject {
  const input = parseJson(text);
  return isJsonObject(input) ? input : {};
}

/** Which code of the model made the call; wanted back with it. */
function callerOf(extra: JsonObject | undefined): JsonObject {
  return extra?.caller === undefined ? {} : { caller: extra.caller };
}
