/** Anthropic's Messages API, version 2023-06-01: chat with streaming, images, documents, tools, thinking, and what the server does itself. */
import { defer } from 'rxjs';
import type { JsonObject } from '../../json.js';
import type { ChatRequest, McpServerDefinition, ToolDefinition } from '../chat-model.js';
import { defineProvider } from '../define-provider.js';
import { offeredTools } from '../offered-tools.js';
import { refuseRequest } from '../refuse-request.js';
import { streamAnswer } from '../stream-answer.js';
import { createDecoder } from './anthropic-answer.js';
import { beginsSigned, refersToFiles, systemOf, turnsOf } from './anthropic-messages.js';

const CHAT_PATH = '/messages';

/** Tokens of an answer where a request does not say: the API has no default, and every model allows as many. */
const MAX_TOKENS = 4_096;

/** Tokens for thinking, on top of those of the answer, for models that take a budget. */
const THINKING_TOKENS = 4_096;

/** Models that take a budget for thinking; later ones decide themselves how much to think. */
const TAKES_BUDGET = /claude-3-7|claude-(?:opus|sonnet|haiku)-4(?:-[0-5])?(?:-\d{8}|-latest|-v\d|@|$)/;

/** Parts of the API that must be asked for by name, in the header `anthropic-beta`. */
const BETA = {
  mcp: 'mcp-client-2025-11-20',
  toolSearch: 'advanced-tool-use-2025-11-20',
  files: 'files-api-2025-04-14',
} as const;

/** The provider's search for tools that are offered by name. */
const TOOL_SEARCH = { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' } as const;

/** `POST /messages`; the base URL is `https://api.anthropic.com/v1`. */
export const anthropic = defineProvider({
  kind: 'anthropic',
  chatPath: CHAT_PATH,
  headers: (apiKey) => ({ 'anthropic-version': '2023-06-01', ...(apiKey && { 'x-api-key': apiKey }) }),
  chat: (connection) => ({
    chat: (request) =>
      defer(() => {
        const { model, headers, ready } = request;
        const { body, betas } = messagesBody(request);
        const listHeaders = betas.length === 0 ? undefined : { 'anthropic-beta': betas.join(',') };
        return streamAnswer(connection, { path: CHAT_PATH, model, headers, listHeaders, ready, body }, createDecoder);
      }),
  }),
});

/**
 * A chat request in the words of the API, always streaming, and the parts of the API that it needs.
 *
 * Penalties and templates, which it does not know, are left out.
 * @throws EngineError `MODEL_REQUEST` for what it cannot hold.
 */
function messagesBody(request: ChatRequest): { readonly body: object; readonly betas: readonly string[] } {
  const { model, messages, sampling = {}, jsonSchema, user, stop = [], mcpServers = [] } = request;
  refuseUnknown(request);
  const thinking = thinkingOf(request);
  const isThinking = thinking !== undefined && thinking.type !== 'disabled';
  const budget = typeof thinking?.budget_tokens === 'number' ? thinking.budget_tokens : 0;
  const { tools, choice } = offeredTools(request, { defers: true, refers: true, allows: false });
  const searches = tools.some(({ deferred }) => deferred === true);
  const all = toolsOf(request, tools);
  const body = {
    model,
    max_tokens: (sampling.maxTokens ?? MAX_TOKENS) + budget,
    system: systemOf(messages),
    messages: turnsOf(model, messages),
    stream: true,
    tools: all.length > 0 ? all : undefined,
    // A choice needs tools, and a forced one excludes thinking.
    tool_choice: choiceOf(choice, isThinking),
    mcp_servers: mcpServers.length > 0 ? mcpServers.map(mcpServer) : undefined,
    stop_sequences: stop.length > 0 ? stop : undefined,
    // Thinking excludes both.
    temperature: isThinking ? undefined : sampling.temperature,
    top_p: isThinking ? undefined : sampling.topP,
    thinking,
    output_config: jsonSchema && { format: { type: 'json_schema', schema: jsonSchema.schema } },
    metadata: user === undefined ? undefined : { user_id: user },
  };
  const betas = [
    ...(mcpServers.length > 0 ? [BETA.mcp] : []),
    ...(searches ? [BETA.toolSearch] : []),
    ...(refersToFiles(messages) ? [BETA.files] : []),
  ];
  return { body, betas };
}

function refuseUnknown({ model, logProbabilities, speech, mcpServers = [] }: ChatRequest): void {
  if (logProbabilities !== undefined) {
    throw refuseRequest(model, 'its API gives no log probabilities', 'Leave logProbabilities out.');
  }
  if (speech !== undefined) throw refuseRequest(model, 'its API has no voices', 'Leave speech out.');
  const asking = mcpServers.find(({ approval }) => approval === 'always');
  if (asking === undefined) return;
  throw refuseRequest(
    model,
    `its API never asks before it calls tools of the MCP server "${asking.name}"`,
    "Leave its approval out, or offer the server's tools as tools of your own.",
  );
}

/** Tools of the caller, the search for those that are deferred, those of the provider, and MCP servers. */
function toolsOf({ serverTools = [], mcpServers = [] }: ChatRequest, tools: readonly ToolDefinition[]): JsonObject[] {
  const searches = tools.some(({ deferred }) => deferred === true);
  const hasSearch = serverTools.some(({ type }) => typeof type === 'string' && type.startsWith('tool_search_tool_'));
  return [
    ...tools.map(({ name, description, parameters, deferred }) => {
      return { name, description, input_schema: parameters, ...(deferred === true && { defer_loading: true }) };
    }),
    ...(searches && !hasSearch ? [TOOL_SEARCH] : []),
    ...serverTools,
    ...mcpServers.map(mcpToolset),
  ];
}

function mcpServer({ name, url, token }: McpServerDefinition): JsonObject {
  return { type: 'url', url, name, ...(token !== undefined && { authorization_token: token }) };
}

function mcpToolset({ name, allowedTools }: McpServerDefinition): JsonObject {
  const toolset = { type: 'mcp_toolset', mcp_server_name: name };
  if (allowedTools === undefined) return toolset;
  const configs = Object.fromEntries(allowedTools.map((tool) => [tool, { enabled: true }]));
  return { ...toolset, default_config: { enabled: false }, configs };
}

/**
 * With a budget, none while results of tools are answered, unless the message that called them begins with its signed thoughts: the API
 * wants them back then. Models that decide themselves do without.
 */
function thinkingOf({ thinking, model, messages }: ChatRequest): JsonObject | undefined {
  if (thinking !== 'enabled') return thinking && { type: thinking };
  if (!TAKES_BUDGET.test(model)) return { type: 'adaptive', display: 'summarized' };
  const caller = messages.findLast(({ role }) => role === 'assistant');
  const isSigned = caller?.role === 'assistant' && beginsSigned(caller);
  if (messages.at(-1)?.role === 'tool' && !isSigned) return undefined;
  return { type: 'enabled', budget_tokens: THINKING_TOKENS };
}

function choiceOf(choice: ChatRequest['toolChoice'], isThinking: boolean): JsonObject | undefined {
  if (choice === undefined) return undefined;
  if (choice === 'none') return { type: 'none' };
  if (choice === 'auto' || isThinking) return { type: 'auto' };
  if (typeof choice === 'object' && 'name' in choice) return { type: 'tool', name: choice.name };
  return { type: 'any' };
}
