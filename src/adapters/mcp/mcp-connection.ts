/** One run's connection with one MCP server: a session that is opened when it is first needed, and anew when it broke. */
import type { CallToolResult, Progress, Tool } from '@modelcontextprotocol/client';
import {
  catchError,
  concatMap,
  defer,
  map,
  merge,
  type Observable,
  of,
  ReplaySubject,
  Subject,
  Subscription,
  take,
  takeWhile,
  tap,
  throwError,
} from 'rxjs';
import { isTooDeep, type JsonObject } from '../../json.js';
import type { Newest } from '../../newest.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import type { Files } from '../../records/files.js';
import type { TraceContext } from '../../trace-context.js';
import type { ToolEvent } from '../tool-event.js';
import { type FailureContext, isUnknownSession, mcpFailure } from './mcp-failures.js';
import { mcpResult } from './mcp-result.js';
import { MAX_CALL_MS, type McpSession } from './open-session.js';

/** A tool as its server describes it. */
export interface McpTool {
  readonly name: string;
  readonly description: string;
  /** JSON schema of the arguments, as it came. */
  readonly inputSchema: JsonObject;
  /** Its server says that it changes nothing, or that two calls do what one does. @default it may do something twice */
  readonly isRepeatable?: true;
}

/** One call. */
export interface McpCall {
  readonly name: string;
  readonly args: JsonObject;
  readonly trace: TraceContext;
  readonly files: Files | undefined;
}

/** How a connection to an MCP server is opened and kept. */
export interface ConnectionOptions extends FailureContext {
  /** Emits a session once and keeps it open until it is unsubscribed. */
  readonly open: () => Observable<McpSession>;
  /** Lists that other runs asked for a moment ago. */
  readonly lists: Newest<CachedList>;
  /** The key of this connection's list among them. */
  readonly listKey: string;
  now(): number;
}

/** What a server offered, and until when that is valid; milliseconds since 1970. */
export interface CachedList {
  readonly tools: readonly McpTool[];
  readonly until: number;
}

/** Tools of one server that are offered; a list is read as far as that. */
const MAX_TOOLS = 128;
const MAX_PAGES = 32;
const MAX_NAME = 256;
const MAX_DESCRIPTION = 8_192;
const MAX_SCHEMA = 65_536;
/** Characters of all schemas of a list together. */
const MAX_SCHEMAS = 1_048_576;
/** Most progress reports of a call, and the characters of one. */
const MAX_PROGRESS_EVENTS = 1_000;
const MAX_PROGRESS = 500;
/** How long a list is cached, and how many are cached. */
const LIST_MS = 300_000;
export const MAX_LISTS = 64;

/** An open session, or one that is being opened. */
interface Opened {
  readonly session$: Observable<McpSession>;
  readonly life: Subscription;
}

/** One connection to an MCP server, opened for its first call and shared by all. */
export class McpConnection {
  #opened: Opened | undefined = undefined;

  constructor(private readonly options: ConnectionOptions) {}

  /** What the server offers, at most 128 tools. Errors: `TOOL_FAILED`. */
  tools(): Observable<readonly McpTool[]> {
    const { lists, listKey, now } = this.options;
    return defer(() => {
      const known = lists.get(listKey);
      if (known !== undefined && known.until > now()) return of(known.tools);
      return this.#ask((session, signal) => this.#list(session, signal)).pipe(
        tap((tools) => lists.put(listKey, { tools, until: now() + LIST_MS })),
        catchError((error: unknown) => throwError(() => this.#failure(error))),
      );
    });
  }

  /**
   * Calls a tool: emits its progress reports, then its result. Unsubscribing cancels the call at the server and closes its
   * request at once. Errors: `TOOL_FAILED`.
   */
  call({ name, args, trace, files }: McpCall): Observable<ToolEvent> {
    const { secrets } = this.options;
    return defer(() => {
      const progress = new Subject<ToolEvent>();
      const result$ = this.#ask((session, signal) =>
        session.callTool(name, args, {
          ...this.#clock(signal),
          resetTimeoutOnProgress: true,
          headers: { ...trace },
          onprogress: (report) => progress.next({ type: 'progress', message: progressText(report) }),
        }),
      ).pipe(
        catchError((error: unknown) => throwError(() => this.#failure(error, name))),
        concatMap((result: CallToolResult) => mcpResult(result, { files, secrets })),
      );
      return merge(progress.pipe(take(MAX_PROGRESS_EVENTS)), result$).pipe(
        takeWhile((event) => event.type !== 'result', true),
      );
    });
  }

  /** Closes what is open; called by the owner of the connection after its last user. */
  unsubscribe(): void {
    this.#opened?.life.unsubscribe();
    this.#opened = undefined;
  }

  /** Asks over the session; when the server does not know it any more, once again over a new one. */
  #ask<T>(question: (session: McpSession, signal: AbortSignal) => Promise<T>): Observable<T> {
    const attempt = (opened: Opened): Observable<T> =>
      opened.session$.pipe(
        take(1),
        concatMap((session) => fromAbortable((signal) => question(session, signal))),
      );
    return defer(() => {
      const isFresh = this.#opened === undefined;
      return this.#usable().pipe(
        concatMap((opened) =>
          attempt(opened).pipe(
            catchError((error: unknown) => {
              if (isFresh || !isUnknownSession(error)) return throwError(() => error);
              this.#discard(opened);
              return this.#usable().pipe(concatMap(attempt));
            }),
          ),
        ),
      );
    });
  }

