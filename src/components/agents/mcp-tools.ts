/** Tools of MCP servers among those of an agent. */
import { catchError, concatMap, forkJoin, map, type Observable, of } from 'rxjs';
import type { McpConnection, McpServers, McpTool, McpUser } from '../../adapters/mcp/mcp-servers.js';
import type { AgentTool } from '../../agents/agent-tool.js';
import { toEngineError } from '../../errors.js';
import type { Activation } from '../../graph/component.js';
import { type Notice, warning } from '../../graph/node-events.js';
import { traceContextOf } from '../../graph/trace-context.js';
import { functionName } from '../../tools/call-tool.js';
import { optionalServices } from '../optional-services.js';
import type { AgentSpec, McpSpec } from './agent-params.js';

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
 * An agent without servers works at once. Where the document names no tools the server is asked first. A server that is not there
 * is a warning: templates name those of other installations.
 */
export function withMcpTools<T>(
  activation: Activation,
  spec: AgentSpec,
  work: (tools: McpTools) => Observable<T>,
): Observable<T> {
  const { mcp: servers, headers = {} } = optionalServices(activation);
  const warnings = unknownServers(spec, servers);
  if (spec.mcp.length === 0) return work({ offered: [], warnings });
  const user: McpUser = { run: activation.run, headers, trace: traceContextOf(activation) };
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
export function bindMcpTool(activation: Activation, offered: OfferedTool, index: number): AgentTool {
  const { tool, connection, needsApproval } = offered;
  const { files } = optionalServices(activation);
  return {
    kind: 'tool',
    title: tool.name,
    needsApproval,
    mayCite: false,
    definition: {
      name: functionName(tool.name, index),
      description: tool.description,
      parameters: tool.inputSchema,
    },
    call: (args, { id }) => connection.call({ name: tool.name, args, files, trace: traceContextOf(activation, id) }),
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

/** Warnings for an agent and those inside of it, which have nobody to warn. */
function unknownServers({ name, mcp, tools }: AgentSpec, servers: McpServers | undefined): readonly Notice[] {
  const own = mcp.filter(({ serverId }) => servers?.find(serverId) === undefined);
  const inner = tools.flatMap((tool) => (tool.type === 'agent' ? unknownServers(tool, servers) : []));
  return [...own.map(({ serverId }) => unknown(name, serverId)), ...inner];
}

function unknown(agent: string, id: string): Notice {
  return warning(
    `There is no MCP server "${id}" here, so agent "${agent}" works without its tools; RUNNEL_MCP_SERVERS declares servers.`,
  );
}
