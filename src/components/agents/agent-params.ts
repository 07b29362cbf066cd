/** An Agent as documents write it, and the tree of agents and tools that this describes. */

import { z } from 'zod';
import type { McpTool } from '../../adapters/mcp/mcp-servers.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import { entered } from '../../tools/fields.js';
import { type AnyTool, findTool, type Shape } from '../../tools/tool.js';
import { nodeParams, nullishFlag, nullishText } from '../base-params.js';
import { type LlmParams, llmShape, withUsualNames } from '../chat/params.js';
import { toolBaseParams } from '../tool-component.js';

/** Agents inside of agents, the outermost one counted. */
const MAX_DEPTH = 8;

/** Tools of one agent. */
const MAX_TOOLS = 128;

/** MCP servers of one agent. */
const MAX_SERVERS = 32;

/** A tool as documents name it: {component_name, id, name, params}, or the name of its component. */
export const toolEntry = z.preprocess(
  (given) => (typeof given === 'string' ? { component_name: given } : given),
  z.looseObject({
    component_name: z.string().min(1, 'a tool is named by the name of its component'),
    id: z.string().nullish(),
    name: z.string().nullish(),
    params: z.record(z.string(), z.json()).nullish(),
  }),
);

/** What the editor stored of a server's tool; the model sees it as it is. */
const mcpTool = z.looseObject({
  name: z.string().nullish(),
  description: z.string().nullish(),
  inputSchema: z.record(z.string(), z.json()).nullish(),
});

const mcpEntry = z.looseObject({
  mcp_id: z.string(),
  tools: z
    .record(z.string(), mcpTool)
    .nullish()
    .refine((tools) => Object.keys(tools ?? {}).length <= MAX_TOOLS, `has more than ${MAX_TOOLS} tools`),
});

const agentShape = {
  ...llmShape,
  // RAGFlow's templates leave it empty: the user of a template chooses the model.
  llm_id: z
    .preprocess((given) => given ?? '', z.string('a model is named by a text').trim())
    .describe('Model: `model`, `model@Factory` or `model@instance@Factory`; default the configured default model.'),
  tools: z
    .array(toolEntry)
    .max(MAX_TOOLS)
    .nullish()
    .describe('What the model may call: {component_name, id, name, params}, or names of components. Default: nothing.'),
  mcp: z
    .array(mcpEntry)
    .max(MAX_SERVERS)
    .nullish()
    .describe(
      'MCP servers whose tools the model may call: {mcp_id, tools: {name: {description, inputSchema}}}; without tools all that the server has. Default: none.',
    ),
  max_rounds: z
    .preprocess(entered, z.number().int().min(0).max(100).default(5))
    .describe('Rounds of tool calls beside the first, 0 to 100; then it must answer. Default: 5.'),
  budget_tokens: z
    .preprocess(entered, z.coerce.number().int().min(1).optional())
    .describe('Tokens of all model calls, after which it must answer; default: no bound.'),
  budget_seconds: z
    .preprocess(entered, z.coerce.number().min(1).optional())
    .describe('Seconds of running time, after which it must answer; default: no bound.'),
  require_approval: z
    .preprocess((given) => (typeof given === 'string' ? [given] : given), z.array(z.string()).nullish())
    .describe('Tools that the user must allow before every call, by name, or "*" for all. Default: none.'),
  optimize_multi_turn: nullishFlag.describe(
    'Rewrites the question in the light of the conversation first, by a further model call. Default: false.',
  ),
  user_prompt: nullishText.describe('What an outer agent asks by default; default "".'),
};

/** Parameters of an Agent; other names of parameters included. */
export const agentParams = z.preprocess((given) => withUsualNames(withoutUserPrompt(given)), nodeParams(agentShape));

/** Parameters of an Agent. */
export type AgentParams = LlmParams & z.output<z.ZodObject<typeof agentShape>>;

/** A tool of the library with what the document sets for it. */
export interface ToolSpec {
  readonly type: 'tool';
  readonly tool: AnyTool;
  readonly params: JsonObject;
  readonly needsApproval: boolean;
}

/** An MCP server as an agent uses it. */
export interface McpSpec {
  readonly serverId: string;
  /** Empty: all that the server offers. */
  readonly tools: readonly McpTool[];
  /** Whether calls of a tool need an approval. */
  needsApproval(tool: string): boolean;
}

/** An agent, with its tools. */
export interface AgentSpec {
  readonly type: 'agent';
  readonly name: string;
  readonly params: AgentParams;
  readonly tools: readonly (ToolSpec | AgentSpec)[];
  readonly mcp: readonly McpSpec[];
  readonly needsApproval: boolean;
}

/** An agent as it was read, with those inside of it. */
export interface ReadAgent extends Pick<Reading, 'problems' | 'missing'> {
  readonly spec: AgentSpec;
}

/** An agent from its parameters, whose tools are those of `library`, and its problems. */
export function readAgent(name: string, params: AgentParams, library: readonly AnyTool[]): ReadAgent {
  const reading: Reading = { library, problems: [], missing: [] };
  const spec = agentOf(name, params, { needsApproval: false, path: name, depth: 1 }, reading);
  return { spec, ...reading };
}

