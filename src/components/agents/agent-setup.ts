/** From an agent of a document to one that can run, within an context. */
import {
  catchError,
  concatMap,
  defer,
  forkJoin,
  identity,
  type MonoTypeOperatorFunction,
  map,
  type Observable,
  of,
} from 'rxjs';
import { z } from 'zod';
import type { McpConnection, McpServers, McpTool, McpUser } from '../../adapters/mcp/mcp-servers.js';
import { type AgentEvent, newAgentState } from '../../agents/agent-events.js';
import type { AgentSetup } from '../../agents/agent-setup.js';
import { type AgentTool, type AgentToolEvent, bindTool, isSearch } from '../../agents/agent-tool.js';
import type { CallContext } from '../../agents/call-context.js';
import { runAgent } from '../../agents/run-agent.js';
import { renderValue } from '../../dsl/render-value.js';
import { toEngineError } from '../../errors.js';
import { type Notice, warning } from '../../graph/node-events.js';
import type { Json, JsonObject } from '../../json.js';
import type { ChatMessage } from '../../models/chat-model.js';
import { functionName, parametersSchema } from '../../tools/call-tool.js';
import { toolResult } from '../../tools/tool.js';
import { cutPromptTags, prepareMessages } from '../chat/messages.js';
import { type NodeChat, openNodeChat, schemaOf } from '../chat/params.js';
import { presetsOf, toolCallOf } from '../tool-component.js';
import { createTextReader } from '../values/text-reader.js';
import type { AgentSpec, McpSpec, ToolSpec } from './agent-params.js';

/** An agent with its model, its tools and its first messages. */
export interface OpenAgent {
  readonly setup: AgentSetup;
  readonly chat: NodeChat;
  readonly messages: readonly ChatMessage[];
  readonly warnings: readonly Notice[];
}

/** The place of an inner agent; the outermost one has none. */
interface Outer {
  readonly id: string;
  readonly key: string;
  readonly path: string;
  /** Undefined: its own prompts ask. */
  readonly task: string | undefined;
}

const TASK = {
  user_prompt: z.string().describe('The task: what to find out or to do, in full, as if the reader knew nothing else.'),
  reasoning: z.string().describe('Why this task is given to this agent.'),
  context: z.string().describe('What the agent must know for it: facts, earlier results, wishes of the user.'),
};

/**
 * Opens an agent: chooses its model, reads its prompts, binds its tools; `offered` are those of MCP servers.
 *
 * @throws EngineError as {@link openNodeChat} and {@link prepareMessages}.
 */
export function openAgent(
  context: CallContext,
  spec: AgentSpec,
  offered: readonly OfferedTool[],
  outer?: Outer,
): OpenAgent {
  const { params } = spec;
  const chat = openNodeChat(context, params);
  const path = outer === undefined ? spec.name : `${outer.path}-->${spec.name}`;
  const ofMcp = offered.map((one, at) => bindMcpTool(context, one, spec.tools.length + at));
  const tools = spec.tools
    .map((tool, index) =>
      tool.type === 'agent' ? bindAgent(context, tool, index, path) : bindLibraryTool(context, tool, index),
    )
    .concat(ofMcp);
  const { messages, warnings } = prepareMessages(context, chat, {
    params,
    system: cutPromptTags(params.sys_prompt ?? ''),
    schema: schemaOf(params),
    mayFindPassages: tools.some(({ mayCite }) => mayCite),
    ...(outer?.task !== undefined && { task: outer.task }),
  });
  const setup: AgentSetup = {
    chat,
    tools,
    maxRounds: params.max_rounds,
    budget: {
      ...(params.budget_tokens === undefined ? {} : { tokens: params.budget_tokens }),
      ...(params.budget_seconds === undefined ? {} : { ms: params.budget_seconds * 1000 }),
    },
    idPrefix: outer === undefined ? '' : `${outer.id}/`,
    keyPrefix: `${outer?.key ?? context.token}/`,
    ...(outer && { parent: outer.id }),
    path,
    now: context.now,
  };
  return { setup, chat, messages, warnings: [...warnings] };
}

function bindLibraryTool(context: CallContext, { tool, params, needsApproval }: ToolSpec, index: number): AgentTool {
  const reader = createTextReader(context);
  const named = Object.entries({ name: params.function_name, description: params.description });
  return bindTool({
    tool,
    presets: presetsOf(tool, params, context, reader),
    index,
    needsApproval,
    context: toolCallOf(tool, params, context, reader),
    traceOf: context.trace,
    ...Object.fromEntries(named.filter(([, text]) => typeof text === 'string' && text.trim() !== '')),
  });
}

/** An agent as a tool of another one: it is given a task, and its answer is the result. */
function bindAgent(context: CallContext, spec: AgentSpec, index: number, outerPath: string): AgentTool {
  const { name, params, needsApproval } = spec;
  const usual = params.user_prompt ?? '';
  const shape = usual === '' ? TASK : { ...TASK, user_prompt: TASK.user_prompt.default(usual) };
  return {
    kind: 'agent',
    title: name,
    needsApproval,
    mayCite: canCite(spec),
    definition: {
      name: functionName(name, index),
      description: params.description?.trim() || 'An agent that works on a task of its own and gives its answer.',
      parameters: parametersSchema(shape),
    },
    call: (args, { id, key, state }) =>
      defer(() => {
        const text = (value: Json | undefined) => (typeof value === 'string' ? value : '');
        const given = { reasoning: text(args.reasoning), context: text(args.context) };
        const query = text(args.user_prompt) || usual;
        const asked = query === '' ? undefined : taskText({ user_prompt: query, ...given });
        return withMcpTools(context, spec, ({ offered }) => {
          const { setup, messages } = openAgent(context, spec, offered, { id, key, path: outerPath, task: asked });
          return runAgent(setup, state ?? newAgentState(messages));
        });
      }).pipe(concatMap(innerEvents), withDefault(params as JsonObject)),
  };
}

