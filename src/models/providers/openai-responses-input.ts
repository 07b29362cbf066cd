/** Messages as the items of OpenAI's Responses API. */
import { isJsonObject, type JsonObject } from '../../json.js';
import type { AssistantPart, ContentPart, MediaPart, TextPart, ToolCall, ToolOutputPart } from '../content-parts.js';
import { dataUrl, inlineMedia, mediaUrl } from '../media-source.js';
import type { AssistantMessage, ChatMessage } from '../messages.js';
import { type PartPlace, type PlaceOf, refusePart, writeMessages } from '../refuse-request.js';

/**
 * The items of a conversation, in order. Nothing is stored at the provider, so thoughts go back encrypted; those without an id and a
 * signature of this API are left out, and so are names.
 *
 * @throws EngineError `MODEL_REQUEST` for a part that the API has no item for.
 */
export function inputItems(model: string, messages: readonly ChatMessage[]): JsonObject[] {
  const customCalls = customCallIds(messages);
  return writeMessages(model, messages, (message, placeOf) => itemsOf(message, placeOf, customCalls));
}

/** Calls of tools that take text in place of JSON; their results are items of another type. */
function customCallIds(messages: readonly ChatMessage[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const message of messages) {
    if (message.role !== 'assistant') continue;
    const parts = (message.parts ?? []).filter((part) => part.type === 'tool-call');
    for (const { id, kind } of [...(message.toolCalls ?? []), ...parts]) if (kind === 'custom') ids.add(id);
  }
  return ids;
}

function itemsOf(message: ChatMessage, placeOf: PlaceOf, customCalls: ReadonlySet<string>): JsonObject[] {
  switch (message.role) {
    case 'assistant':
      return message.parts === undefined ? plainAnswer(message) : answerItems(message.parts, placeOf);
    case 'tool': {
      const output = outputOf(message.parts ?? message.content, placeOf);
      return [callOutput(message.toolCallId, output, customCalls)];
    }
    case 'system':
    case 'user': {
      const { role, content } = message;
      if (typeof content === 'string') return [{ role, content }];
      return questionItems(role, content, placeOf, customCalls);
    }
  }
}

/** Results and approvals are items of their own, before the message with the rest. */
function questionItems(
  role: string,
  content: readonly ContentPart[],
  placeOf: PlaceOf,
  customCalls: ReadonlySet<string>,
): JsonObject[] {
  const items: JsonObject[] = [];
  const parts: JsonObject[] = [];
  content.forEach((part, at) => {
    if (part.type === 'tool-result') {
      const output = outputOf(part.content, () => placeOf(at));
      items.push(callOutput(part.toolCallId, output, customCalls));
    } else if (part.type === 'mcp-approval') {
      const { requestId, isApproved, reason } = part;
      const item = { type: 'mcp_approval_response', approval_request_id: requestId, approve: isApproved };
      items.push(reason === undefined ? item : { ...item, reason });
    } else parts.push(inputPart(part, placeOf(at)));
  });
  return parts.length === 0 && items.length > 0 ? items : [...items, { role, content: parts }];
}

function callOutput(id: string, output: string | JsonObject[], customCalls: ReadonlySet<string>): JsonObject {
  const type = customCalls.has(id) ? 'custom_tool_call_output' : 'function_call_output';
  return { type, call_id: id, output };
}

function outputOf(content: string | readonly ToolOutputPart[], placeOf: PlaceOf): string | JsonObject[] {
  if (typeof content === 'string') return content;
  return content.map((part, at) => {
    return part.type === 'tool-reference' ? { type: 'input_text', text: part.name } : inputPart(part, placeOf(at));
  });
}

function inputPart(part: TextPart | MediaPart, place: PartPlace): JsonObject {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text };
    case 'image_url':
      return { type: 'input_image', image_url: part.url, detail: 'auto' };
    case 'image': {
      const source = 'fileId' in part ? { file_id: part.fileId } : { image_url: mediaUrl(part) ?? '' };
      return { type: 'input_image', ...source, detail: part.detail ?? 'auto' };
    }
    case 'file': {
      const named = part.name === undefined ? {} : { filename: part.name };
      if ('fileId' in part) return { type: 'input_file', file_id: part.fileId };
      const inline = inlineMedia(part);
      if (inline === undefined) return { type: 'input_file', file_url: mediaUrl(part) ?? '' };
      return { type: 'input_file', filename: 'file', ...named, file_data: dataUrl(inline) };
    }
    case 'audio':
      throw refusePart(place, 'a sound');
    case 'video':
      throw refusePart(place, 'a video');
  }
}

