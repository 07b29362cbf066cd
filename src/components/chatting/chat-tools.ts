/** The tools of a chat: those of the package, and those of MCP servers; each call is told to the run. */
import {
  catchError,
  concatMap,
  defer,
  filter,
  forkJoin,
  map,
  type Observable,
  of,
  shareReplay,
  tap,
  throwError,
} from 'rxjs';
import type { McpConnection, McpTool, McpUser } from '../../adapters/mcp/mcp-servers.js';
import type { CallContext } from '../../agents/call-context.js';
import { EngineError, toEngineError } from '../../errors.js';
import { callFinished, callStarted } from '../../graph/node-events.js';
import type { JsonObject } from '../../json.js';
import type { ToolDefinition } from '../../models/chat-model.js';
import { callTool, freeNames } from '../../tools/call-tool.js';
import { everydayTools } from '../../tools/index.js';
import { type AnyTool, findTool, type ToolEvent, type ToolResult } from '../../tools/tool.js';
import { toolCallOf } from '../tool-component.js';
import { createTextReader } from '../values/text-reader.js';
import type { ChatNode } from './node-parts.js';

/** What a chat may call. */
export interface ChatTools {
  /** Those that rules know. */
  readonly known: readonly AnyTool[];
  /** Those of MCP servers, listed when they are needed; undefined where there are no servers. */
  readonly others$: Observable<readonly ToolDefinition[]> | undefined;
  /** Calls one of either, unless a process before has done so for this chat; emits its result once. Errors: those of `callTool` and of MCP calls, `TOOL_UNKNOWN`. */
  call(name: string, args: JsonObject): Observable<ToolResult>;
}

/** A tool of a server under the name that the model reads. */
interface OtherTool {
  readonly definition: ToolDefinition;
  readonly tool: McpTool;
  readonly connection: McpConnection;
}

/**
 * Lets a chat work with its MCP servers: those that are named, or all of the tenant. Nothing is opened before a tool is listed or called, and what is open is
 * closed behind the work.
 */
export function withServers<T>(
  { run, services, trace }: CallContext,
  named: readonly string[] | undefined,
  work: (connections: readonly McpConnection[]) => Observable<T>,
): Observable<T> {
  const { mcp, headers = {} } = services;
  const user: McpUser = { run, headers, trace: trace() };
  const servers = (named ?? mcp?.ids() ?? []).flatMap((id) => mcp?.find(id) ?? []);
  const useFrom = (at: number, used: readonly McpConnection[]): Observable<T> => {
    const server = servers[at];
    if (server === undefined) return work(used);
    return server.use(user, (connection) => useFrom(at + 1, [...used, connection]));
  };
  return useFrom(0, []);
}

/** Opens the tools of a chat. */
export function openTools(node: ChatNode, connections: readonly McpConnection[]): ChatTools {
  const { settings, context, report, progress } = node;
  const isAllowed = (name: string): boolean =>
    settings.tools === undefined || settings.tools.some((one) => one.toLowerCase() === name.toLowerCase());
  const known = everydayTools.filter((tool) =>
    settings.tools === undefined ? true : settings.tools.some((name) => findTool([tool], name) !== undefined),
  );
  const listed$ = listOf(connections).pipe(
    map((others) => others.filter(({ tool }) => isAllowed(tool.name))),
    shareReplay({ bufferSize: 1, refCount: true }),
  );
  let calls = 0;
  const reported = (name: string, work: (id: string) => Observable<ToolEvent>): Observable<ToolResult> =>
    defer(() => {
      calls += 1;
      const id = `tool-${calls}`;
      report(callStarted({ id, kind: 'tool', name }));
      return work(id).pipe(
        filter((event): event is ToolResult => event.type === 'result'),
        tap({
          complete: () => report(callFinished({ id })),
          error: (thrown: unknown) => report(callFinished({ id, error: toEngineError(thrown, 'TOOL_FAILED') })),
        }),
      );
    });
  const kept = (name: string, args: JsonObject, called$: Observable<ToolResult>): Observable<ToolResult> =>
    defer(() => {
      const result = progress.resultOf(name, args);
      return result === undefined ? called$.pipe(tap((given) => progress.keep(name, args, given))) : of(result);
    });
  return {
    known,
    others$: connections.length === 0 ? undefined : listed$.pipe(map((all) => all.map(({ definition }) => definition))),
    call(name, args) {
      const tool = findTool(known, name);
      if (tool !== undefined) {
        const called$ = reported(tool.name, (id) => {
          const call = toolCallOf(tool, {}, context, createTextReader(context));
          return callTool(tool, args, { ...call, key: `${context.token}/${id}`, trace: context.trace(id) });
        });
        return kept(tool.name, args, called$);
      }
      const called$ = listed$.pipe(
        map((others) => others.find(({ definition }) => definition.name === name)),
        concatMap((other) =>
          other === undefined
            ? throwError(() => new EngineError('TOOL_UNKNOWN', `There is no tool "${name}" that a chat may call.`))
            : reported(other.tool.name, (id) => callOther(other, args, context, id)),
        ),
      );
      return kept(name, args, called$);
    },
  };
}

/** What servers offer; one that cannot be asked is left out. */
function listOf(connections: readonly McpConnection[]): Observable<readonly OtherTool[]> {
  if (connections.length === 0) return of([]);
  const lists = connections.map((connection) =>
    connection.tools().pipe(
      map((tools) => tools.map((tool) => ({ tool, connection }))),
      catchError(() => of([])),
    ),
  );
  return forkJoin(lists).pipe(map((found) => withNames(found.flat())));
}

/** Names that are free: a tool of the package keeps its own, and of two tools of one name the second gets a number. */
function withNames(tools: readonly Omit<OtherTool, 'definition'>[]): OtherTool[] {
  const names = freeNames(
    tools.map(({ tool }) => tool.name),
    everydayTools.map(({ name }) => name),
  );
  return tools.map(({ tool, connection }, at) => {
    const name = names[at] as string;
    return { tool, connection, definition: { name, description: tool.description, parameters: tool.inputSchema } };
  });
}

function callOther({ tool, connection }: OtherTool, args: JsonObject, context: CallContext, id: string) {
  const { files } = context.services;
  return connection.call({ name: tool.name, args, files, trace: context.trace(id) });
}
