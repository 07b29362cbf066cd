/** Tools that the tasks of plans may call: those of the package, of the tenant's MCP servers, and its published canvases. */
import { catchError, concatMap, defer, forkJoin, from, map, type Observable, of, tap, throwError, timeout } from 'rxjs';
import { z } from 'zod';
import type { McpConnection } from '../../adapters/mcp/mcp-servers.js';
import { isSearch } from '../../agents/agent-tool.js';
import type { CallContext } from '../../agents/call-context.js';
import { parseIntents } from '../../chat/intents/parse-intents.js';
import { EngineError, toEngineError } from '../../errors.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import { keyOf } from '../../research/calls/ask-call.js';
import type { CallGave, PlanCall } from '../../research/plan/plan-call.js';
import { isPlanTool } from '../../research/plan/plan-tools.js';
import { evidenceOfTool } from '../../research/service/tool-evidence.js';
import { freeNames, parametersSchema } from '../../tools/call-tool.js';
import { formatNumber } from '../../tools/everyday/arithmetic.js';
import { everydayTools, tools as libraryTools } from '../../tools/index.js';
import { type AnyTool, namesOf, type Shape, type ToolResult } from '../../tools/tool.js';
import { usageEvent } from '../chat/answers.js';
import { withServers } from '../chatting/chat-tools.js';
import type { Searched } from './research-places.js';
import { calledTool, reportedCall } from './tool-calls.js';

/** A tool that a node or a request names. */
export interface WantedTool {
  readonly component_name: string;
  readonly params?: JsonObject | null | undefined;
}

/** What calls are made with. */
export type CallPorts = Pick<Searched, 'budget' | 'journal' | 'report'>;

/** A tool of a server or a canvas, as it was listed when the research began. */
interface Listed {
  readonly [key: string]: Json;
  readonly kind: 'mcp' | 'canvas';
  /** Id of the server; empty for canvases. */
  readonly server: string;
  readonly tool: string;
  readonly title: string;
  readonly description: string;
  readonly schema: JsonObject;
  readonly isRepeatable: boolean;
}

/** Milliseconds that a list is waited for; the research goes on without what did not come. */
const LIST_MS = 5_000;
/** Characters of what planners read of one tool. */
const MAX_DOES = 240;

/**
 * Lets a research by a plan work with the tools that its tasks may call, by name. Servers and canvases are listed once: another process that goes on with the
 * research has those that it began with.
 *
 * @param wanted undefined: all that need no parameters
 */
export function withCalls<T>(
  context: CallContext,
  wanted: readonly WantedTool[] | undefined,
  ports: CallPorts,
  work: (calls: ReadonlyMap<string, PlanCall>) => Observable<T>,
): Observable<T> {
  if (wanted?.length === 0) return work(new Map());
  const { mcp } = context.services;
  const ids = (mcp?.ids() ?? []).filter((id) => mcp?.find(id) !== undefined);
  return withServers(context, ids, (connections) => {
    const servers = new Map(ids.map((id, at) => [id, connections[at] as McpConnection]));
    return listed(context, servers, ports).pipe(
      concatMap((others) => {
        const all = [...ofLibrary(context, wanted, ports), ...ofOthers(others, context, servers, ports)];
        return work(new Map(wanted === undefined ? all : all.filter(([name]) => wantedAs(name, wanted) !== undefined)));
      }),
    );
  });
}

/** Some of its names may be meant. */
function wantedAs(name: string, wanted: readonly WantedTool[] | undefined, others: readonly string[] = []) {
  const names = new Set([name, ...others].map((one) => one.toLowerCase()));
  return wanted?.find(({ component_name }) => names.has(component_name.trim().toLowerCase()));
}

function ofLibrary(
  context: CallContext,
  wanted: readonly WantedTool[] | undefined,
  ports: CallPorts,
): readonly (readonly [string, PlanCall])[] {
  return libraryTools.flatMap((tool) => {
    const own = wantedAs(tool.name, wanted, namesOf(tool));
    const params = own?.params ?? {};
    if ((wanted !== undefined && own === undefined) || isPlanTool(tool.name) || !isSetUp(tool, params)) return [];
    const isOffered = own !== undefined || everydayTools.includes(tool);
    return [[own?.component_name ?? tool.name, libraryCall(tool, params, isOffered, context, ports)] as const];
  });
}

/** Whether a tool can work with these parameters, as far as they say. */
function isSetUp(tool: AnyTool, params: JsonObject): boolean {
  const parsed = z.object({ ...(tool.params as Shape) }).safeParse(params);
  return parsed.success && (tool.check?.(parsed.data as never) ?? []).length === 0;
}