/** What all agents of a document share while they are read, and what was found so far. */
interface Reading {
  readonly library: readonly AnyTool[];
  /** What is wrong: it cannot run. */
  readonly problems: string[];
  /** Tools that do not exist here or have nothing to work with; it runs all the same. */
  readonly missing: string[];
}

interface Place {
  readonly needsApproval: boolean;
  /** Names from the outermost agent on. */
  readonly path: string;
  readonly depth: number;
}

function agentOf(name: string, params: AgentParams, place: Place, reading: Reading): AgentSpec {
  const { problems } = reading;
  const { path, depth, needsApproval } = place;
  if (depth > MAX_DEPTH) {
    problems.push(`agent "${path}" is inside of more than ${MAX_DEPTH - 1} others`);
    return { type: 'agent', name, params, tools: [], mcp: [], needsApproval };
  }
  const asks = new Set((params.require_approval ?? []).map((one) => one.trim().toLowerCase()));
  if (depth > 1 && asks.size > 0) {
    problems.push(`agent "${path}" asks for approval, which only the outermost agent can; name its tools there`);
  }
  const tools = (params.tools ?? []).flatMap((entry): (ToolSpec | AgentSpec)[] => {
    const names = [entry.component_name, entry.name ?? '', entry.id ?? ''].map((one) => one.toLowerCase());
    const mustAsk = asks.has('*') || names.some((one) => one !== '' && asks.has(one));
    if (entry.component_name.toLowerCase() === 'agent') {
      return innerAgent(entry, { needsApproval: mustAsk, path, depth: depth + 1 }, reading);
    }
    return toolOf(entry, asks, mustAsk, path, reading);
  });
  const mcp = (params.mcp ?? []).map((entry) => mcpOf(entry, asks));
  return { type: 'agent', name, params, tools, mcp, needsApproval };
}

type ToolEntry = NonNullable<AgentParams['tools']>[number];

function innerAgent(entry: ToolEntry, place: Place, reading: Reading): AgentSpec[] {
  const name = entry.name || entry.id || 'agent';
  const parsed = agentParams.safeParse(entry.params ?? {});
  const path = `${place.path}-->${name}`;
  if (parsed.success) return [agentOf(name, parsed.data as AgentParams, { ...place, path }, reading)];
  reading.problems.push(...issuesOf(path, parsed.error));
  return [];
}

function toolOf(
  entry: ToolEntry,
  asks: ReadonlySet<string>,
  mustAsk: boolean,
  path: string,
  { library, problems, missing }: Reading,
): ToolSpec[] {
  const tool = findTool(library, entry.component_name);
  if (tool === undefined) {
    const known = ['Agent', ...library.map(({ component }) => component)].toSorted().join(', ');
    missing.push(
      `tool "${entry.component_name}" of agent "${path}" does not exist and is not offered; there are ${known}`,
    );
    return [];
  }
  const parsed = nodeParams({ ...toolBaseParams, ...(tool.params as Shape) }).safeParse(entry.params ?? {});
  if (!parsed.success) {
    problems.push(...issuesOf(`${path}-->${tool.component}`, parsed.error));
    return [];
  }
  const params = parsed.data as JsonObject;
  problems.push(...(tool.check?.(params as never) ?? []).map((problem) => `${path}-->${tool.component}: ${problem}`));
  missing.push(...(tool.advise?.(params as never) ?? []).map((advice) => `${path}-->${tool.component}: ${advice}`));
  return [{ type: 'tool', tool, params, needsApproval: mustAsk || asks.has(tool.name) }];
}

function mcpOf({ mcp_id: serverId, tools }: z.output<typeof mcpEntry>, asks: ReadonlySet<string>): McpSpec {
  const asksAlways = asks.has('*') || asks.has(serverId.toLowerCase());
  return {
    serverId,
    tools: Object.entries(tools ?? {}).map(([key, { name, description, inputSchema }]) => ({
      name: name || key,
      description: description ?? '',
      inputSchema: inputSchema ?? { type: 'object', properties: {} },
    })),
    needsApproval: (tool) => asksAlways || asks.has(tool.toLowerCase()),
  };
}

function issuesOf(path: string, error: z.ZodError): string[] {
  return error.issues.map((issue) => `${path}: ${issue.path.join('.')}: ${issue.message}`);
}

/**
 * The stored `user_prompt` of an Agent is what an outer agent asks by default, and no prompt of its own; other documents write
 * their only prompt there, which shows in the absence of `prompts`.
 */
function withoutUserPrompt(given: unknown): unknown {
  if (!isJsonObject(given)) return given;
  const { prompts, user_prompt: prompt } = given;
  const hasPrompts = Array.isArray(prompts) ? prompts.length > 0 : Boolean(prompts);
  return hasPrompts || typeof prompt !== 'string' || prompt === '' ? given : { ...given, prompts: prompt };
}