/** The question to an inner agent. */
function taskText({
  user_prompt: query,
  reasoning,
  context,
}: Readonly<Record<'user_prompt' | 'reasoning' | 'context', string>>): string {
  if (reasoning === '' && context === '') return query;
  const part = (title: string, text: string) => (text === '' ? [] : [`${title}:\n${text}`]);
  return [...part('REASONING', reasoning), ...part('CONTEXT', context), ...part('QUERY', query)].join('\n\n');
}

/** The answer of an agent that fails, where its document gives one; otherwise the error is reported. */
function withDefault({
  exception_method: method,
  exception_default_value: value,
}: JsonObject): MonoTypeOperatorFunction<AgentToolEvent> {
  if (method !== 'comment' || value === undefined || value === null || value === '') return identity;
  const text = renderValue(value);
  return catchError(() => of(toolResult(text, { content: text })));
}

function canCite({ tools }: AgentSpec): boolean {
  return tools.some((tool) => (tool.type === 'agent' ? canCite(tool) : isSearch(tool.tool)));
}

function innerEvents(event: AgentEvent): readonly AgentToolEvent[] {
  switch (event.type) {
    case 'answer': {
      const { text, references, artifacts } = event;
      return [toolResult(text, { content: text }, { references, artifacts })];
    }
    case 'state':
      return [event];
    case 'text':
    case 'thinking':
    case 'approval':
    case 'input-delivered':
      return [];
    default:
      return [{ type: 'inner', event }];
  }
}

/** A tool, and where it is called. */
export interface OfferedTool {
  readonly tool: McpTool;
  readonly connection: McpConnection;
  readonly needsApproval: boolean;
}

/** What an agent's servers offer. */
export interface McpTools {
  readonly offered: readonly OfferedTool[];
  /** Servers that the agent, or one inside of it, has to do without. */
  readonly warnings: readonly Notice[];
}

/**
 * Lets an agent work with the tools of its MCP servers, and uses these servers for as long as it works.
 *
 * An agent without servers starts at once. Where the document names no tools, those of the server are listed first. A missing server
 * is a warning: templates name those of other installations.
 */
export function withMcpTools<T>(
  context: CallContext,
  spec: AgentSpec,
  work: (tools: McpTools) => Observable<T>,
): Observable<T> {
  const { mcp: servers, headers = {} } = context.services;
  const warnings = unknownServers(spec, servers);
  if (spec.mcp.length === 0) return work({ offered: [], warnings });
  const user: McpUser = { run: context.run, headers, trace: context.trace() };
  const useFrom = (at: number, used: readonly Used[]): Observable<T> => {
    const one = spec.mcp[at];
    if (one === undefined) return askAll(used, warnings).pipe(concatMap(work));
    const server = servers?.find(one.serverId);
    if (server === undefined) return useFrom(at + 1, used);
    return server.use(user, (connection) => useFrom(at + 1, [...used, { spec: one, connection }]));
  };
  return useFrom(0, []);
}

/** Makes a tool of a server callable by an agent. */
export function bindMcpTool(context: CallContext, offered: OfferedTool, index: number): AgentTool {
  const { tool, connection, needsApproval } = offered;
  const { files } = context.services;
  return {
    kind: 'tool',
    title: tool.name,
    needsApproval,
    mayCite: false,
    definition: { name: functionName(tool.name, index), description: tool.description, parameters: tool.inputSchema },
    call: (args, { id }) => connection.call({ name: tool.name, args, files, trace: context.trace(id) }),
  };
}

interface Used {
  readonly spec: McpSpec;
  readonly connection: McpConnection;
}

/** Asks the servers whose tools the document does not name, all at once; tools come in the order of the document. */
function askAll(used: readonly Used[], before: readonly Notice[]): Observable<McpTools> {
  if (used.length === 0) return of({ offered: [], warnings: before });
  return forkJoin(used.map(ask)).pipe(
    map((found) => ({
      offered: found.flatMap(({ offered }) => offered),
      warnings: [...before, ...found.flatMap(({ warnings }) => warnings)],
    })),
  );
}

function ask({ spec, connection }: Used): Observable<McpTools> {
  const offer = (tools: readonly McpTool[]): McpTools => ({
    offered: tools.map((tool) => ({ tool, connection, needsApproval: spec.needsApproval(tool.name) })),
    warnings: [],
  });
  if (spec.tools.length > 0) return of(offer(spec.tools));
  return connection.tools().pipe(
    map(offer),
    catchError((error: unknown) => {
      const { message } = toEngineError(error, 'TOOL_FAILED');
      return of({ offered: [], warnings: [warning(`The agent works without the tools of a server: ${message}`)] });
    }),
  );
}

/** Warnings for an agent and those inside of it, which cannot report warnings themselves. */
function unknownServers({ name, mcp, tools }: AgentSpec, servers: McpServers | undefined): readonly Notice[] {
  const own = mcp.filter(({ serverId }) => servers?.find(serverId) === undefined);
  const inner = tools.flatMap((tool) => (tool.type === 'agent' ? unknownServers(tool, servers) : []));
  const unknown = own.map(({ serverId: id }) =>
    warning(
      `There is no MCP server "${id}" here, so agent "${name}" works without its tools; RUNNEL_MCP_SERVERS declares servers.`,
    ),
  );
  return [...unknown, ...inner];
}
