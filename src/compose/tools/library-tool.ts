/** Tools of canvases and of MCP servers, for steps. */
import { firstValueFrom, map, mergeMap, type Observable } from 'rxjs';
import { z } from 'zod';
import type { McpServer, McpTool, McpUser } from '../../adapters/mcp/mcp-servers.js';
import { artifactRecord, type ToolEvent, type ToolResult } from '../../adapters/tool-event.js';
import { EngineError } from '../../errors.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import { requireMethods, requireObject } from '../../operators/invalid-option.js';
import { callTool, definitionOf, type FunctionOptions, functionName } from '../../tools/call-tool.js';
import type { AnyTool, Shape, ToolCall } from '../../tools/tool.js';
import type { ToolServices } from '../../tools/tool-services.js';
import { traceContextOf } from '../../trace-context.js';
import { requireToolName } from './define-tool.js';
import type { StepTool, ToolActivation, ToolContent } from './step-tool.js';

/** How a tool of canvases is offered. */
export interface LibraryToolOptions extends Pick<FunctionOptions, 'name' | 'description'> {
  /** What it uses beside the arguments. @default the services of the run */
  readonly services?: ToolServices;
  /** Milliseconds that a call may take. @default the tool's own limit */
  readonly timeoutMs?: number;
}

/**
 * A tool of the library for `toolsNode` and agents: `toolOf(tavilySearch, { api_key: key })`.
 *
 * Its progress is in the events of the run (`tool-progress`, `tool-partial`); files that it made and passages to cite are in the `extra` of its
 * message (`artifacts`, `references`).
 *
 * @param params what a document would set once; references in it are not replaced
 * @throws EngineError OPTION_INVALID for parameters that do not fit, and for a name that models cannot call
 */
export function toolOf(tool: AnyTool, params: JsonObject = {}, options: LibraryToolOptions = {}): StepTool {
  requireMethods('toolOf', 'tool', tool, ['call'], 'a tool of the library');
  requireObject('toolOf', 'tool.arguments', tool.arguments);
  requireObject('toolOf', 'options', options);
  const { services, timeoutMs, ...shown } = options;
  const owner = `toolOf(${tool.component})`;
  const definition = definitionOf(tool, shown);
  requireToolName(owner, definition.name);
  const own = readParams(owner, tool, params);
  return Object.freeze<StepTool>({
    ...definition,
    call: (args, call) => {
      const used = services ?? servicesOf(call);
      const given: ToolCall = {
        params: own,
        services: used,
        source: NO_VALUES,
        key: call.key,
        trace: traceContextOf({ services: used, token: call.key }),
        now: call.now,
        random: call.random,
      };
      return contents(
        callTool(tool, args, given as ToolCall<never>, timeoutMs === undefined ? {} : { timeoutMs }),
        call,
      );
    },
  });
}

/** Which tools of an MCP server are offered, and as whom the server is asked. */
export interface McpToolsOptions {
  /** Their names at the server. @default all */
  readonly only?: readonly string[];
  /** In front of their names, so that those of two servers differ. @default nothing */
  readonly prefix?: string;
  /** For tools that declare headers of a run. @default none */
  readonly headers?: JsonObject;
}

/**
 * The tools of an MCP server, one of `services.mcp`: `toolsNode({ tools: await mcpTools(services.mcp.find('files')) })`.
 *
 * The list is asked for now; each call opens a session, or takes that of its run. The server checks the arguments.
 *
 * @throws EngineError TOOL_FAILED when the server cannot be asked; OPTION_INVALID for a name in `only` that it does not have.
 */
export async function mcpTools(server: McpServer, options: McpToolsOptions = {}): Promise<StepTool[]> {
  requireMethods('mcpTools', 'server', server, ['use'], 'a server of createMcpServers or of a canvas');
  requireObject('mcpTools', 'options', options);
  const { only, prefix = '', headers = {} } = options;
  const listed = await firstValueFrom(server.use({ run: `list-${server.id}`, headers, trace: {} }, (to) => to.tools()));
  const missing = only?.find((name) => listed.every((tool) => tool.name !== name));
  if (missing !== undefined) {
    const known = listed.map(({ name }) => name).join(', ');
    throw new EngineError(
      'OPTION_INVALID',
      `mcpTools: server "${server.id}" has no tool "${missing}"; it has ${known}.`,
    );
  }
  const taken = new Set<string>();
  return listed
    .filter(({ name }) => only === undefined || only.includes(name))
    .map((tool) => mcpTool(server, tool, uniqueName(`${prefix}${tool.name}`, taken), headers));
}

function mcpTool(
  server: McpServer,
  { name: own, description, inputSchema }: McpTool,
  name: string,
  headers: JsonObject,
): StepTool {
  return Object.freeze<StepTool>({
    name,
    description,
    parameters: inputSchema,
    call: (args, call) => {
      const trace = traceContextOf({ services: call.services, token: call.key });
      const user: McpUser = { run: call.run, headers, trace };
      const { files } = servicesOf(call);
      return contents(
        server.use(user, (connection) => connection.call({ name: own, args, trace, files })),
        call,
      );
    },
  });
}

function uniqueName(wanted: string, taken: Set<string>): string {
  let name = functionName(wanted);
  for (let count = 2; taken.has(name); count += 1) name = functionName(wanted, count);
  taken.add(name);
  return name;
}

function readParams(owner: string, tool: AnyTool, params: JsonObject): JsonObject {
  const parsed = z.object({ ...(tool.params as Shape) }).safeParse(params);
  const problems = parsed.success
    ? (tool.check?.(parsed.data as never) ?? [])
    : parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'params'}: ${message}`);
  if (parsed.success && problems.length === 0) return parsed.data as JsonObject;
  throw new EngineError('OPTION_INVALID', `${owner}: the parameters do not fit: ${problems.join('; ')}.`);
}

function servicesOf({ services }: Pick<ToolActivation, 'services'>): ToolServices {
  return isJsonObject(services) ? (services as ToolServices) : {};
}

/** The result of a call; what comes before it is said to those who watch the run. */
function contents(events$: Observable<ToolEvent>, call: ToolActivation): Observable<ToolContent> {
  return events$.pipe(
    mergeMap((event) => {
      if (event.type === 'result') return [event];
      // Steps count no usage.
      if (event.type === 'usage') return [];
      if (event.type === 'progress') call.emit('tool-progress', { call: call.id, message: event.message });
      else call.emit('tool-partial', { call: call.id, text: event.text });
      return [];
    }),
    map(contentOf),
  );
}

function contentOf({ text, outputs, references, artifacts }: ToolResult): ToolContent {
  const extra: JsonObject = {
    ...(artifacts !== undefined && { artifacts: artifacts.map(artifactRecord) }),
    ...(references !== undefined && { references: { ...references } }),
  };
  return { text: text === '' ? outputText(outputs) : text, ...(Object.keys(extra).length > 0 && { extra }) };
}

/** The text of a result without one: its `content`, else all of its outputs. */
function outputText(outputs: JsonObject): string {
  const { content } = outputs;
  if (typeof content === 'string' && content !== '') return content;
  return Object.keys(outputs).length === 0 ? '' : JSON.stringify(outputs);
}

const NO_VALUES: ToolCall['source'] = {
  output: () => ({ status: 'unresolved' }),
  variable: () => ({ status: 'unresolved' }),
  alias: () => ({ status: 'unresolved' }),
};
