/** OpenAI's Responses API: chat with streaming, images, files, tools, signed thoughts, and what the server does itself. */
import { defer } from 'rxjs';
import type { JsonObject } from '../../json.js';
import type { ChatRequest, McpServerDefinition, ToolDefinition } from '../chat-model.js';
import { defineProvider } from '../define-provider.js';
import { offeredTools } from '../offered-tools.js';
import { refuseRequest } from '../refuse-request.js';
import { streamAnswer } from '../stream-answer.js';
import { createResponseDecoder } from './openai-responses-answer.js';
import { inputItems } from './openai-responses-input.js';

const CHAT_PATH = '/responses';

/** Models that think, and give their thoughts back encrypted; others refuse to be asked for them. */
const THINKS = /^(?:openai\/)?(?:o\d|codex|gpt-(?:[5-9]|\d\d)(?!.*-chat))/;

/** `POST /responses`; the base URL is `https://api.openai.com/v1`. Nothing is stored at the provider. */
export const openaiResponses = defineProvider({
  kind: 'openai-responses',
  chatPath: CHAT_PATH,
  headers: (apiKey) => (apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
  chat: (connection) => ({
    chat: (request) =>
      defer(() => {
        const { model, headers, ready } = request;
        const call = { path: CHAT_PATH, model, headers, ready, body: responseBody(request) };
        return streamAnswer(connection, call, createResponseDecoder);
      }),
  }),
});

/**
 * A chat request in the words of the API, always streaming. Penalties and templates, which it does not know, are left out.
 *
 * @throws EngineError `MODEL_REQUEST` for what it cannot hold.
 */
function responseBody(request: ChatRequest): object {
  const { model, messages, sampling = {}, jsonSchema, thinking, logProbabilities } = request;
  refuseUnknown(request);
  const { tools, choice } = offeredTools(request, { defers: true, refers: false, allows: true });
  const all = toolsOf(request, tools);
  const include = [
    ...(THINKS.test(model) || thinking === 'enabled' ? ['reasoning.encrypted_content'] : []),
    ...(logProbabilities === undefined ? [] : ['message.output_text.logprobs']),
  ];
  return {
    model,
    input: inputItems(model, messages),
    stream: true,
    store: false,
    include: include.length > 0 ? include : undefined,
    tools: all.length > 0 ? all : undefined,
    tool_choice: choiceOf(choice),
    text: jsonSchema && { format: { type: 'json_schema', ...jsonSchema } },
    temperature: sampling.temperature,
    top_p: sampling.topP,
    max_output_tokens: sampling.maxTokens,
    top_logprobs: logProbabilities,
    reasoning: thinking && (thinking === 'enabled' ? { summary: 'auto' } : { effort: 'none' }),
    safety_identifier: request.user,
  };
}

function refuseUnknown({ model, stop = [], speech }: ChatRequest): void {
  if (stop.length > 0) {
    throw refuseRequest(model, 'its API has no stop words', 'Leave stop out, or use the kind "openai-compatible".');
  }
  if (speech !== undefined) {
    throw refuseRequest(model, 'its API has no voices', 'Leave speech out, or use the kind "openai-compatible".');
  }
}

/** Tools of the caller, the search for those that are deferred, those of the provider, and MCP servers. */
function toolsOf({ serverTools = [], mcpServers = [] }: ChatRequest, tools: readonly ToolDefinition[]): JsonObject[] {
  const searches = tools.some(({ deferred }) => deferred === true);
  const hasSearch = serverTools.some(({ type }) => type === 'tool_search');
  return [
    ...tools.map(tool),
    ...(searches && !hasSearch ? [{ type: 'tool_search' }] : []),
    ...serverTools,
    ...mcpServers.map(mcpServer),
  ];
}

/** Not strict, which the API is else: schemas of tools are not written for it. */
function tool({ name, description, parameters, deferred }: ToolDefinition): JsonObject {
  const offered = { type: 'function', name, description, parameters, strict: false };
  return deferred === true ? { ...offered, defer_loading: true } : offered;
}

function mcpServer({ name, url, token, allowedTools, approval = 'never' }: McpServerDefinition): JsonObject {
  return {
    type: 'mcp',
    server_label: name,
    server_url: url,
    require_approval: approval,
    ...(token !== undefined && { authorization: token }),
    ...(allowedTools !== undefined && { allowed_tools: allowedTools }),
  };
}

function choiceOf(choice: ChatRequest['toolChoice']): unknown {
  if (typeof choice !== 'object') return choice;
  if ('name' in choice) return { type: 'function', name: choice.name };
  // A list of none means all tools to the API.
  if (choice.allowed.length === 0) return 'none';
  const tools = choice.allowed.map((name) => ({ type: 'function', name }));
  return { type: 'allowed_tools', mode: choice.mode, tools };
}