function libraryCall(
  tool: AnyTool,
  params: JsonObject,
  isOffered: boolean,
  context: CallContext,
  ports: CallPorts,
): PlanCall {
  const { name, component: title, isCalculation = false, isRepeatable = true } = tool;
  const schema = parametersSchema(tool.arguments as Shape);
  const subject = Object.entries(tool.nodeDefaults ?? {}).find(([, value]) => value === '{sys.query}')?.[0];
  const kept = keptCalls(ports, name, isRepeatable);
  return {
    does: doesOf(tool.summary, schema),
    isOffered,
    isCalculation,
    isRepeatable,
    argumentsOf(question) {
      const [intent] = parseIntents(question, { tools: [name], now: context.now() });
      if (intent?.tool === name && intent.missing === undefined && intent.args !== undefined) return intent.args;
      return subject === undefined ? subjectOf(schema, question) : { [subject]: question };
    },
    call: (args, question) =>
      kept(args, () =>
        calledTool(tool, args, withinBudget(context, ports), ports.report, params).pipe(
          map((result) =>
            isCalculation
              ? { text: answerOf(result), found: [] }
              : gave(result, { title, args, isSearch: isSearch(tool) }, question),
          ),
        ),
      ),
  };
}

/** The number alone, as it is put into other tasks. */
function answerOf({ text, outputs }: ToolResult): string {
  const { json } = outputs;
  return isJsonObject(json) && typeof json.value === 'number' ? formatNumber(json.value) : text;
}

function gave(
  result: ToolResult,
  tool: { readonly title: string; readonly args: JsonObject; readonly isSearch: boolean },
  question: string,
): CallGave {
  return { text: result.text, found: evidenceOfTool(result, tool, question) };
}

/** What servers and canvases offer; one that cannot be asked in time is left out. */
function listed(
  { services }: CallContext,
  servers: ReadonlyMap<string, McpConnection>,
  { journal }: CallPorts,
): Observable<readonly Listed[]> {
  return defer(() => {
    const known = journal.find(LISTED);
    if (Array.isArray(known)) return of(known as unknown as readonly Listed[]);
    const inTime = <T>(list$: Observable<readonly T[]>): Observable<readonly T[]> =>
      list$.pipe(
        timeout({ first: LIST_MS }),
        catchError(() => of([])),
      );
    const lists = [...servers].map(([server, connection]) =>
      inTime(connection.tools()).pipe(
        map((tools) =>
          tools.map(({ name: tool, description, inputSchema: schema, isRepeatable = false }): Listed => {
            return { kind: 'mcp', server, tool, title: tool, description, schema, isRepeatable };
          }),
        ),
      ),
    );
    const { canvases } = services;
    const own$ = inTime(canvases === undefined ? of([]) : fromAbortable(() => canvases.list())).pipe(
      map((tools) =>
        tools.map(({ name: tool, title, description, inputSchema: schema }): Listed => {
          // What its nodes have done before one of them failed is not known.
          return { kind: 'canvas', server: '', tool, title, description, schema, isRepeatable: false };
        }),
      ),
    );
    return forkJoin([own$, ...lists]).pipe(
      map((found) => found.flat()),
      tap((found) => journal.keep(LISTED, found as unknown as Json)),
    );
  });
}

const LISTED = 'plan_tools';

function ofOthers(
  others: readonly Listed[],
  context: CallContext,
  servers: ReadonlyMap<string, McpConnection>,
  ports: CallPorts,
): readonly (readonly [string, PlanCall])[] {
  const taken = libraryTools.map(({ name }) => name);
  const names = freeNames(
    others.map(({ tool }) => (isPlanTool(tool) ? `${tool}_tool` : tool)),
    taken,
  );
  return others.map((other, at) => [
    names[at] as string,
    otherCall(names[at] as string, other, context, servers, ports),
  ]);
}

function otherCall(
  name: string,
  { kind, server, tool, title, description, schema, isRepeatable }: Listed,
  context: CallContext,
  servers: ReadonlyMap<string, McpConnection>,
  ports: CallPorts,
): PlanCall {
  const { report } = ports;
  const kept = keptCalls(ports, name, isRepeatable);
  const called = (args: JsonObject): Observable<ToolResult> => {
    if (kind === 'canvas') return canvasCall(name, tool, args, context, ports);
    const connection = servers.get(server);
    if (connection === undefined) return throwError(() => noServer(server));
    const { files } = context.services;
    return reportedCall(name, context, report, (id) =>
      connection.call({ name: tool, args, files, trace: context.trace(id) }),
    );
  };
  return {
    does: doesOf(description, schema),
    isOffered: true,
    isCalculation: false,
    isRepeatable,
    argumentsOf: (question) => subjectOf(schema, question),
    call: (args, question) =>
      kept(args, () => called(args).pipe(map((result) => gave(result, { title, args, isSearch: false }, question)))),
  };
}

