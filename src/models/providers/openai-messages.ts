/** Messages in the words of OpenAI's chat completions, with the words that other servers have added. */
import { isJsonObject, type JsonObject } from '../../json.js';
import type { AssistantPart, ContentPart, MediaSource, ToolCall, ToolOutputPart } from '../content-parts.js';
import { translated } from '../frame-values.js';
import { dataUrl, inlineMedia, mediaUrl } from '../media-source.js';
import type { AssistantMessage, ChatMessage, ToolMessage, UserMessage } from '../messages.js';
import { type PartPlace, type PlaceOf, refusePart, writeMessages } from '../refuse-request.js';

/** Formats of sound, where their word is not that of the type. */
const SOUND_FORMATS: Readonly<Record<string, string>> = {
  'audio/mpeg': 'mp3',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/vnd.wave': 'wav',
  'audio/x-m4a': 'm4a',
  'audio/mp4': 'm4a',
};

/** Characters that names may not have. */
const NOT_IN_NAMES = /[\s<|\\/>]+/g;

/** Characters of a name that OpenAI takes. */
const MAX_NAME = 64;

/**
 * The messages of a request. A message of a user with results of tools becomes several: the results, then the rest.
 *
 * Thoughts go back where their server wants them: as OpenRouter's `reasoning_details`, and beside tool calls as `reasoning_content`. Others are left out.
 * @throws EngineError `MODEL_REQUEST` for a part that the API has no place for.
 */
export function chatMessages(model: string, messages: readonly ChatMessage[]): JsonObject[] {
  return writeMessages(model, messages, messagesOf);
}

function messagesOf(message: ChatMessage, placeOf: PlaceOf): JsonObject[] {
  switch (message.role) {
    case 'assistant':
      return [{ role: 'assistant', ...nameOf(message.name), ...answer(message, placeOf) }];
    case 'tool':
      return [toolResult(message, placeOf)];
    case 'system':
    case 'user':
      return question(message, placeOf);
  }
}

function nameOf(name: string | undefined): { readonly name?: string } {
  const clean = name?.trim().replace(NOT_IN_NAMES, '_').slice(0, MAX_NAME);
  return clean ? { name: clean } : {};
}

function question(
  from: Pick<UserMessage, 'content' | 'name'> & { readonly role: string },
  placeOf: PlaceOf,
): JsonObject[] {
  const { role, content, name } = from;
  if (typeof content === 'string') return [{ role, ...nameOf(name), content }];
  const results: JsonObject[] = [];
  const parts: JsonObject[] = [];
  content.forEach((part, at) => {
    if (part.type !== 'tool-result') parts.push(questionPart(part, placeOf(at)));
    else
      results.push({
        role: 'tool',
        tool_call_id: part.toolCallId,
        content: outputText(part.content, () => placeOf(at)),
      });
  });
  return parts.length === 0 && results.length > 0 ? results : [...results, { role, ...nameOf(name), content: parts }];
}

function questionPart(part: Exclude<ContentPart, { readonly type: 'tool-result' }>, place: PartPlace): JsonObject {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image_url':
      return { type: 'image_url', image_url: { url: part.url } };
    case 'image': {
      const url = urlOf(part, place, 'an image');
      return { type: 'image_url', image_url: { url, ...(part.detail && { detail: part.detail }) } };
    }
    case 'audio': {
      const inline = inlineMedia(part);
      if (inline === undefined) return { type: 'audio_url', audio_url: { url: urlOf(part, place, 'a sound') } };
      return { type: 'input_audio', input_audio: { data: inline.data, format: soundFormat(inline.mimeType) } };
    }
    case 'video':
      return { type: 'video_url', video_url: { url: urlOf(part, place, 'a video') } };
    case 'file':
      return { type: 'file', file: file(part, place) };
    case 'mcp-approval':
      throw refusePart(place, 'an answer to a question of an MCP server');
  }
}

function urlOf(source: MediaSource, place: PartPlace, what: string): string {
  const url = mediaUrl(source);
  if (url === undefined) throw refusePart(place, `${what} by the id of a file`, 'Send its URL or its data.');
  return url;
}

