/** What calls of models and tools need from the place that makes them: a node of a canvas, or any other code. */
import type { Observable } from 'rxjs';
import type { ToolResult } from '../adapters/tool-event.js';
import type { ValueSource } from '../dsl/resolve.js';
import type { Activation } from '../graph/node.js';
import type { JsonObject } from '../json.js';
import type { KnowledgeSearch } from '../knowledge/knowledge-search.js';
import type { TokenUsage } from '../models/chat-model.js';
import type { Models } from '../models/router.js';
import type { Caches } from '../newest.js';
import { requireObject } from '../operators/invalid-option.js';
import type { LoopTurns } from '../operators/loop-turns.js';
import type { TenantChats } from '../records/chats.js';
import type { DailySpending } from '../records/spending.js';
import type { RunSteers } from '../records/steers.js';
import type { ToolServices } from '../tools/tool-services.js';
import { type TraceContext, type TraceSource, traceContextOf } from '../trace-context.js';

/** A turn that long-term memories store. */
export interface MemoryEntry {
  readonly memoryIds: readonly string[];
  readonly userId: string;
  readonly userInput: string;
  readonly agentResponse: string;
}

/** A published canvas, as those who call it see it. */
export interface CanvasTool {
  /** Unique among those of a tenant. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** JSON schema of the arguments. */
  readonly inputSchema: JsonObject;
}

/** What a canvas that is called tells: what each call of its models took, and last its result. */
export type CanvasToolEvent = ({ readonly type: 'usage' } & TokenUsage) | ToolResult;

/** The published canvases of a tenant, as tools. */
export interface CanvasTools {
  list(): Promise<readonly CanvasTool[]>;
  /**
   * Runs one within the run that calls it, without a session of its own. Cold: unsubscribing stops it at once. What it calls in turn are tools, not canvases.
   * Errors: NOT_FOUND for a name that is none, BAD_REQUEST for arguments that are missing, TOOL_FAILED where it fails or asks its user.
   */
  call(
    name: string,
    args: JsonObject,
    context: Pick<CallContext, 'token' | 'services' | 'now' | 'random'>,
  ): Observable<CanvasToolEvent>;
}

/** Services of a run. Everything but the models is optional; the error of a component that misses one names it. */
export interface Services extends ToolServices {
  readonly models: Models;
  /** Datasets with scores and places, which chats search. @default chats find nothing in documents */
  readonly knowledge?: KnowledgeSearch;
  /** Messages of chats. @default chats remember nothing */
  readonly chats?: TenantChats;
  /** What chats understood before. @default nothing is kept */
  readonly caches?: Caches & { forTenant?(tenant: string): Caches };
  /** What people change of runs at work. @default nothing can be changed */
  readonly steers?: RunSteers;
  /** Limits what researches of a tenant spend in a day. @default nothing does */
  readonly spending?: DailySpending;
  /** Canvases that may be called as tools. @default none */
  readonly canvases?: CanvasTools | undefined;
  /** How stages of chats that come at once begin, one behind the other. @default all begin at once */
  readonly loopTurns?: Pick<LoopTurns, 'do'>;
  readonly remember?: (entry: MemoryEntry) => Promise<void>;
  /** Bytes of what a model is asked that the log of the run tells. @default 0: nothing */
  readonly detailBytes?: number;
  /** Headers of this run for tools that declare them. */
  readonly headers?: JsonObject;
  /** Where the run stands in a trace; `traceContextOf` reads it. */
  readonly trace?: TraceSource;
}

/** The place that makes calls. Unsubscribing from a call stops it, so there is no signal here. */
export interface CallContext {
  /** The name in error messages: the id of a node in a canvas. */
  readonly node: string;
  /** Id of the run. */
  readonly run: string;
  /** The same when the work is repeated after a resume or a recovery: the first part of the idempotency keys of calls. */
  readonly token: string;
  readonly services: Partial<Services>;
  /** Where references in texts are read. */
  readonly source: ValueSource;
  /** The trace headers of requests; with `call`, those of requests that belong to this call. Empty without a trace. */
  trace(call?: string): TraceContext;
  /** A promise while answers should not be read on; see `Activation.ready`. */
  ready(): Promise<void> | undefined;
  /** Milliseconds since 1970. */
  now(): number;
  /** Uniform in [0, 1). */
  random(): number;
}

/** The context of an activation of a canvas. */
export function contextOf(activation: Activation): CallContext {
  const { node, run, token, services, source } = activation;
  return {
    node,
    run,
    token,
    services: typeof services === 'object' && services !== null ? services : {},
    source,
    trace: (call) => traceContextOf(activation, call),
    ready: () => activation.ready(),
    now: () => activation.now(),
    random: () => activation.random(),
  };
}

/**
 * A context for code without a canvas. Only services must be given.
 *
 * Defaults: the name and ids `call`, no values for references, the trace of `services.trace`, the clock and the random numbers of the
 * process. Give `token` for idempotency keys that stay the same when the work is repeated.
 */
export function callContext(given: Pick<CallContext, 'services'> & Partial<CallContext>): CallContext {
  requireObject('callContext', 'given', given, 'an object with "services"');
  const { services, token = 'call' } = given;
  return {
    node: 'call',
    run: 'call',
    token,
    source: NO_VALUES,
    trace: (call) => traceContextOf({ services, token }, call),
    ready: () => undefined,
    now: Date.now,
    random: Math.random,
    ...given,
  };
}

const NO_VALUES: ValueSource = {
  output: () => ({ status: 'unresolved' }),
  variable: () => ({ status: 'unresolved' }),
  alias: () => ({ status: 'unresolved' }),
};