/** What its models take is of the research's budget: where that is used up, the canvas is stopped. */
function canvasCall(
  name: string,
  canvas: string,
  args: JsonObject,
  context: CallContext,
  ports: CallPorts,
): Observable<ToolResult> {
  const { canvases } = context.services;
  if (canvases === undefined) return throwError(() => new EngineError('NOT_FOUND', 'There are no canvases here.'));
  const { budget, report } = ports;
  return reportedCall(name, context, report, () => {
    budget.requireRoom();
    const token = `${context.token}/${keyOf(name, args)}`;
    return canvases.call(canvas, args, { ...withinBudget(context, ports), token }).pipe(
      tap((event) => {
        if (event.type !== 'usage') return;
        report(usageEvent(event));
        budget.count({ prompt: event.promptTokens, answer: event.completionTokens });
        budget.requireRoom();
      }),
    );
  });
}

/** The context of a call whose requests to the web are of the research's budget. */
function withinBudget(context: CallContext, { budget }: CallPorts): CallContext {
  const { http } = context.services;
  if (http === undefined) return context;
  const admitted = <T>(work: () => Observable<T>): Observable<T> => budget.reserveWeb().pipe(concatMap(work));
  const counted = {
    fetch: (request: Parameters<typeof http.fetch>[0]) => admitted(() => http.fetch(request)),
    connect: (target: Parameters<typeof http.connect>[0]) => admitted(() => http.connect(target)),
    close: () => http.close(),
  };
  return { ...context, services: { ...context.services, http: counted } };
}

/**
 * What a call gave before, also to another process; else it is made. One that may have had an effect is not made again after it failed, nor where its process
 * ended while it was under way.
 */
function keptCalls({ journal }: CallPorts, name: string, isRepeatable: boolean) {
  const begunHere = new Set<string>();
  return (args: JsonObject, work: () => Observable<CallGave>): Observable<CallGave> =>
    defer(() => {
      const key = keyOf(`tool_${name}`, args);
      const known = journal.find(key);
      if (isJsonObject(known)) return of(known as unknown as CallGave);
      const called$ = defer(work).pipe(tap((given) => journal.keep(key, given as unknown as Json)));
      if (isRepeatable) return called$;
      const mark = `${key}:once`;
      const end = journal.find(mark);
      if (isJsonObject(end)) return throwError(() => failedBefore(end));
      if (end === BEGUN && !begunHere.has(key)) return throwError(() => cutOff(name));
      begunHere.add(key);
      journal.keep(mark, BEGUN);
      const stored = journal.stored?.();
      return (stored === undefined ? called$ : from(stored).pipe(concatMap(() => called$))).pipe(
        tap({
          error: (error: unknown) => {
            journal.keep(mark, { message: toEngineError(error, 'TOOL_FAILED').message });
          },
        }),
      );
    });
}

/** How a call stands that may have an effect, until it is over. */
const BEGUN = 'begun';

function failedBefore({ message }: JsonObject): EngineError {
  return new EngineError('TOOL_FAILED', String(message));
}

function cutOff(name: string): EngineError {
  return new EngineError(
    'TOOL_FAILED',
    `"${name}" was under way when its process ended. Whether it had an effect is not known, so it is not called again.`,
  );
}

/** What planners read: what it is for, and its arguments, with `?` behind those that may be left out. */
function doesOf(summary: string, { properties, required }: JsonObject): string {
  const needed = Array.isArray(required) ? (required as readonly Json[]) : [];
  const names = Object.keys(isJsonObject(properties) ? properties : {});
  const args = names.map((name) => (needed.includes(name) ? name : `${name}?`)).join(', ');
  const said = summary.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_DOES);
  return args === '' ? said : `${said} args: {${args}}`;
}

/** The question as the only argument that is a text and is needed; nothing where that is not clear. */
function subjectOf({ properties, required }: JsonObject, question: string): JsonObject {
  const fields = isJsonObject(properties) ? properties : {};
  const isText = (name: string): boolean => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    return isJsonObject(field) && field.type === 'string';
  };
  const needed = (Array.isArray(required) ? (required as readonly Json[]) : []).map(String).filter(isText);
  const [only, another] = needed.length > 0 ? needed : Object.keys(fields).filter(isText);
  return only === undefined || another !== undefined ? {} : { [only]: question };
}

function noServer(id: string): EngineError {
  return new EngineError('TOOL_FAILED', `There is no MCP server "${id}" any more.`);
}