function soundFormat(mimeType: string): string {
  const type = mimeType.toLowerCase().split(';', 1)[0] ?? '';
  const format = translated(SOUND_FORMATS, type);
  return format.slice(format.indexOf('/') + 1);
}

function file(part: ContentPart & { readonly type: 'file' }, place: PartPlace): JsonObject {
  if ('fileId' in part) return { file_id: part.fileId };
  const inline = inlineMedia(part);
  if (inline === undefined)
    throw refusePart(place, 'a file by its URL', 'Send its data, or the id of an uploaded file.');
  return { filename: part.name ?? 'file', file_data: dataUrl(inline) };
}

function toolResult({ toolCallId, content, parts }: ToolMessage, placeOf: PlaceOf): JsonObject {
  return {
    role: 'tool',
    tool_call_id: toolCallId,
    content: parts === undefined ? content : outputText(parts, placeOf),
  };
}

/** What a tool gave, as text: the API takes nothing else. */
function outputText(content: string | readonly ToolOutputPart[], placeOf: PlaceOf): string {
  if (typeof content === 'string') return content;
  const texts = content.map((part, at) => {
    if (part.type === 'text') return part.text;
    if (part.type === 'tool-reference') return part.name;
    throw refusePart(
      placeOf(at),
      `a part of the type "${part.type}" in the result of a tool`,
      'Send it in a message of the user.',
    );
  });
  return texts.join('\n');
}

function answer(message: AssistantMessage, placeOf: PlaceOf): JsonObject {
  const { parts } = message;
  if (parts === undefined) return said(message.content, message.toolCalls ?? []);
  const sorted = sortParts(parts, placeOf);
  const { text, calls, audioId, images, details, thoughts, returnsThoughts } = sorted;
  return {
    ...said(text, calls),
    ...(returnsThoughts && { reasoning_content: thoughts }),
    ...(audioId !== undefined && { audio: { id: audioId } }),
    ...(images.length > 0 && { images }),
    ...(details.length > 0 && { reasoning_details: details }),
  };
}

function said(content: string, calls: readonly ToolCall[]): JsonObject {
  if (calls.length === 0) return { content };
  // Several servers insist on null, not "", beside tool calls.
  return { content: content || null, tool_calls: calls.map(toolCall) };
}

function toolCall({ id, name, arguments: text, extra }: ToolCall): JsonObject {
  // Gemini wants the signature of its thoughts back, which it puts here.
  const own = isJsonObject(extra?.extra_content) ? { extra_content: extra.extra_content } : {};
  return { id, type: 'function', function: { name, arguments: text }, ...own };
}

interface SortedParts {
  text: string;
  readonly calls: ToolCall[];
  audioId: string | undefined;
  readonly images: JsonObject[];
  readonly details: JsonObject[];
  thoughts: string;
  /** Whether the server wants its thoughts back as `reasoning_content`. */
  returnsThoughts: boolean;
}

/** The parts of an answer by the fields that they stand in. */
function sortParts(parts: readonly AssistantPart[], placeOf: PlaceOf): SortedParts {
  const sorted: SortedParts = {
    text: '',
    calls: [],
    audioId: undefined,
    images: [],
    details: [],
    thoughts: '',
    returnsThoughts: false,
  };
  parts.forEach((part, at) => {
    switch (part.type) {
      case 'text':
        sorted.text += part.text;
        break;
      case 'tool-call':
        sorted.calls.push(part);
        break;
      case 'reasoning':
        sorted.details.push(...detailsOf(part.extra));
        sorted.thoughts += part.text;
        if (part.extra?.field === 'reasoning_content') sorted.returnsThoughts = true;
        break;
      case 'audio':
        if (part.id === undefined) throw refusePart(placeOf(at), 'a sound without an id in an answer');
        sorted.audioId = part.id;
        break;
      case 'image':
        sorted.images.push({ type: 'image_url', image_url: { url: urlOf(part, placeOf(at), 'an image') } });
        break;
      default:
        throw refusePart(placeOf(at), `a part of the type "${part.type}"`);
    }
  });
  return sorted;
}

function detailsOf(extra: JsonObject | undefined): readonly JsonObject[] {
  const details = extra?.reasoning_details;
  return Array.isArray(details) ? details.filter(isJsonObject) : [];
}