  /** The session, after a look at whether it is still there. */
  #usable(): Observable<Opened> {
    const opened = this.#current();
    return opened.session$.pipe(
      take(1),
      map((session) => {
        if (!session.isBroken) return opened;
        this.#discard(opened);
        return this.#current();
      }),
    );
  }

  #current(): Opened {
    if (this.#opened !== undefined) return this.#opened;
    const session$ = new ReplaySubject<McpSession>(1);
    const life = new Subscription();
    const opened: Opened = { session$, life };
    this.#opened = opened;
    life.add(
      this.options.open().subscribe({
        next: (session) => session$.next(session),
        error: (error: unknown) => {
          // The next user tries again.
          if (this.#opened === opened) this.#opened = undefined;
          session$.error(error);
        },
      }),
    );
    return opened;
  }

  #discard(opened: Opened): void {
    opened.life.unsubscribe();
    if (this.#opened === opened) this.#opened = undefined;
  }

  async #list(session: McpSession, signal: AbortSignal): Promise<readonly McpTool[]> {
    const tools: McpTool[] = [];
    let cursor: string | undefined;
    let left = MAX_SCHEMAS;
    for (let page = 0; page < MAX_PAGES && tools.length < MAX_TOOLS; page += 1) {
      const { tools: some, nextCursor } = await session.listTools(cursor, this.#clock(signal));
      for (const tool of some) {
        const size = JSON.stringify(tool.inputSchema).length;
        if (!isFit(tool, size) || size > left || tools.length === MAX_TOOLS) continue;
        left -= size;
        tools.push(readTool(tool));
      }
      if (nextCursor === undefined) break;
      cursor = nextCursor;
    }
    return tools;
  }

  #clock(signal: AbortSignal) {
    const timeout = this.options.timeoutSeconds * 1000;
    return { signal, timeout, maxTotalTimeout: Math.max(timeout, MAX_CALL_MS) };
  }

  #failure(thrown: unknown, tool?: string) {
    return mcpFailure(thrown, this.options, tool);
  }
}

/** Characters that are not shown: they could command a terminal, or make one name look like another. */
const HIDDEN = /[\p{Cc}\p{Cf}]/u;
const HIDDEN_IN_TEXT = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}]/gu;

/** Whether a model can be shown a tool. */
function isFit({ name, inputSchema }: Tool, size: number): boolean {
  return name !== '' && !HIDDEN.test(name) && name.length <= MAX_NAME && size <= MAX_SCHEMA && !isTooDeep(inputSchema);
}

function readTool({ name, description = '', inputSchema, annotations }: Tool): McpTool {
  return {
    name,
    description: description.slice(0, MAX_DESCRIPTION).replace(HIDDEN_IN_TEXT, ''),
    inputSchema: inputSchema as JsonObject,
    ...((annotations?.readOnlyHint === true || annotations?.idempotentHint === true) && { isRepeatable: true }),
  };
}

function progressText({ progress, total, message }: Progress): string {
  if (message !== undefined && message !== '') return message.slice(0, MAX_PROGRESS);
  return total === undefined ? String(progress) : `${progress} of ${total}`;
}