function plainAnswer({ content, toolCalls = [] }: AssistantMessage): JsonObject[] {
  const calls = toolCalls.map(callItem);
  return content === '' && calls.length > 0 ? calls : [{ role: 'assistant', content }, ...calls];
}

function answerItems(parts: readonly AssistantPart[], placeOf: PlaceOf): JsonObject[] {
  return parts.map((part, at) => answerItem(part, parts, placeOf(at))).filter((item) => item !== undefined);
}

/** Nothing for what another item says, or what need not go back. */
function answerItem(part: AssistantPart, all: readonly AssistantPart[], place: PartPlace): JsonObject | undefined {
  const item = isJsonObject(part.extra?.item) ? part.extra.item : undefined;
  switch (part.type) {
    case 'text':
      if (part.text === '') return undefined;
      return {
        role: 'assistant',
        content: part.text,
        ...(part.extra?.phase !== undefined && { phase: part.extra.phase }),
      };
    case 'reasoning':
      return reasoningItem(part);
    case 'tool-call':
      return callItem(part);
    case 'server-tool-result':
      if (part.extra?.isInCall === true) return undefined;
      break;
    case 'image':
      if (item !== undefined && 'data' in part) return { ...item, result: part.data };
      break;
    case 'mcp-list':
      return mcpList(part);
    case 'mcp-call':
      return mcpCall(part, all);
    case 'mcp-result':
      return undefined;
    case 'mcp-approval-request':
      return {
        type: 'mcp_approval_request',
        id: part.id,
        server_label: part.server,
        name: part.name,
        arguments: part.arguments,
      };
  }
  const isItem = part.type === 'server-tool-call' || part.type === 'server-tool-result';
  if (isItem && item !== undefined) return item;
  throw refusePart(place, `a part of the type "${part.type}" that it did not answer itself`);
}

function reasoningItem(part: AssistantPart & { readonly type: 'reasoning' }): JsonObject | undefined {
  const { id, signature, text } = part;
  if (id === undefined || signature === undefined) return undefined;
  const summary = text === '' ? [] : [{ type: 'summary_text', text }];
  return { type: 'reasoning', id, summary, encrypted_content: signature };
}

function callItem({ id, name, arguments: text, kind, extra }: ToolCall): JsonObject {
  const own: JsonObject = {
    ...(extra?.namespace !== undefined && { namespace: extra.namespace }),
    ...(extra?.caller !== undefined && { caller: extra.caller }),
  };
  if (kind === 'custom') return { type: 'custom_tool_call', call_id: id, name, input: text, ...own };
  return { type: 'function_call', call_id: id, name, arguments: text, ...own };
}

function mcpList({ id = '', server, tools, error }: AssistantPart & { readonly type: 'mcp-list' }): JsonObject {
  const listed = tools.map(({ name, description, parameters = { type: 'object' } }) => {
    return { name, input_schema: parameters, ...(description !== undefined && { description }) };
  });
  return { type: 'mcp_list_tools', id, server_label: server, tools: listed, ...(error !== undefined && { error }) };
}

/** A call and its result are one item. */
function mcpCall(call: AssistantPart & { readonly type: 'mcp-call' }, all: readonly AssistantPart[]): JsonObject {
  const result = all.find((part) => part.type === 'mcp-result' && part.callId === call.id);
  const ended = result?.type === 'mcp-result' ? result : undefined;
  const output = typeof ended?.content === 'string' ? ended.content : JSON.stringify(ended?.content ?? null);
  return {
    type: 'mcp_call',
    id: call.id,
    server_label: call.server,
    name: call.name,
    arguments: call.arguments,
    ...(call.approvalRequestId !== undefined && { approval_request_id: call.approvalRequestId }),
    ...(ended !== undefined && (ended.error === undefined ? { output } : { error: ended.error })),
  };
}
