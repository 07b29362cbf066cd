import type { JsonObject } from '../json.js';
import type { ChatMessage, ChatRequest, ContentPart, ToolCall, ToolDefinition } from './chat-model.js';

/**
 * A chat request in the words of OpenAI's `POST /chat/completions`, always streaming.
 *
 * `streamUsage` asks for the token counts at the end of the stream; some servers refuse that field.
 */
export function chatBody(request: ChatRequest, streamUsage: boolean): JsonObject {
  const { sampling = {}, tools = [], jsonSchema, thinking } = request;
  // A choice without tools is refused by OpenAI.
  const choice = tools.length > 0 ? request.toolChoice : undefined;
  return defined({
    model: request.model,
    messages: request.messages.map(message),
    stream: true,
    stream_options: streamUsage ? { include_usage: true } : undefined,
    tools: tools.length > 0 ? tools.map(tool) : undefined,
    tool_choice: typeof choice === 'object' ? named(choice.name) : choice,
    response_format: jsonSchema && { type: 'json_schema', json_schema: { ...jsonSchema } },
    temperature: sampling.temperature,
    top_p: sampling.topP,
    max_tokens: sampling.maxTokens,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    thinking: thinking && { type: thinking },
    chat_template_kwargs: request.chatTemplateKwargs,
    user: request.user,
  });
}

function message(from: ChatMessage): JsonObject {
  switch (from.role) {
    case 'assistant': {
      const calls = from.toolCalls ?? [];
      if (calls.length === 0) return { role: 'assistant', content: from.content };
      // Several servers insist on null, not "", beside tool calls.
      return { role: 'assistant', content: from.content || null, tool_calls: calls.map(toolCall) };
    }
    case 'tool':
      return { role: 'tool', tool_call_id: from.toolCallId, content: from.content };
    default:
      return { role: from.role, content: typeof from.content === 'string' ? from.content : from.content.map(part) };
  }
}

function part(from: ContentPart): JsonObject {
  return from.type === 'text' ? { type: 'text', text: from.text } : { type: 'image_url', image_url: { url: from.url } };
}

function toolCall(from: ToolCall): JsonObject {
  return { id: from.id, type: 'function', function: { name: from.name, arguments: from.arguments } };
}

function tool(from: ToolDefinition): JsonObject {
  return { type: 'function', function: { ...from } };
}

function named(name: string): JsonObject {
  return { type: 'function', function: { name } };
}

function defined(fields: Record<string, JsonObject[string] | undefined>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject;
}
