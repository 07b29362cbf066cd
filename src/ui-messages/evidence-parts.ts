/** What a message cites, and the files that belong to it. */
import { ownList, ownText } from '../dsl/json-copy.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { UiMessageChunk } from './protocol.js';

/** Sources and files of the end of a message, as nodes report it: `reference`, `downloads`, `attachment`. */
export function evidenceParts({ reference, downloads, attachment }: JsonObject): readonly UiMessageChunk[] {
  const files = [...(Array.isArray(downloads) ? downloads : []), attachment];
  return [...sourcesOf(reference), ...files.flatMap(fileOf)];
}

function sourcesOf(reference: Json | undefined): readonly UiMessageChunk[] {
  const chunks = isJsonObject(reference) ? reference.chunks : undefined;
  const cited = Array.isArray(chunks) ? chunks.map((one, at) => [String(at), one] as const) : [];
  const entries = isJsonObject(chunks) ? Object.entries(chunks) : cited;
  return entries.flatMap(([key, chunk]) => (isJsonObject(chunk) ? [sourceOf(key, chunk)] : []));
}

/** `key` is the number that the text cites. */
function sourceOf(key: string, chunk: JsonObject): UiMessageChunk {
  const title = ownText(chunk, 'document_name') ?? ownText(chunk, 'title') ?? key;
  const url = ownText(chunk, 'url');
  if (url !== undefined && /^https?:/.test(url)) return { type: 'source-url', sourceId: key, url, title };
  return { type: 'source-document', sourceId: key, mediaType: 'text/plain', title, filename: title };
}

function fileOf(file: Json | undefined): readonly UiMessageChunk[] {
  if (!isJsonObject(file)) return [];
  const url = ownText(file, 'url');
  if (url === undefined) return [];
  return [{ type: 'file', url, mediaType: ownText(file, 'mime_type') ?? 'application/octet-stream' }];
}

/** Files among the parts of a model's answer; sounds come in pieces, which are no files. */
export function mediaParts(parts: readonly unknown[]): readonly UiMessageChunk[] {
  return parts.flatMap((part): UiMessageChunk[] => {
    if (!isJsonObject(part)) return [];
    const type = ownText(part, 'type') ?? '';
    const kind = { image: 'image', image_url: 'image', video: 'video', file: 'application/octet-stream' }[type];
    if (kind === undefined) return [];
    const mediaType = ownText(part, 'mimeType') ?? kind;
    const data = ownText(part, 'data');
    const url = ownText(part, 'url') ?? (data === undefined ? undefined : `data:${mediaType};base64,${data}`);
    return url === undefined ? [] : [{ type: 'file', url, mediaType }];
  });
}

/** Calls of tools that a model's provider makes itself, and their results. */
export function providerCalls(parts: readonly unknown[]): readonly UiMessageChunk[] {
  return parts.flatMap((part): UiMessageChunk[] => {
    if (!isJsonObject(part)) return [];
    const { type, id, callId, name, arguments: input = {}, content = null } = part;
    if (type === 'server-tool-call' && typeof id === 'string' && typeof name === 'string') {
      return [{ type: 'tool-input-available', toolCallId: id, toolName: name, input }];
    }
    if (type !== 'server-tool-result' || typeof callId !== 'string') return [];
    return [{ type: 'tool-output-available', toolCallId: callId, output: content, providerExecuted: true }];
  });
}

/** The texts in a list of messages of tools, with the ids of their calls; also of a list that is a field, as the tools of an agent give it. */
export function toolMessagesIn(value: unknown): readonly { id: string; text: string; isError: boolean }[] {
  if (isJsonObject(value) && Array.isArray(value.tools)) return toolMessagesIn(value.tools);
  if (!Array.isArray(value)) return [];
  return value.flatMap((message: unknown) => {
    if (!isJsonObject(message) || message.role !== 'tool') return [];
    const id = ownText(message, 'toolCallId');
    const text =
      ownText(message, 'content') ??
      ownList(message, 'content')
        .map((one) => ownText(one, 'text'))
        .join('');
    const isError = message.isError === true;
    return id === undefined || (text === '' && !isError) ? [] : [{ id, text, isError }];
  });
}
